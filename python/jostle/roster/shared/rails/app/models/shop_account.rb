class ShopAccount < ApplicationRecord
  ITERATIONS = 100

  self.primary_key = :customer_id

  def password?(given)
    key = OpenSSL::KDF.pbkdf2_hmac(given, salt: salt, iterations: ITERATIONS, length: 32, hash: "SHA256")
    ActiveSupport::SecurityUtils.secure_compare(key.unpack1("H*"), password_hash)
  end
end

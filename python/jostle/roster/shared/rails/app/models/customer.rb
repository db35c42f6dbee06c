class Customer < ApplicationRecord
  has_many :orders
end

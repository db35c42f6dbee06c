module ShopHelper
  def euros(cents) = format("%.2f", cents / 100.0)
end

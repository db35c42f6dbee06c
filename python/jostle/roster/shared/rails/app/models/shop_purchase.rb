class ShopPurchase < ApplicationRecord
  belongs_to :customer
  belongs_to :item, class_name: "ShopItem"
end

class ShopItem < ApplicationRecord
end

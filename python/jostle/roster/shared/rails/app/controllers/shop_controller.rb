# The shop. Sessions are Rails' own, in an encrypted cookie, and so are the tokens of its forms.
class ShopController < ApplicationController
  GIFTS = "320" # items to try by default: about 200 ms of computing

  prepend_before_action { raise Refusal.new(503, "started without a database") unless ENV["DATABASE_URL"] }
  before_action :require_login, only: %i[order receipt]
  rescue_from(ActionController::InvalidAuthenticityToken) { render plain: "the form is not from here", status: 403 }
  rescue_from(ActiveRecord::RecordNotFound) { render plain: "there is no such thing", status: 404 }

  def form; end

  def login
    account = ShopAccount.find_by(customer_id: params[:customer].to_s[/\A\d{1,9}\z/])
    raise Refusal.new(401, "wrong customer or password") unless account&.password?(params[:password].to_s)

    reset_session
    session[:customer_id] = account.customer_id
    redirect_to "/shop/search", status: :see_other
  end

  def search
    @items = ShopItem.where("strpos(name, ?) > 0", params[:q].to_s).order(:price, :id).limit(10)
  end

  def order
    purchase = ShopPurchase.create!(customer_id: session[:customer_id], item_id: ShopItem.find(params[:item]).id)
    redirect_to "/shop/orders/#{purchase.id}", status: :see_other
  end

  def receipt
    @purchase = ShopPurchase.includes(:customer, :item).find_by!(id: params[:id], customer_id: session[:customer_id])
  end

  # All threes of the first items, one after another.
  def gifts
    budget = whole(:budget, "10000", 10**9)
    items = ShopItem.order(:id).limit(whole(:among, GIFTS, 10_000)).to_a
    prices = items.map(&:price)
    @total, three = best_three(prices, budget)
    @items = three.map { |at| items[at] }
  end

  private

  def require_login
    raise Refusal.new(401, "log in first") unless session[:customer_id]
  end

  def whole(name, otherwise, most)
    text = params.fetch(name, otherwise).to_s
    return text.to_i if text.match?(/\A\d{1,18}\z/) && text.to_i <= most

    raise Refusal.new(400, "#{name} must be a whole number from 0 to #{most}")
  end

  def best_three(prices, budget)
    best = 0
    three = []
    last = prices.size - 1
    prices.each_with_index do |first, i|
      (i + 1).upto(last) do |j|
        two = first + prices[j]
        k = j + 1
        while k <= last
          sum = two + prices[k]
          best, three = sum, [i, j, k] if sum <= budget && sum > best
          k += 1
        end
      end
    end
    [best, three]
  end
end

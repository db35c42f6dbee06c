# The page of the article: lowest id, highest id, a customer between, its orders by date.
class OrdersController < ApplicationController
  before_action { raise Refusal.new(503, "started without a database") unless ENV["DATABASE_URL"] }
  rescue_from(ActiveRecord::RecordNotFound) { |error| render plain: error.message, status: 404 }

  def index
    lowest = Customer.minimum(:id)
    highest = Customer.maximum(:id)
    @customer = Customer.find(rand(lowest..highest))
    @orders = @customer.orders.order(:ordered_on)
  end
end

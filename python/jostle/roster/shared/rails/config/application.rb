require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"

ENV.delete("DATABASE_URL") if ENV["DATABASE_URL"].to_s.empty? # Rails would take an empty one for an address

module Shop
  class Application < Rails::Application
    config.load_defaults 6.1
    config.eager_load = true
    config.cache_classes = true
    config.consider_all_requests_local = false
    config.action_controller.perform_caching = true
    config.secret_key_base = SecureRandom.hex(64) # sessions end with the server
    config.logger = ActiveSupport::Logger.new($stderr)
    config.log_level = :error
  end
end

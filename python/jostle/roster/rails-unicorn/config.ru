require_relative "config/environment"

use Rack::ContentLength # Unicorn leaves that to the application
run Rails.application

# Three threads serve all routes; work waits for 50 ms in its thread.
require "rails"
require "action_controller/railtie"

class Work < Rails::Application
  config.eager_load = true
  config.secret_key_base = SecureRandom.hex(64)
  config.logger = ActiveSupport::Logger.new($stderr)
  config.log_level = :error
  config.hosts.clear
  USED = Mutex.new
  @now = @most = 0

  class << self
    attr_reader :most

    def used
      USED.synchronize { @most = [@most, @now += 1].max }
      yield
    ensure
      USED.synchronize { @now -= 1 }
    end
  end
end

class AllController < ActionController::API
  def hello = render(plain: "hello\n")

  def work
    Work.used { sleep 0.050 }
    render plain: "done\n"
  end

  def stats = render(json: { most: Work.most })
end

Rails.application.initialize!
Rails.application.routes.draw { %w[hello work stats].each { |name| get name, to: "all##{name}" } }
run Rails.application

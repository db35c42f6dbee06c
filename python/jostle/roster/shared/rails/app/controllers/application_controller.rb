class ApplicationController < ActionController::Base
  # A response that is not 200: its message is for the client.
  class Refusal < StandardError
    attr_reader :status

    def initialize(status, message)
      super(message)
      @status = status
    end
  end

  rescue_from(Refusal) { |refusal| render plain: refusal.message, status: refusal.status }
end

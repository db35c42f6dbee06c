require "net/http"

# All routes that need no database. Each request has a thread of its worker, or the worker itself, until it is answered.
class ContractController < ApplicationController
  HELLO = ("x" * 1023 + "\n").freeze
  KILOBYTE = HELLO.b.freeze
  ITSELF = "http://#{ENV["HOST"]}:#{ENV["PORT"]}".freeze

  skip_forgery_protection # no route takes a form, and a POST is to be told so

  def index
    render json: { name: ENV["NAME"], version: RUBY_VERSION, runtime: "Ruby",
                   workers: Integer(ENV["WORKERS"]), threads: Integer(ENV["THREADS"]), rails: Rails.version }
  end

  def hello
    render plain: HELLO
  end

  def wait
    ms = decimal(:ms, "100", 60_000)
    jitter = decimal(:jitter, "0", 1)
    sleep(ms / 1000 * (1 + jitter * rand(-1.0..1.0)))
    render plain: HELLO
  end

  def count
    n = whole(:n, 10**10)
    x = 0
    x += 1 while x < n
    render plain: "Hello, World #{x}\n"
  end

  def fast
    render plain: whole(:n, 10**6)**2
  end

  def slow
    render plain: fib(whole(:n, 60))
  end

  def fibs
    render json: { fibResult: fib(whole(:n, 60)) }
  end

  def pair
    numbers = [whole(:a, 60), whole(:b, 60)]
    find = one_of(:where, "local", "remote") == "remote" ? asking(params[:peer].to_s) : method(:fib)
    concurrent = one_of(:async, "0", "1") == "1"
    a, b = concurrent ? numbers.map { |n| quiet_thread { find.(n) } }.map(&:value) : numbers.map(&find)
    render json: { a: a, b: b }
  end

  def buffers
    made = Array.new(50) { "\0".b * 1024 }
    render plain: made.size == 50 ? HELLO : ""
  end

  def strings
    # dup would share the bytes until somebody writes to them.
    made = Array.new(50) { String.new(capacity: KILOBYTE.size, encoding: "UTF-8") << KILOBYTE }
    render plain: made.last
  end

  def spawn
    kind = one_of(:kind, "fiber", "os")
    n = whole(:n, kind == "os" ? 10_000 : 1_000_000)
    kind == "os" ? hold_threads(n) : hold_fibers(n)
    render plain: n
  end

  def unknown
    raise Refusal.new(404, "no such route") if request.get? || request.head?

    response.set_header("Allow", "GET, HEAD")
    raise Refusal.new(405, "only GET and HEAD")
  end

  private

  def whole(name, most)
    text = params[name]
    return text.to_i if text.match?(/\A\d{1,18}\z/) && text.to_i <= most

    raise Refusal.new(400, "a whole number from 0 to #{most} is needed here")
  end

  def decimal(name, otherwise, most)
    text = params.fetch(name, otherwise).to_s
    return text.to_f if text.match?(/\A\d+(\.\d+)?\z/) && text.to_f <= most

    raise Refusal.new(400, "#{name} must be a number from 0 to #{most}")
  end

  def one_of(name, *choices)
    choice = params.fetch(name, choices.first)
    return choice if choices.include?(choice)

    raise Refusal.new(400, "#{name} must be one of: #{choices.join(", ")}")
  end

  def fib(n)
    n < 2 ? n : fib(n - 1) + fib(n - 2)
  end

  # Finds a Fibonacci number by asking another server of the contract.
  def asking(peer)
    raise Refusal.new(400, "where=remote needs peer=http://…") unless peer.match?(%r{\Ahttp://[\w.:\[\]-]+\z})
    raise Refusal.new(409, "the only thread would wait for itself for ever") if peer == ITSELF && alone?

    lambda do |n|
      Integer(JSON.parse(Net::HTTP.get(URI("#{peer}/fibs/#{n}")))["fibResult"])
    rescue JSON::ParserError, TypeError, SystemCallError, IOError, Timeout::Error => error
      raise Refusal.new(502, "the peer did not answer: #{error.message.lines.first}")
    end
  end

  def alone? = ENV.values_at("WORKERS", "THREADS") == %w[1 1]

  # A thread whose error is told where its value is asked for, and nowhere else.
  def quiet_thread(&work)
    Thread.new(&work).tap { |thread| thread.report_on_exception = false }
  end

  def hold_fibers(n)
    held = []
    n.times { held << Fiber.new { Fiber.yield }.tap(&:resume) }
  rescue FiberError, NoMemoryError
    raise Refusal.new(503, "only #{held.size} fibers could be started")
  ensure
    held.each(&:resume)
  end

  def hold_threads(n)
    gate = Queue.new
    held = []
    n.times { held << quiet_thread { gate.pop } }
  rescue ThreadError
    raise Refusal.new(503, "only #{held.size} threads could be started")
  ensure
    gate.close
    held.each(&:join)
  end
end

# frozen_string_literal: true

# A Rack application: each request has a thread of one of Puma's workers until it is answered. Of the threads of a
# worker, one runs Ruby at a time.

require "cgi/escape"
require "json"
require "net/http"
require "pg"

class Refusal < StandardError
  attr_reader :status

  def initialize(status, message)
    super(message)
    @status = status
  end
end

# The query's fields, checked.
class Query
  def initialize(text)
    @fields = Rack::Utils.parse_query(text)
    raise ArgumentError unless @fields.values.flatten.all? { |value| value.nil? || value.valid_encoding? }
  rescue ArgumentError
    raise Refusal.new(400, "the query is not well encoded")
  end

  def [](name) = Array(@fields[name]).last

  def decimal(name, otherwise, most)
    text = @fields.key?(name) ? self[name].to_s : otherwise
    return text.to_f if text.match?(/\A\d*\.?\d+\z/) && text.to_f <= most

    raise Refusal.new(400, "#{name} must be a number from 0 to #{most}")
  end

  def one_of(name, *choices)
    choice = @fields.key?(name) ? self[name] : choices.first
    return choice if choices.include?(choice)

    raise Refusal.new(400, "#{name} must be one of: #{choices.join(", ")}")
  end
end

module Work
  HELLO = "#{"x" * 1023}\n"
  KILOBYTE = HELLO.b.freeze
  ITSELF = "http://#{ENV.fetch("HOST")}:#{ENV.fetch("PORT")}"
  PEER = %r{\Ahttp://[\w.:-]+(/[\w./-]*)?\z}

  module_function

  def count(number)
    x = 0
    x += 1 while x < number
    x
  end

  def fib(number)
    number < 2 ? number : fib(number - 1) + fib(number - 2)
  end

  def wait(query)
    ms = query.decimal("ms", "100", 60_000)
    jitter = query.decimal("jitter", "0", 1)
    sleep(ms / 1000 * (1 + jitter * rand(-1.0..1.0)))
    HELLO
  end

  def ask(peer, number)
    answer = Net::HTTP.start(peer.host, peer.port, nil, read_timeout: nil) do |http|
      http.get("#{peer.path}/fibs/#{number}")
    end
    Integer(JSON.parse(answer.body).fetch("fibResult"))
  rescue SystemCallError, SocketError, IOError, Net::HTTPBadResponse, JSON::ParserError, KeyError, TypeError => e
    raise Refusal.new(502, "no number from the peer: #{e.message.tr("\n", " ")}")
  end

  def pair(numbers, query)
    find = method(:fib)
    if query.one_of("where", "local", "remote") == "remote"
      peer = query["peer"].to_s
      raise Refusal.new(400, "where=remote needs peer=http://…") unless peer.match?(PEER)
      raise Refusal.new(409, "the only thread would wait for itself for ever") if peer == ITSELF && alone?

      find = method(:ask).curry[URI(peer)]
    end
    return numbers.map(&find) if query.one_of("async", "0", "1") == "0"

    numbers.map { |number| quiet_thread { find.call(number) } }.map(&:value)
  end

  def alone? = ENV.values_at("WORKERS", "THREADS") == %w[1 1]

  def allocate_buffers
    buffers = Array.new(50) { "x".b * 1024 }
    buffers.size == 50 ? HELLO : ""
  end

  # `dup` and `encode` would share the bytes until somebody writes to them.
  def allocate_strings
    Array.new(50) { String.new(capacity: KILOBYTE.size, encoding: "UTF-8") << KILOBYTE }.last
  end

  # Every fiber has run until it waits; resumed, it ends.
  def hold_fibers(number)
    held = []
    number.times { held << Fiber.new { Fiber.yield }.tap(&:resume) }
  rescue FiberError, NoMemoryError
    raise Refusal.new(503, "only #{held.size} fibers could be started")
  ensure
    held.each(&:resume)
  end

  def hold_threads(number)
    arrived, gate = Queue.new, Queue.new
    held = []
    number.times { held << quiet_thread { arrived << true && gate.pop } }
    number.times { arrived.pop }
  rescue ThreadError
    raise Refusal.new(503, "only #{held.size} threads could be started")
  ensure
    gate.close
    held.each(&:join)
  end

  # Its error is told where its value is asked for, and nowhere else.
  def quiet_thread(&work)
    Thread.new(&work).tap { |thread| thread.report_on_exception = false }
  end
end

# Connections that threads lend one another, opened when they are first needed: after the fork.
class Database
  def initialize(url, size)
    @url = url
    @free = Queue.new
    size.times { @free << nil }
  end

  def connection
    lent = @free.pop
    lent ||= PG.connect(@url)
    yield lent
  ensure
    @free << lent
  end
end

# Four questions, one after the other, on one connection.
module Orders
  URL = ENV.fetch("DATABASE_URL")
  DATABASE = (Database.new(URL, Integer(ENV.fetch("POOL"))) unless URL.empty?)

  module_function

  def page
    raise Refusal.new(503, "started without a database") unless DATABASE

    DATABASE.connection do |connection|
      least = connection.exec("SELECT min(id) FROM customers").getvalue(0, 0)
      most = connection.exec("SELECT max(id) FROM customers").getvalue(0, 0)
      id = rand(Integer(least)..Integer(most))
      customer = connection.exec_params("SELECT id, name FROM customers WHERE id = $1", [id]).first
      raise Refusal.new(404, "there is no customer #{id}") unless customer

      query = "SELECT * FROM orders WHERE customer_id = $1 ORDER BY ordered_on"
      html(customer["name"], connection.exec_params(query, [customer["id"]]))
    end
  end

  def html(name, orders)
    items = orders.map { |order| "<li>#{order["ordered_on"]}: #{CGI.escapeHTML(order["item"])}</li>\n" }
    "<!DOCTYPE html>\n<title>Orders</title>\n<h1>#{CGI.escapeHTML(name)}</h1>\n<ol>\n#{items.join}</ol>\n"
  end
end

class App
  TEXT = { "Content-Type" => "text/plain" }.freeze
  HTML = { "Content-Type" => "text/html; charset=utf-8" }.freeze
  JSON_TYPE = { "Content-Type" => "application/json" }.freeze

  def call(env)
    unless %w[GET HEAD].include?(env["REQUEST_METHOD"])
      return [405, { **TEXT, "Allow" => "GET, HEAD" }, ["only GET and HEAD"]]
    end

    return [200, HTML.dup, [Orders.page]] if env["PATH_INFO"] == "/orders"

    answer = route(env["PATH_INFO"], Query.new(env["QUERY_STRING"]))
    answer.is_a?(Hash) ? [200, JSON_TYPE.dup, [JSON.generate(answer)]] : [200, TEXT.dup, [answer.to_s]]
  rescue Refusal => e
    [e.status, TEXT.dup, [e.message]]
  end

  private

  def route(path, query)
    case path.delete_prefix("/").split("/", -1)
    in [] then root
    in ["hello"] then Work::HELLO
    in ["sleep"] then Work.wait(query)
    in ["count", n] then "Hello, World #{Work.count(whole(n, 10**10))}\n"
    in ["fast", n] then whole(n, 10**6)**2
    in ["slow", n] then Work.fib(whole(n, 60))
    in ["fibs", n] then { fibResult: Work.fib(whole(n, 60)) }
    in ["pair", a, b] then %i[a b].zip(Work.pair([whole(a, 60), whole(b, 60)], query)).to_h
    in ["alloc", "buffers"] then Work.allocate_buffers
    in ["alloc", "strings"] then Work.allocate_strings
    in ["spawn", n] then spawn(n, query)
    else raise Refusal.new(404, "no such route")
    end
  end

  def root
    { name: "ruby-puma", version: RUBY_VERSION, runtime: "Ruby",
      workers: Integer(ENV.fetch("WORKERS")), threads: Integer(ENV.fetch("THREADS")) }
  end

  def spawn(number, query)
    if query.one_of("kind", "fiber", "os") == "os"
      Work.hold_threads(whole(number, 10_000))
    else
      Work.hold_fibers(whole(number, 1_000_000))
    end
    number
  end

  def whole(text, most)
    return Integer(text, 10) if text.match?(/\A\d{1,19}\z/) && Integer(text, 10) <= most

    raise Refusal.new(400, "a whole number from 0 to #{most} is needed here")
  end
end

use Rack::Head
use Rack::ContentLength
run App.new

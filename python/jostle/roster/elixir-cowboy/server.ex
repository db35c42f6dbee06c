# Lends connections to the database in the order in which they are asked for. Whoever ends without giving one back,
# because its client has gone, is seen to end.
defmodule Pool do
  use GenServer

  def start_link({options, size}), do: GenServer.start_link(__MODULE__, {options, size}, name: __MODULE__)

  def with_connection(ask) do
    {ref, connection} = GenServer.call(__MODULE__, :take, :infinity)

    try do
      ask.(connection)
    after
      GenServer.cast(__MODULE__, {:give, ref})
    end
  end

  @impl true
  def init({options, size}) do
    open = fn ->
      {:ok, connection} = :pgsql.connect(options)
      connection
    end

    idle = Task.await_many(for(_ <- 1..size, do: Task.async(open)), :infinity)
    {:ok, %{idle: idle, waiting: :queue.new(), lent: %{}}}
  end

  @impl true
  def handle_call(:take, from, pool), do: {:noreply, lend(update_in(pool.waiting, &:queue.in(from, &1)))}

  @impl true
  def handle_cast({:give, ref}, pool) do
    Process.demonitor(ref, [:flush])
    {:noreply, back(pool, ref)}
  end

  @impl true
  def handle_info({:DOWN, ref, :process, _, _}, pool), do: {:noreply, back(pool, ref)}

  defp back(pool, ref) do
    {connection, lent} = Map.pop!(pool.lent, ref)
    lend(%{pool | idle: [connection | pool.idle], lent: lent})
  end

  defp lend(%{idle: [connection | idle]} = pool) do
    case :queue.out(pool.waiting) do
      {{:value, {pid, _} = from}, waiting} ->
        ref = Process.monitor(pid)
        GenServer.reply(from, {ref, connection})
        lend(%{pool | idle: idle, waiting: waiting, lent: Map.put(pool.lent, ref, connection)})

      {:empty, _} ->
        pool
    end
  end

  defp lend(pool), do: pool
end

# A process per connection and one per request; each gives up its scheduler after 4,000 reductions.
defmodule Server do
  @behaviour :cowboy_websocket

  @hello String.duplicate("x", 1023) <> "\n"

  def start do
    :ok = :os.set_signal(:sigterm, :default)
    for app <- [:inets, :cowboy, :p1_pgsql], do: {:ok, _} = Application.ensure_all_started(app)

    start_pool(System.fetch_env!("DATABASE_URL"))

    {:ok, ip} = System.fetch_env!("HOST") |> String.to_charlist() |> :inet.parse_address()
    port = System.fetch_env!("PORT") |> String.to_integer()
    listen = [ip: ip, port: port, backlog: 4096, nodelay: true] ++ shared(System.fetch_env!("PROCESSES"))

    # Its own limits would end a connection after 1,000 requests, or when it is silent for 5 seconds between
    # two requests or for 60 seconds during one, and one of HTTP/2 after 10,000 frames in 10
    # seconds.
    protocol = %{
      env: %{dispatch: routes()},
      max_keepalive: :infinity,
      request_timeout: :infinity,
      idle_timeout: :infinity,
      max_received_frame_rate: {1_000_000_000, 1000}
    }

    {:ok, _} = :cowboy.start_clear(:http, %{socket_opts: listen, max_connections: :infinity}, protocol)
  end

  # SO_REUSEPORT of SOL_SOCKET: several processes listen at one port, among which the kernel deals connections out.
  defp shared("1"), do: []
  defp shared(_), do: [{:raw, 1, 15, <<1::native-32>>}]

  defp routes do
    paths = [
      {"/", :about},
      {"/hello", :hello},
      {"/sleep", :sleep},
      {"/count/:n", :count},
      {"/fast/:n", :fast},
      {"/slow/:n", :slow},
      {"/fibs/:n", :fibs},
      {"/pair/:a/:b", :pair},
      {"/alloc/buffers", :buffers},
      {"/alloc/strings", :strings},
      {"/spawn/:n", :spawn},
      {"/orders", :orders},
      {"/events", :events},
      {"/ws", :websocket},
      {"/[...]", :unknown}
    ]

    :cowboy_router.compile([{:_, for({path, route} <- paths, do: {path, __MODULE__, route})}])
  end

  @impl true
  def init(%{method: method} = req, route) when method in ["GET", "HEAD"] do
    case answer(route, req) do
      text when is_binary(text) -> reply(req, route, 200, "text/plain", text)
      {:websocket, does} -> {:cowboy_websocket, req, does, %{idle_timeout: :infinity}}
      {:events, n, gap} -> stream(req, route, n, gap)
      {:html, page} -> reply(req, route, 200, "text/html; charset=utf-8", page)
      value when is_map(value) -> reply(req, route, 200, "application/json", :jsx.encode(value))
    end
  catch
    {:refused, status, why} -> reply(req, route, status, "text/plain", why)
  end

  def init(req, route) do
    :cowboy_req.set_resp_header("allow", "GET, HEAD", req)
    |> reply(route, 405, "text/plain", "only GET and HEAD")
  end

  defp reply(req, route, status, type, body) do
    {:ok, :cowboy_req.reply(status, %{"content-type" => type}, body, req), route}
  end

  # Each event is due on a schedule that begins with the first one: when one is late, the next is not.
  defp stream(%{method: method} = req, route, n, gap) do
    head = %{"content-type" => "text/event-stream", "cache-control" => "no-store"}
    streaming = :cowboy_req.stream_reply(200, head, req)
    start = System.monotonic_time(:microsecond)
    last = if method == "HEAD", do: 0, else: n

    for number <- 1..last//1 do
      wait_until(start + round((number - 1) * gap * 1000))
      :cowboy_req.stream_body("data: #{number}\n\n", :nofin, streaming)
    end

    :cowboy_req.stream_body("", :fin, streaming)
    {:ok, streaming, route}
  end

  defp wait_until(due) do
    left = due - System.monotonic_time(:microsecond)
    if left > 0, do: Process.sleep(div(left + 999, 1000))
  end

  @impl true
  def websocket_init({:push, n, gap}) do
    send(self(), {:push, 1})
    {:ok, {n, gap, System.monotonic_time(:microsecond)}}
  end

  def websocket_init(:echo), do: {:ok, :echo}

  @impl true
  def websocket_handle({kind, _} = message, :echo) when kind in [:text, :binary], do: {[message], :echo}
  def websocket_handle(_, state), do: {:ok, state}

  @impl true
  def websocket_info({:push, number}, {n, _, _} = state) when number > n, do: {[{:close, 1000, ""}], state}

  def websocket_info({:push, number}, {_, gap, start} = state) do
    due = div(start + round(number * gap * 1000) + 999, 1000)
    Process.send_after(self(), {:push, number + 1}, due, abs: true)
    {[{:text, to_string(number)}], state}
  end

  defp answer(:about, _) do
    schedulers = System.schedulers_online()
    %{name: "elixir-cowboy", version: System.version(), runtime: "Elixir", workers: schedulers}
  end

  defp answer(:hello, _), do: @hello
  defp answer(:count, req), do: "Hello, World #{count(0, whole(req, :n, 10_000_000_000))}\n"
  defp answer(:fast, req), do: to_string(Integer.pow(whole(req, :n, 1_000_000), 2))
  defp answer(:slow, req), do: to_string(fib(whole(req, :n, 60)))
  defp answer(:fibs, req), do: %{fibResult: fib(whole(req, :n, 60))}

  defp answer(:sleep, req) do
    query = query(req)
    jitter = decimal(query, "jitter", "0", 1) * (2 * :rand.uniform() - 1)
    Process.sleep(round(decimal(query, "ms", "100", 60_000) * (1 + jitter)))
    @hello
  end

  defp answer(:pair, req) do
    query = query(req)
    {a, b} = {whole(req, :a, 60), whole(req, :b, 60)}
    find = finder(one_of(query, "where", ["local", "remote"]), query)

    found =
      case one_of(query, "async", ["0", "1"]) do
        "0" -> Enum.map([a, b], find)
        "1" -> [a, b] |> Enum.map(&Task.async(fn -> find.(&1) end)) |> Task.await_many(:infinity)
      end

    case found do
      [{:ok, x}, {:ok, y}] -> %{a: x, b: y}
      _ -> refuse(502, "the peer gave no number: " <> inspect(Keyword.get(found, :error)))
    end
  end

  defp answer(:buffers, _), do: allocate(fn -> :binary.copy("x", 1024) end)
  defp answer(:strings, _), do: allocate(fn -> to_text(@hello) end)

  defp answer(:events, req) do
    query = query(req)
    {:events, whole_number(Map.get(query, "n", "20"), 100_000), decimal(query, "gap", "50", 60_000)}
  end

  # With n it pushes so many messages, on a schedule that begins with the first one; without, it echoes.
  defp answer(:websocket, req) do
    case query(req) do
      %{"n" => n} = query -> {:websocket, {:push, whole_number(n, 100_000), decimal(query, "gap", "50", 60_000)}}
      _ -> {:websocket, :echo}
    end
  end

  defp answer(:unknown, _), do: refuse(404, "no such route")

  # All of them wait, each in its own process, until the last has come.
  defp answer(:spawn, req) do
    n = whole(req, :n, 1_000_000)
    one_of(query(req), "kind", ["process"])
    parent = self()

    held =
      for _ <- 1..n//1 do
        spawn_monitor(fn ->
          send(parent, :here)
          receive do: (:go -> :ok)
        end)
      end

    for _ <- held, do: receive(do: (:here -> :ok))
    for {pid, _} <- held, do: send(pid, :go)
    for _ <- held, do: receive(do: ({:DOWN, _, :process, _, :normal} -> :ok))
    to_string(n)
  end

  # Four questions, one after the other, on one connection.
  defp answer(:orders, _) do
    Process.whereis(Pool) || refuse(503, "started without a database")

    Pool.with_connection(fn connection ->
      [[least]] = find(connection, "SELECT min(id) FROM customers")
      [[most]] = find(connection, "SELECT max(id) FROM customers")
      id = Enum.random(String.to_integer(least)..String.to_integer(most))

      case find(connection, "SELECT id, name FROM customers WHERE id = $1", [id]) do
        [[_, name]] -> {:html, page(name, orders_of(connection, id))}
        [] -> refuse(404, "there is no customer #{id}")
      end
    end)
  end

  defp count(n, n), do: n
  defp count(x, n), do: count(x + 1, n)

  defp fib(n) when n < 2, do: n
  defp fib(n), do: fib(n - 1) + fib(n - 2)

  defp finder("local", _), do: fn n -> {:ok, fib(n)} end
  defp finder("remote", %{"peer" => "http://" <> _ = peer}), do: fn n -> ask(peer, n) end
  defp finder("remote", _), do: refuse(400, "where=remote needs peer=http://...")

  # Without "close", httpc would put the second request behind the first on the same connection.
  defp ask(peer, n) do
    with {:ok, {{_, 200, _}, _, body}} <-
           :httpc.request(:get, {"#{peer}/fibs/#{n}", [{'connection', 'close'}]}, [], body_format: :binary),
         %{"fibResult" => result} <- :jsx.decode(body, [:return_maps]) do
      {:ok, result}
    else
      {:ok, {{_, status, _}, _, _}} -> {:error, {:status, status}}
      {:error, reason} -> {:error, reason}
      other -> {:error, other}
    end
  end

  defp allocate(new) do
    fresh = for _ <- 1..50, do: new.()
    50 = length(fresh)
    @hello
  end

  # A string is a binary that is UTF-8: to convert is to check, and to copy.
  defp to_text(bytes) do
    true = String.valid?(bytes)
    :binary.copy(bytes)
  end

  defp orders_of(connection, customer) do
    query = "SELECT ordered_on, item FROM orders WHERE customer_id = $1 ORDER BY ordered_on"
    find(connection, query, [customer])
  end

  # Rows as lists of texts. A parameter that is a binary would be taken for PostgreSQL's own binary form.
  defp find(connection, query, parameters \\ []) do
    {:ok, _, _, _, rows} = :pgsql.pquery(connection, query, parameters)
    for row <- rows, do: for({_, text} <- row, do: text)
  end

  defp page(name, orders) do
    """
    <!DOCTYPE html>
    <title>Orders</title>
    <h1>#{escape(name)}</h1>
    <ol>
    #{for [on, item] <- orders, do: "<li>#{on}: #{escape(item)}</li>\n"}</ol>
    """
  end

  defp escape(text) do
    String.replace(text, ["&", "<", ">", "\""], fn
      "&" -> "&amp;"
      "<" -> "&lt;"
      ">" -> "&gt;"
      "\"" -> "&quot;"
    end)
  end

  defp start_pool(""), do: :ok

  defp start_pool(url) do
    uri = URI.parse(url)
    [user | password] = String.split(uri.userinfo || "", ":", parts: 2)
    "/" <> name = uri.path

    who = [database: name, user: user, password: Enum.join(password)]
    who = for {key, text} <- who, do: {key, text |> URI.decode() |> String.to_charlist()}
    where = [host: String.to_charlist(uri.host), port: uri.port || 5432, as_binary: true]
    pool = {Pool, {where ++ who, String.to_integer(System.fetch_env!("POOL"))}}
    {:ok, supervisor} = Supervisor.start_link([pool], strategy: :one_for_one)
    Process.unlink(supervisor)
  end

  defp query(req), do: Map.new(:cowboy_req.parse_qs(req))

  defp whole(req, name, most), do: whole_number(:cowboy_req.binding(name, req), most)

  # `true` is what parse_qs gives for a name without a value.
  defp whole_number(text, most) do
    with true <- is_binary(text) and text =~ ~r/\A[0-9]+\z/,
         n when n <= most <- String.to_integer(text) do
      n
    else
      _ -> refuse(400, "a whole number from 0 to #{most} is needed here")
    end
  end

  defp decimal(query, name, default, most) do
    with text when is_binary(text) <- Map.get(query, name, default),
         {x, ""} when x >= 0 and x <= most <- Float.parse(text) do
      x
    else
      _ -> refuse(400, "#{name} must be a number from 0 to #{most}")
    end
  end

  defp one_of(query, name, [default | _] = choices) do
    text = Map.get(query, name, default)
    if text in choices, do: text, else: refuse(400, "#{name} must be one of: #{Enum.join(choices, ", ")}")
  end

  defp refuse(status, why), do: throw({:refused, status, why})
end

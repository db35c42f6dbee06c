%% A process per connection; a process that computes gives up its scheduler after 4,000 reductions.
-module(server).
-behaviour(supervisor).

-export([start/0, init/1, loop/1]).

%% Called by `erl -s server`. The caller ends after boot, so the supervisor must not stay linked to it.
start() ->
    ok = os:set_signal(sigterm, default),
    {ok, _} = application:ensure_all_started(inets),
    {ok, _} = application:ensure_all_started(p1_pgsql),
    ok = pool:start(os:getenv("DATABASE_URL")),
    persistent_term:put(kilobyte, <<(binary:copy(<<"x">>, 1023))/binary, "\n">>),
    persistent_term:put(smarter, os:getenv("SMARTER") =:= "true"),
    {ok, Supervisor} = supervisor:start_link({local, ?MODULE}, ?MODULE, []),
    unlink(Supervisor).

init([]) ->
    {ok, Ip} = inet:parse_address(os:getenv("HOST")),
    Options = [{name, web}, {ip, Ip}, {port, list_to_integer(os:getenv("PORT"))}, {loop, fun ?MODULE:loop/1},
               {max, 1000000}, {backlog, 4096}, {nodelay, true}],
    {ok, {#{}, [#{id => web, start => {mochiweb_http, start_link, [Options]}}]}}.

loop(Req) ->
    try answer(mochiweb_request:get(method, Req), Req) of
        {text, Body} -> respond(200, "text/plain", Body, Req);
        {html, Body} -> respond(200, "text/html; charset=utf-8", Body, Req);
        {json, Value} -> respond(200, "application/json", mochijson2:encode(Value), Req)
    catch
        throw:{refused, Status, Why} ->
            respond(Status, "text/plain", Why, Req);
        error:Reason:Trace ->
            error_logger:error_report([{reason, Reason}, {trace, Trace}]),
            respond(500, "text/plain", "internal error", Req)
    end.

respond(Status, Type, Body, Req) ->
    Allow = [{"Allow", "GET, HEAD"} || Status =:= 405],
    mochiweb_request:respond({Status, [{"Content-Type", Type} | Allow], Body}, Req).

answer(Method, Req) when Method =:= 'GET'; Method =:= 'HEAD' ->
    "/" ++ Path = mochiweb_request:get(path, Req),
    route(string:split(Path, "/", all), mochiweb_request:parse_qs(Req));
answer(_, _) ->
    refuse(405, "only GET and HEAD").

route([""], _) -> {json, about()};
route(["hello"], _) -> {text, hello()};
route(["sleep"], Query) -> sleep(Query);
route(["count", N], _) -> {text, ["Hello, World ", integer_to_list(count(whole(N, 10000000000))), "\n"]};
route(["fast", N], _) -> X = whole(N, 1000000), {text, integer_to_list(X * X)};
route(["slow", N], _) -> {text, integer_to_list(fib(whole(N, 60)))};
route(["fibs", N], _) -> {json, {[{fibResult, fib(whole(N, 60))}]}};
route(["pair", A, B], Query) -> pair(whole(A, 60), whole(B, 60), Query);
route(["alloc", "buffers"], _) -> allocate(fun() -> binary:copy(<<"x">>, 1024) end);
route(["alloc", "strings"], _) ->
    Kilobyte = hello(),
    allocate(fun() -> binary_to_list(Kilobyte) end);
route(["spawn", N], Query) -> hold(whole(N, 1000000), one_of("kind", Query, ["process"]));
route(["orders"], _) -> orders();
route(_, _) -> refuse(404, "no such route").

hello() -> persistent_term:get(kilobyte).

about() ->
    {[{name, <<"erlang-mochiweb">>}, {version, otp_version()}, {runtime, <<"Erlang/OTP">>},
      {workers, erlang:system_info(schedulers_online)}]}.

%% OTP_RELEASE says 25; the file says 25.2.3.
otp_version() ->
    Release = erlang:system_info(otp_release),
    case file:read_file(filename:join([code:root_dir(), "releases", Release, "OTP_VERSION"])) of
        {ok, Version} -> string:trim(Version);
        {error, _} -> list_to_binary(Release)
    end.

count(N) ->
    case persistent_term:get(smarter) of
        false -> count(0, N);
        true -> N + count_down(N)
    end.

%% The article's loop.
count(X, 0) -> X;
count(X, N) -> count(X + 1, N - 1).

%% "Written smarter", which the author's reply does not show: one number to carry instead of two.
count_down(0) -> 0;
count_down(N) -> count_down(N - 1).

fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).

sleep(Query) ->
    Ms = decimal("ms", Query, "100", 60000),
    Jitter = decimal("jitter", Query, "0", 1),
    timer:sleep(round(Ms * (1 + Jitter * (2 * rand:uniform() - 1)))),
    {text, hello()}.

pair(A, B, Query) ->
    Find = finder(one_of("where", Query, ["local", "remote"]), proplists:get_value("peer", Query, "")),
    case one_of("async", Query, ["0", "1"]) of
        "0" ->
            {json, {[{a, Find(A)}, {b, Find(B)}]}};
        "1" ->
            Asked = [apart(Find, N) || N <- [A, B]],
            [X, Y] = [result(Ref) || Ref <- Asked],
            {json, {[{a, X}, {b, Y}]}}
    end.

finder("local", _) -> fun fib/1;
finder("remote", "http://" ++ _ = Peer) -> fun(N) -> ask(Peer, N) end;
finder("remote", _) -> refuse(400, "where=remote needs peer=http://...").

%% Without "close", httpc would put the second request behind the first on the same connection.
ask(Peer, N) ->
    Url = Peer ++ "/fibs/" ++ integer_to_list(N),
    case httpc:request(get, {Url, [{"connection", "close"}]}, [], []) of
        {ok, {{_, 200, _}, _, Body}} ->
            {struct, [{<<"fibResult">>, Result}]} = mochijson2:decode(Body),
            Result;
        {ok, {{_, Status, _}, _, _}} ->
            refuse(502, io_lib:format("the peer answered with status ~b", [Status]));
        {error, Reason} ->
            refuse(502, io_lib:format("the peer did not answer: ~0p", [Reason]))
    end.

%% A linked process: should it crash, this one goes with it. What it refuses is passed on.
apart(Find, N) ->
    Self = self(),
    Ref = make_ref(),
    spawn_link(fun() -> Self ! {Ref, catch Find(N)} end),
    Ref.

result(Ref) ->
    receive
        {Ref, {refused, Status, Why}} -> refuse(Status, Why);
        {Ref, Result} -> Result
    end.

allocate(New) ->
    Fresh = [New() || _ <- lists:seq(1, 50)],
    50 = length(Fresh),
    {text, hello()}.

%% All of them wait, each in its own process, until the last has come.
hold(N, "process") ->
    Self = self(),
    Held = [spawn_monitor(fun() -> Self ! here, receive go -> ok end end) || _ <- lists:seq(1, N)],
    [receive here -> ok end || _ <- Held],
    [Pid ! go || {Pid, _} <- Held],
    [receive {'DOWN', _, process, _, normal} -> ok end || _ <- Held],
    {text, integer_to_list(N)}.

%% Four questions, one after the other, on one connection.
orders() ->
    pool:is_open() orelse refuse(503, "started without a database"),
    pool:with_connection(fun(Connection) ->
        [[Least]] = pool:find(Connection, "SELECT min(id) FROM customers", []),
        [[Most]] = pool:find(Connection, "SELECT max(id) FROM customers", []),
        [First, Last] = [binary_to_integer(Id) || Id <- [Least, Most]],
        Id = First + rand:uniform(Last - First + 1) - 1,
        case pool:find(Connection, "SELECT id, name FROM customers WHERE id = $1", [Id]) of
            [[_, Name]] ->
                Orders = pool:find(Connection,
                    "SELECT ordered_on, item FROM orders WHERE customer_id = $1 ORDER BY ordered_on", [Id]),
                Items = [["<li>", On, ": ", mochiweb_html:escape(Item), "</li>\n"] || [On, Item] <- Orders],
                {html, ["<!DOCTYPE html>\n<title>Orders</title>\n<h1>", mochiweb_html:escape(Name), "</h1>\n<ol>\n", Items, "</ol>\n"]};
            [] -> refuse(404, io_lib:format("there is no customer ~b", [Id]))
        end
    end).

whole(Text, Most) ->
    case re:run(Text, "^[0-9]+$", [dollar_endonly]) of
        {match, _} -> within(list_to_integer(Text), Most, "the number in the path");
        nomatch -> refuse(400, io_lib:format("a whole number from 0 to ~b is needed here", [Most]))
    end.

decimal(Name, Query, Otherwise, Most) ->
    Text = proplists:get_value(Name, Query, Otherwise),
    case {string:to_float(Text), string:to_integer(Text)} of
        {{X, ""}, _} -> within(X, Most, Name);
        {_, {X, ""}} -> within(X, Most, Name);
        _ -> refuse(400, io_lib:format("~s must be a number from 0 to ~b", [Name, Most]))
    end.

within(X, Most, _) when X >= 0, X =< Most -> X;
within(_, Most, Name) -> refuse(400, io_lib:format("~s must be from 0 to ~b", [Name, Most])).

one_of(Name, Query, [Default | _] = Choices) ->
    Text = proplists:get_value(Name, Query, Default),
    case lists:member(Text, Choices) of
        true -> Text;
        false -> refuse(400, [Name, " must be one of: ", lists:join(", ", Choices)])
    end.

-spec refuse(400..599, iodata()) -> no_return().
refuse(Status, Why) -> throw({refused, Status, Why}).

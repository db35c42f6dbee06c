%% A process per connection and one per request; each gives up its scheduler after 4,000 reductions.
-module(server).
-behaviour(cowboy_websocket).

-export([start/0, init/2, websocket_init/1, websocket_handle/2, websocket_info/2]).

start() ->
    ok = os:set_signal(sigterm, default),
    [{ok, _} = application:ensure_all_started(App) || App <- [inets, cowboy, p1_pgsql]],
    persistent_term:put(hello, <<(binary:copy(<<"x">>, 1023))/binary, "\n">>),
    ok = pool:start(os:getenv("DATABASE_URL")),
    {ok, Ip} = inet:parse_address(os:getenv("HOST")),
    Listen = [{ip, Ip}, {port, list_to_integer(os:getenv("PORT"))}, {backlog, 4096}, {nodelay, true}],
    %% Cowboy's own limits would end a connection after 1,000 requests, or when it is silent for 5 seconds
    %% between two requests or for 60 seconds during one, and one of HTTP/2 after 10,000 frames in 10 seconds.
    Protocol = #{env => #{dispatch => dispatch()}, max_keepalive => infinity,
                 request_timeout => infinity, idle_timeout => infinity,
                 max_received_frame_rate => {1000000000, 1000}},
    {ok, _} = cowboy:start_clear(http, #{socket_opts => Listen, max_connections => infinity}, Protocol),
    ok.

%% The state of a route is the function that answers it.
dispatch() ->
    cowboy_router:compile([{'_', [{Path, ?MODULE, Handler} || {Path, Handler} <- [
        {"/", fun about/1},
        {"/hello", fun hello/1},
        {"/sleep", fun sleep/1},
        {"/count/:n", fun count/1},
        {"/fast/:n", fun fast/1},
        {"/slow/:n", fun slow/1},
        {"/fibs/:n", fun fibs/1},
        {"/pair/:a/:b", fun pair/1},
        {"/alloc/buffers", fun buffers/1},
        {"/alloc/strings", fun strings/1},
        {"/spawn/:n", fun spawn_and_hold/1},
        {"/orders", fun orders/1},
        {"/events", fun events/1},
        {"/ws", fun websocket/1},
        {"/[...]", fun(_) -> refuse(404, <<"no such route">>) end}
    ]]}]).

init(#{method := Method} = Req, Handler) when Method =:= <<"GET">>; Method =:= <<"HEAD">> ->
    try Handler(Req) of
        {websocket, Does} -> {cowboy_websocket, Req, Does, #{idle_timeout => infinity}};
        {events, N, Gap} -> stream(N, Gap, Req, Handler);
        {html, Page} -> reply(200, <<"text/html; charset=utf-8">>, Page, Req, Handler);
        Value when is_map(Value) -> reply(200, <<"application/json">>, jsx:encode(Value), Req, Handler);
        Text -> reply(200, <<"text/plain">>, Text, Req, Handler)
    catch
        throw:{refused, Status, Why} -> reply(Status, <<"text/plain">>, Why, Req, Handler)
    end;
init(Req, Handler) ->
    Allowing = cowboy_req:set_resp_header(<<"allow">>, <<"GET, HEAD">>, Req),
    reply(405, <<"text/plain">>, <<"only GET and HEAD">>, Allowing, Handler).

reply(Status, Type, Body, Req, State) ->
    {ok, cowboy_req:reply(Status, #{<<"content-type">> => Type}, Body, Req), State}.

%% Each event is due on a schedule that begins with the first one: when one is late, the next is not.
stream(N, Gap, Req, State) ->
    Head = #{<<"content-type">> => <<"text/event-stream">>, <<"cache-control">> => <<"no-store">>},
    Streaming = cowboy_req:stream_reply(200, Head, Req),
    Start = erlang:monotonic_time(microsecond),
    Last = case Req of
        #{method := <<"HEAD">>} -> 0;
        _ -> N
    end,
    [begin
        wait_until(Start + round((Number - 1) * Gap * 1000)),
        cowboy_req:stream_body(["data: ", integer_to_list(Number), "\n\n"], nofin, Streaming)
    end || Number <- lists:seq(1, Last)],
    cowboy_req:stream_body(<<>>, fin, Streaming),
    {ok, Streaming, State}.

wait_until(Due) ->
    case Due - erlang:monotonic_time(microsecond) of
        Left when Left > 0 -> timer:sleep((Left + 999) div 1000);
        _ -> ok
    end.

about(_) ->
    Root = code:root_dir(),
    Release = erlang:system_info(otp_release),
    Version = case file:read_file(filename:join([Root, "releases", Release, "OTP_VERSION"])) of
        {ok, Precise} -> string:trim(Precise);
        {error, _} -> list_to_binary(Release)
    end,
    #{name => <<"erlang-cowboy">>, version => Version, runtime => <<"Erlang/OTP">>,
      workers => erlang:system_info(schedulers_online)}.

hello(_) -> persistent_term:get(hello).

sleep(Req) ->
    Query = maps:from_list(cowboy_req:parse_qs(Req)),
    Ms = decimal(<<"ms">>, Query, <<"100">>, 60000),
    Jitter = decimal(<<"jitter">>, Query, <<"0">>, 1),
    timer:sleep(round(Ms * (1 + Jitter * (2 * rand:uniform() - 1)))),
    hello(Req).

count(Req) ->
    ["Hello, World ", integer_to_list(count(0, whole(n, Req, 10000000000))), "\n"].

count(N, N) -> N;
count(X, N) -> count(X + 1, N).

fast(Req) ->
    N = whole(n, Req, 1000000),
    integer_to_binary(N * N).

slow(Req) -> integer_to_binary(fib(whole(n, Req, 60))).

fibs(Req) -> #{fibResult => fib(whole(n, Req, 60))}.

fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).

pair(Req) ->
    Query = maps:from_list(cowboy_req:parse_qs(Req)),
    {A, B} = {whole(a, Req, 60), whole(b, Req, 60)},
    Find = finder(one_of(<<"where">>, Query, [<<"local">>, <<"remote">>]), Query),
    Found = case one_of(<<"async">>, Query, [<<"0">>, <<"1">>]) of
        <<"0">> -> [Find(A), Find(B)];
        <<"1">> -> concurrently(Find, [A, B])
    end,
    case Found of
        [{ok, X}, {ok, Y}] -> #{a => X, b => Y};
        _ -> refuse(502, io_lib:format("the peer gave no number: ~0p", [proplists:get_value(error, Found)]))
    end.

finder(<<"local">>, _) -> fun(N) -> {ok, fib(N)} end;
finder(<<"remote">>, #{<<"peer">> := <<"http://", _/binary>> = Peer}) -> fun(N) -> ask(Peer, N) end;
finder(<<"remote">>, _) -> refuse(400, <<"where=remote needs peer=http://...">>).

%% Without "close", httpc would put the second request behind the first on the same connection.
ask(Peer, N) ->
    Url = [Peer, "/fibs/", integer_to_binary(N)],
    case httpc:request(get, {iolist_to_binary(Url), [{"connection", "close"}]}, [], [{body_format, binary}]) of
        {ok, {{_, 200, _}, _, Body}} ->
            #{<<"fibResult">> := Result} = jsx:decode(Body, [return_maps]),
            {ok, Result};
        {ok, {{_, Status, _}, _, _}} -> {error, {status, Status}};
        {error, Reason} -> {error, Reason}
    end.

%% A process for each, linked: when one crashes, the request crashes too.
concurrently(Find, Numbers) ->
    Self = self(),
    Pids = [spawn_link(fun() -> Self ! {self(), Find(N)} end) || N <- Numbers],
    [receive {Pid, Found} -> Found end || Pid <- Pids].

buffers(Req) -> allocate(fun() -> binary:copy(<<"x">>, 1024) end, Req).

strings(Req) ->
    Kilobyte = hello(Req),
    allocate(fun() -> unicode:characters_to_list(Kilobyte) end, Req).

allocate(New, Req) ->
    Fresh = [New() || _ <- lists:seq(1, 50)],
    50 = length(Fresh),
    hello(Req).

%% All of them wait, each in its own process, until the last has come.
spawn_and_hold(Req) ->
    N = whole(n, Req, 1000000),
    one_of(<<"kind">>, maps:from_list(cowboy_req:parse_qs(Req)), [<<"process">>]),
    Self = self(),
    Held = [spawn_monitor(fun() -> Self ! here, receive go -> ok end end) || _ <- lists:seq(1, N)],
    [receive here -> ok end || _ <- Held],
    [Pid ! go || {Pid, _} <- Held],
    [receive {'DOWN', _, process, _, normal} -> ok end || _ <- Held],
    integer_to_binary(N).

%% With n it pushes so many messages, on a schedule that begins with the first one; without, it echoes.
websocket(Req) ->
    case maps:from_list(cowboy_req:parse_qs(Req)) of
        #{<<"n">> := N} = Query ->
            {websocket, {push, whole_number(N, 100000), decimal(<<"gap">>, Query, <<"50">>, 60000)}};
        _ -> {websocket, echo}
    end.

websocket_init({push, N, Gap}) ->
    self() ! {push, 1},
    {ok, {N, Gap, erlang:monotonic_time(microsecond)}};
websocket_init(echo) -> {ok, echo}.

websocket_handle({Kind, Message}, echo) when Kind =:= text; Kind =:= binary -> {[{Kind, Message}], echo};
websocket_handle(_, State) -> {ok, State}.

websocket_info({push, Number}, {N, _, _} = State) when Number > N -> {[{close, 1000, <<>>}], State};
websocket_info({push, Number}, {_, Gap, Start} = State) ->
    Due = (Start + round(Number * Gap * 1000) + 999) div 1000,
    erlang:send_after(Due, self(), {push, Number + 1}, [{abs, true}]),
    {[{text, integer_to_binary(Number)}], State}.

events(Req) ->
    Query = maps:from_list(cowboy_req:parse_qs(Req)),
    Gap = decimal(<<"gap">>, Query, <<"50">>, 60000),
    {events, whole_number(maps:get(<<"n">>, Query, <<"20">>), 100000), Gap}.

%% Four questions, one after the other, on one connection.
orders(_) ->
    pool:is_open() orelse refuse(503, <<"started without a database">>),
    pool:with_connection(fun(Connection) ->
        [[Least]] = pool:find(Connection, "SELECT min(id) FROM customers", []),
        [[Most]] = pool:find(Connection, "SELECT max(id) FROM customers", []),
        [First, Last] = [binary_to_integer(Id) || Id <- [Least, Most]],
        Id = First + rand:uniform(Last - First + 1) - 1,
        case pool:find(Connection, "SELECT id, name FROM customers WHERE id = $1", [Id]) of
            [[_, Name]] ->
                Orders = pool:find(Connection,
                    "SELECT ordered_on, item FROM orders WHERE customer_id = $1 ORDER BY ordered_on", [Id]),
                Items = [["<li>", On, ": ", escape(Item), "</li>\n"] || [On, Item] <- Orders],
                {html, ["<!DOCTYPE html>\n<title>Orders</title>\n<h1>", escape(Name), "</h1>\n<ol>\n", Items, "</ol>\n"]};
            [] -> refuse(404, io_lib:format("there is no customer ~b", [Id]))
        end
    end).

escape(Text) -> << <<(entity(Byte))/binary>> || <<Byte>> <= Text >>.

entity($&) -> <<"&amp;">>;
entity($<) -> <<"&lt;">>;
entity($>) -> <<"&gt;">>;
entity($") -> <<"&quot;">>;
entity(Byte) -> <<Byte>>.

whole(Name, Req, Most) -> whole_number(cowboy_req:binding(Name, Req), Most).

%% `true` is what parse_qs gives for a name without a value.
whole_number(Text, Most) ->
    Digits = is_binary(Text) andalso Text =/= <<>> andalso [] =:= [C || <<C>> <= Text, C < $0 orelse C > $9],
    case Digits andalso binary_to_integer(Text) of
        N when is_integer(N), N =< Most -> N;
        _ -> refuse(400, io_lib:format("a whole number from 0 to ~b is needed here", [Most]))
    end.

decimal(Name, Query, Default, Most) ->
    case number(maps:get(Name, Query, Default)) of
        X when is_number(X), X >= 0, X =< Most -> X;
        _ -> refuse(400, io_lib:format("~s must be a number from 0 to ~b", [Name, Most]))
    end.

number(Text) when is_binary(Text) ->
    case {string:to_float(Text), string:to_integer(Text)} of
        {{X, <<>>}, _} -> X;
        {_, {X, <<>>}} -> X;
        _ -> none
    end;
number(true) ->  % what parse_qs gives for `ms` without a value
    none.

one_of(Name, Query, [Default | _] = Choices) ->
    Text = maps:get(Name, Query, Default),
    case lists:member(Text, Choices) of
        true -> Text;
        false -> refuse(400, [Name, " must be one of: ", lists:join(", ", Choices)])
    end.

-spec refuse(400..599, iodata()) -> no_return().
refuse(Status, Why) -> throw({refused, Status, Why}).

%% Lends connections to the database in the order in which they are asked for. Whoever ends without giving one
%% back, because its client has gone, is seen to end.
-module(pool).

-export([start/1, is_open/0, with_connection/1, find/3]).

%% Without an address there is no pool.
start("") -> ok;
start(Url) ->
    #{host := Host, path := "/" ++ Name} = Parts = uri_string:parse(Url),
    [User | Password] = string:split(maps:get(userinfo, Parts, ""), ":"),
    Options = [{host, Host}, {port, maps:get(port, Parts, 5432)}, {as_binary, true} | [
        {Key, uri_string:percent_decode(Text)}
        || {Key, Text} <- [{database, Name}, {user, User}, {password, lists:append(Password)}]]],
    Connections = lists:seq(1, list_to_integer(os:getenv("POOL"))),
    Self = self(),
    [spawn(fun() -> Self ! {opened, pgsql:connect(Options)} end) || _ <- Connections],
    Opened = [receive {opened, Result} -> {ok, C} = Result, C end || _ <- Connections],
    register(?MODULE, spawn(fun() -> lend_on(Opened, queue:new(), #{}) end)),
    ok.

lend_on(Idle, Waiting, Lent) ->
    receive
        {take, Pid} -> lend(Idle, queue:in(Pid, Waiting), Lent);
        {give, Ref} -> demonitor(Ref, [flush]), back(Ref, Idle, Waiting, Lent);
        {'DOWN', Ref, process, _, _} -> back(Ref, Idle, Waiting, Lent)
    end.

back(Ref, Idle, Waiting, Lent) ->
    {Connection, StillLent} = maps:take(Ref, Lent),
    lend([Connection | Idle], Waiting, StillLent).

lend([Connection | Idle] = All, Waiting, Lent) ->
    case queue:out(Waiting) of
        {{value, Pid}, Others} ->
            Ref = monitor(process, Pid),
            Pid ! {lent, Ref, Connection},
            lend(Idle, Others, Lent#{Ref => Connection});
        {empty, _} -> lend_on(All, Waiting, Lent)
    end;
lend([], Waiting, Lent) -> lend_on([], Waiting, Lent).

with_connection(Ask) ->
    ?MODULE ! {take, self()},
    receive {lent, Ref, Connection} ->
        try Ask(Connection) after ?MODULE ! {give, Ref} end
    end.

is_open() -> whereis(?MODULE) =/= undefined.

%% Rows as lists of texts. A parameter that is a binary would be taken for PostgreSQL's own binary form.
find(Connection, Query, Parameters) ->
    {ok, _, _, _, Rows} = pgsql:pquery(Connection, Query, Parameters),
    [[Text || {_, Text} <- Row] || Row <- Rows].

"""The plan behind `jostle hit`: what options become, and that mistakes are told in the options' names."""

import base64
from pathlib import Path
from typing import Any

import pytest

import jostle
from jostle.errors import PlanError
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.plan import ClosedLoad, OpenLoad, Plan, Request, Workload, parse_plan, to_toml
from jostle.plan.connection import Connection, Http2
from jostle.plan.hit.plan import PLACES, hit_plan
from support.one_request import engine
from support.one_request import plan as request_of

NAMES = {"clients": "-c", "seconds": "-d", "body": "-b"}


def plan_for(url: str = "http://localhost:8080/", **options: Any) -> Plan:
    return hit_plan(url, options, lambda name: NAMES.get(name, name))


def hit(url: str = "http://localhost:8080/", **options: Any) -> Workload:
    return plan_for(url, **options).workload["hit"]


def request(url: str = "http://localhost:8080/", **options: Any) -> Request:
    return hit(url, **options).request[0]


def sent_to(plan: Plan) -> dict[str, Any]:
    """The engine's specification of the workload."""
    (name,) = plan.contestants
    url = plan.contestant[name].url
    assert url is not None
    spec = engine_spec("hit", plan.workload["hit"], Address.of(url), journeys=plan.journey)
    return spec["workloads"][0]


def test_what_a_journey_sends_is_no_file_whatever_its_keys_are(tmp_path: Path) -> None:
    journey = tmp_path / "run.toml"
    (tmp_path / "body.json").write_text("{}")
    journey.write_text(
        '[journey.run]\nsteps = [{ post = "/a", json = { script = "echo", csv = ["x"] } },\n'
        '  { post = "/b", form = { proto = "x" }, capture = { script = "json:/s" } },\n'
        '  { post = "/c", body-file = "body.json", headers = { hurl = "x" } }]\n'
    )
    first, second, third = plan_for(journey=str(journey)).journey["run"].steps
    assert first.json_ == {"script": "echo", "csv": ["x"]}
    assert (second.form, list(second.capture)) == ({"proto": "x"}, ["script"])
    assert (third.body_file, third.headers) == (tmp_path / "body.json", {"hurl": "x"})


def test_null_is_refused_where_a_plan_cannot_hold_it() -> None:
    builder = jostle.journey("a").post("/", json={"x": [None]})
    with pytest.raises(PlanError, match="it holds null, which a plan cannot say"):
        plan_for(journey=builder)


def test_without_options_it_is_ten_clients_for_ten_seconds() -> None:
    plan = plan_for("http://localhost:8080/")
    load = plan.workload["hit"].load
    assert isinstance(load, ClosedLoad)
    assert (load.clients, load.for_, load.requests, load.keep_alive) == (10, 10.0, None, True)
    assert (plan.rounds, plan.contestants, plan.title) == (1, ["localhost"], "http://localhost:8080/")
    assert plan.contestant["localhost"].url == "http://localhost:8080"
    assert parse_plan(to_toml(plan), "again") == plan


@pytest.mark.parametrize(
    ("url", "server", "path"),
    [
        ("http://localhost:8080/hello?a=b&c=d", "http://localhost:8080", "/hello?a=b&c=d"),
        ("localhost:8080", "http://localhost:8080", "/"),
        ("http://example.org", "http://example.org:80", "/"),
        ("http://[::1]:9000/x#part", "http://[::1]:9000", "/x"),
        ("http://localhost/a b/ü?q=ü é", "http://localhost:80", "/a%20b/%C3%BC?q=%C3%BC%20%C3%A9"),
        ("http://localhost/a%20b?q={x}", "http://localhost:80", "/a%20b?q=%7Bx%7D"),
    ],
)
def test_the_url_is_split(url: str, server: str, path: str) -> None:
    plan = plan_for(url)
    assert plan.contestant[plan.contestants[0]].url == server
    assert plan.workload["hit"].request[0].path == path


def test_a_number_of_requests_stands_in_place_of_a_time_or_beside_it() -> None:
    assert (hit(requests=500).load.requests, hit(requests=500).seconds()) == (500, None)
    assert (hit(requests=500, seconds="3s").load.requests, hit(requests=500, seconds="3s").seconds()) == (
        500,
        3.0,
    )
    assert [hit(seconds=s).seconds() for s in (2, 0.5, "2", "2s", "1m")] == [2.0, 0.5, 2.0, 2.0, 60.0]


def test_a_rate_makes_it_open_over_at_most_so_many_connections() -> None:
    load = hit(rate="2000/s", clients=64, arrivals="constant").load
    assert isinstance(load, OpenLoad)
    assert (load.rate, load.max_connections, load.arrivals, load.for_) == (2000.0, 64, "constant", 10.0)
    rates = [hit(rate=rate).load.rate for rate in (500, 0.5, "2000", "2k", "60/min")]  # type: ignore[union-attr]
    assert rates == [500.0, 0.5, 2000.0, 2000.0, 1.0]


def test_what_is_asked() -> None:
    posted = request(body="{}", headers=["Content-Type: application/json", ("X-A", "1"), "X-A: 2"])
    assert (posted.method, posted.path, posted.body) == ("POST", "/", "{}")
    assert posted.headers == {"Content-Type": "application/json", "X-A": ["1", "2"]}
    assert request(method="put", body="x").method == "PUT"
    assert request(method="HEAD").method == "HEAD"
    assert request(expect="Hello").expect.contains == "Hello"
    assert request(expect=204).expect.status == [204]
    assert request(expect_status="200, 404").expect.status == [200, 404]
    both = request(expect="Hello", expect_status="201").expect
    graphql = request(expect="data", expect_not='"errors"').expect
    assert (graphql.contains, graphql.lacks) == ("data", '"errors"')
    message = request("ws://localhost/", send="hi", expect_not="no").expect
    assert (message.contains, message.lacks) == (None, "no")
    assert (both.contains, both.status) == ("Hello", [201])


def test_compressed_responses_are_accepted_on_demand() -> None:
    assert request(compressed=True).headers == {"Accept-Encoding": "gzip, br, zstd"}
    assert request(compressed=False).headers == {}
    assert request(compressed=True, headers=["accept-encoding: br"]).headers == {"accept-encoding": "br"}


def test_a_stream_is_not_asked_for_in_zstd() -> None:
    assert request(compressed=True, stream="sse").headers == {"Accept-Encoding": "gzip, br"}
    with pytest.raises(PlanError, match="the events of a stream in zstd"):
        request(headers=["Accept-Encoding: gzip, zstd"], stream="sse")
    for codings in ("gzip, deflate, br", "gzip, zstd;q=0", "zstd; q=0.0, br"):
        assert request(headers=[f"Accept-Encoding: {codings}"], stream="sse").stream is not None
    pasted = request("curl http://h/ -H 'accept-encoding: gzip, deflate, br, zstd'", stream="sse")
    assert pasted.headers["accept-encoding"] == "gzip, deflate, br"
    assert request("curl http://h/ -H 'accept-encoding: br, zstd'").headers["accept-encoding"] == "br, zstd"


def test_a_body_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "body.bin").write_bytes(b"\x00\xff")
    assert request(body=f"@{tmp_path / 'body.bin'}").body_file == tmp_path / "body.bin"
    with pytest.raises(PlanError, match="-b: there is no file"):
        hit(body=f"@{tmp_path / 'none.bin'}")


def test_a_login_in_the_url_becomes_a_header_and_reaches_no_record() -> None:
    plan = plan_for("http://me:p%40ss@localhost/")
    login = base64.b64encode(b"me:p@ss").decode()
    assert sent_to(plan)["requests"][0]["headers"] == [["Authorization", f"Basic {login}"]]
    assert plan.title == "http://localhost:80/"
    written = to_toml(plan)
    assert login not in written
    assert "p%40ss" not in written


def test_a_header_of_the_request_takes_the_place_of_the_login() -> None:
    plan = plan_for("http://me:pw@localhost/", headers=["authorization: Bearer t"])
    assert sent_to(plan)["requests"][0]["headers"] == [["authorization", "Bearer t"]]


@pytest.mark.parametrize("kind", ["toml", "hurl", "luau"])
def test_a_login_in_the_url_goes_with_every_step(kind: str, tmp_path: Path) -> None:
    texts = {
        "toml": '[journey.a]\nsteps = [{ get = "/x" }, { post = "/y" }]\n',
        "hurl": "GET {{base_url}}/x\nPOST {{base_url}}/y\n",
        "luau": 'return function() http.get("/x") http.post("/y") end\n',
    }
    (file := tmp_path / f"a.{kind}").write_text(texts[kind])
    plan = plan_for("http://ann:secret@localhost/", journey=str(file))
    headers = [request["headers"] for request in sent_to(plan)["requests"]]
    assert headers == [[["Authorization", "Basic YW5uOnNlY3JldA=="]]] * 2
    assert "secret" not in to_toml(plan)


@pytest.mark.parametrize("path", ["/api/v1", "/api/v1?key=1", "?key=1", "/?key=1"])
@pytest.mark.parametrize("kind", ["toml", "hurl", "luau"])
def test_a_path_in_the_url_is_not_dropped_where_steps_have_paths(
    kind: str, path: str, tmp_path: Path
) -> None:
    texts = {
        "toml": '[journey.a]\nsteps = [{ get = "/x" }]\n',
        "hurl": "GET {{u}}/x\n",
        "luau": 'http.get("/x")',
    }
    (file := tmp_path / f"a.{kind}").write_text(texts[kind])
    with pytest.raises(PlanError, match="journey: steps say which path and query they ask for") as refused:
        plan_for(f"http://ann:secret@localhost:8080{path}", journey=str(file))
    assert "write http://localhost:8080, and the whole path" in refused.value.hint
    assert "secret" not in str(refused.value)


def test_the_title_of_journeys_names_no_path() -> None:
    journey = jostle.journey("a").get("/x")
    assert plan_for("http://localhost:8080/", journey=journey).title == "http://localhost:8080"
    with pytest.raises(PlanError, match="steps say which path"):
        plan_for("http://localhost:8080/api/v1", journey=journey)


def test_a_url_without_a_scheme_may_have_another_one_in_its_query() -> None:
    plan = plan_for("localhost:8080/go?to=http://example.org/")
    assert plan.workload["hit"].request[0].get == "/go?to=http://example.org/"
    assert plan.contestant["localhost"].url == "http://localhost:8080"


def test_raw_bytes_have_no_login() -> None:
    with pytest.raises(PlanError, match="more than a host") as refused:
        plan_for("tcp://ann:secret@localhost:6379", send="PING", until="close")
    assert "secret" not in str(refused.value)


def test_other_options() -> None:
    workload = hit(
        keep_alive=False, think="1s", timeout="3", first_byte_timeout=0.5, rows=True, nodelay=False
    )
    assert isinstance(workload.load, ClosedLoad)
    assert (workload.load.connection_limit, workload.load.think.seconds) == (1, 1.0)
    assert (workload.timeout, workload.first_byte_timeout, workload.rows) == (3.0, 0.5, True)
    assert not workload.connection.nodelay
    plan = plan_for("http://localhost/", seed=7, threads=2, think=None)
    assert (plan.seed, plan.threads) == (7, 2)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"clients": 0}, "-c: zero"),
        ({"clients": 0, "rate": "5/s"}, "-c: zero"),
        ({"seconds": "soon"}, "-d: 'soon' is not a duration"),
        ({"seconds": 0}, "-d: a time of zero"),
        ({"seconds": -1}, "-d: '-1s' is not a duration"),
        ({"requests": -5}, "requests: -5 is negative"),
        ({"rate": "fast"}, "rate: 'fast' is not a rate"),
        ({"rate": "100rps"}, "rate: '100rps' is not a rate"),
        ({"arrivals": "constant"}, "arrivals: a closed loop has no arrival process"),
        ({"clients": "many"}, "-c: 'many' is not a count"),
        ({"requests": "0"}, "requests: zero"),
        ({"rate": "5/s", "arrivals": "evenly"}, 'arrivals: "evenly" is not an arrival process'),
        (
            {"rate": "5/s", "think": "1s"},
            "think and rate together: clients wait for their responses, a rate does not",
        ),
        ({"method": "G RAB"}, "method: 'G RAB' is not a method"),
        ({"method": "connect"}, "method: connect asks for a tunnel"),
        ({"connect_to": ["127.0.0.1:1"], "resolve_each": True}, "resolve-each: connect-to leaves no host"),
        ({"headers": ["nonsense"]}, "headers: 'nonsense' has no colon"),
        ({"headers": ["a b: c"]}, "headers: 'a b' is not a header's name"),
        ({"timeout": "0s"}, "timeout: a time of zero"),
        ({"expect_status": "2" * 5000}, "expect_status: '222"),
        ({"user": "ann:\udce4"}, "the login is not UTF-8 text"),
        ({"kepalive": False}, "there is no option 'kepalive'"),
    ],
)
def test_mistakes_are_told_by_the_names_that_the_caller_uses(options: dict[str, Any], says: str) -> None:
    with pytest.raises(PlanError) as refused:
        hit(**options)
    assert refused.value.message.startswith(says)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://localhost/", "'ftp' is not supported"),
        ("http://", "names no host"),
        ("http://localhost:99999/", "is not a URL"),
        ("http://[::1/", "is not a URL"),
        ("http://a..b/", "is not a URL: each part of the name of a host"),
        (f"ws://{'a' * 64}.de/", "is not a URL: each part of the name of a host"),
        ("http://exa mple/", "it has a space"),
        (f"http://localhost:{'9' * 5000}/", "is no host with a port"),
        ("http://localhost/\udce4", r"U\+DCE4, which is no character"),
        ("http://localhost/?\udce4", r"U\+DCE4, which is no character"),
    ],
)
def test_what_is_no_url_is_refused(url: str, says: str) -> None:
    with pytest.raises(PlanError, match=says) as refused:
        hit(url)
    assert "http://" in refused.value.hint


def test_a_login_an_agent_and_a_body_of_json_become_headers() -> None:
    asked = request(user="ann:s:cret", agent="probe/1", json_body='{"a":1}')
    assert (asked.method, asked.body) == ("POST", '{"a":1}')
    assert asked.headers == {
        "Authorization": "Basic YW5uOnM6Y3JldA==",
        "User-Agent": "probe/1",
        "Content-Type": "application/json",
        "Accept": "application/json",
    }
    own = request(json_body="[]", headers=["content-type: application/ld+json", ("Accept", "*/*")])
    assert own.headers == {"content-type": "application/ld+json", "Accept": "*/*"}
    twice = request(user="a:b", agent="c", headers=["authorization: x", "User-Agent: y"])
    assert twice.headers == {"authorization": "x", "User-Agent": "y"}
    for wrong, says in (
        ({"user": "ann"}, "user: the password of 'ann' is missing"),
        ({"json_body": "{}", "body": "x"}, "-b and json_body both say what is sent"),
    ):
        with pytest.raises(PlanError, match=says):
            request(**wrong)


def test_what_is_no_text_is_a_body_in_hexadecimal() -> None:
    (asked,) = engine(request_of('{ post = "/", body-hex = "89 50ff00", headers = { User-Agent = [] } }'))[
        "requests"
    ]
    assert (base64.b64decode(asked["body_base64"]), asked["headers"]) == (b"\x89P\xff\0", [])
    assert asked["left_out"] == ["User-Agent"]
    for wrong, says in (
        ('body-hex = "0g"', "is not hexadecimal"),
        ('body-hex = "00", body = "x"', "body and body-hex both say what to send"),
        ("headers = { host = [] }", "has a Host"),
    ):
        with pytest.raises(PlanError, match=says):
            request_of(f'{{ post = "/", {wrong} }}')


GIVEN: dict[str, Any] = {
    "seed": 7,
    "threads": 2,
    "processes": 3,
    "busy_poll": "never",
    "cluster": "10.0.0.1:6379",
    "allow_targets": ["10.0.0.2"],
    "clients": 5,
    "requests": 9,
    "seconds": "3s",
    "think": "1s",
    "keep_alive": False,
    "requests_per_connection": 1,
    "requests_per_client": 4,
    "renew": True,
    "headers": ["A: b"],
    "body": "x",
    "timeout": "4s",
    "first_byte_timeout": "2s",
    "connect_timeout": "1s",
    "warm_up": "2s",
    "body_limit": 100,
    "redirects": 3,
    "rows": True,
    "connect_to": ["127.0.0.1:1"],
    "source_addresses": ["127.0.0.2"],
    "nodelay": False,
    "server_name": "s",
    "tls_version": "1.3",
    "resume": True,
    "stream": "lines",
    "stream_events": 7,
    "stream_until": "[DONE]",
    "stream_first": "json:/content",
    "stream_fails": "no memory",
    "stream_usage": r"n=(\d+)",
    "stall": "5s",
}
ELSEWHERE = {
    *(
        "rate",
        "arrivals",
        "journey",
        "method",
        "expect",
        "expect_not",
        "expect_status",
        "insecure",
        "ca",
        "cert",
        "key",
    ),
    *("slo", "send", "match", "compressed", "resolve_each", "user", "agent", "json_body", "urls"),
    *("slo", "send", "match", "until", "http2", "http2_connections"),
    *("proto", "import_path", "message", "deadline", "every", "ping"),
}
"""Tested above, or with what they belong to."""


def test_every_option_reaches_its_place() -> None:
    assert {*GIVEN, *ELSEWHERE} == {*PLACES}
    plan = plan_for("https://localhost/", **GIVEN).data()
    for option, value in GIVEN.items():
        found: Any = plan
        for table in PLACES[option].split("."):
            found = found[table][0] if table == "request" else found[table]
        assert found == ({"A": "b"} if option == "headers" else value), option


def test_a_host_may_be_resolved_for_every_connection() -> None:
    assert hit("http://localhost/", resolve_each=True).connection.resolve_each
    assert not hit("http://localhost/").connection.resolve_each


@pytest.mark.parametrize("method", ["PURGE", "PROPFIND", "QUERY", "M-SEARCH", "TRACE", "purge"])
def test_methods_are_extensible(method: str) -> None:
    asked = request("http://localhost/x", method=method)
    assert (asked.method, asked.path, asked.label) == (method, "/x", f"{method} /x")
    assert plan_for("http://localhost/x", method=method).data()["workload"]["hit"]["request"][0] == (
        request("http://localhost/x", method=method).data()
    )


def test_threads_have_as_many_of_the_shared_connections_each() -> None:
    of = [Connection(http2=Http2(connections=n)) for n in (1, 4, 6, 7)]
    assert [connection.threads(4) for connection in of] == [1, 4, 3, 1]
    assert Connection(http2=Http2()).threads(4) == Connection().threads(4) == 4


def test_http2_with_a_connection_for_each_client_or_shared_ones() -> None:
    assert hit("http://localhost/", http2=False).connection.http2 is None
    assert hit("http://localhost/", http2=True).connection.http2 == Http2()
    shared = hit("http://localhost/", http2_connections="2", clients=10)
    assert shared.connection.http2 == Http2(connections=2)
    assert shared.min_connections({}) == 2
    with pytest.raises(PlanError, match=r"3 connections for 2 clients") as refused:
        hit("http://localhost/", http2=True, http2_connections=3, clients=2)
    assert refused.value.hint == "a client has one at most: connections = 2"
    with pytest.raises(PlanError, match=r"keep-alive = false is for connections of one client each"):
        hit("http://localhost/", http2_connections=2, keep_alive=False)
    with pytest.raises(PlanError, match=r"a WebSocket is opened over HTTP/1.1 only"):
        hit("ws://localhost/", http2=True, send="hi")


def test_an_insecure_server_may_be_one_without_tls() -> None:
    assert hit("http://localhost/", insecure=True, resume=False).connection.tls is None
    assert hit("https://localhost/", insecure=True).connection.tls.verify is False  # type: ignore[union-attr]
    with pytest.raises(PlanError, match="does not use TLS"):
        hit("http://localhost/", resume=True)


def test_journeys_of_a_file_take_the_place_of_the_request(tmp_path: Path) -> None:
    (tmp_path / "users.csv").write_text("user\nann\n", encoding="utf-8")
    file = tmp_path / "buy.toml"
    file.write_text('[journey.buy]\nfeed = { csv = "users.csv" }\nsteps = [{ get = "/{user}" }]\n', "utf-8")
    plan = hit_plan("http://localhost/", {"journey": file, "requests": 100, "clients": 5, "seed": 3})
    workload = plan.workload["hit"]
    assert (workload.journeys, workload.request) == ({"buy": 1}, [])
    assert (workload.load.iterations, workload.load.requests) == (100, None)
    assert plan.journey["buy"].feed[0].path == tmp_path / "users.csv"


def test_a_file_without_journeys_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "buy.toml"
    file.write_text("title = 1\n", encoding="utf-8")
    with pytest.raises(PlanError, match="has no journey"):
        hit_plan("http://localhost/", {"journey": file})
    with pytest.raises(PlanError, match="cannot be read"):
        hit_plan("http://localhost/", {"journey": tmp_path / "none.toml"})
    with pytest.raises(PlanError, match="/dev/zero cannot be read: it is not a regular file"):
        hit_plan("http://localhost/", {"journey": "/dev/zero"})
    with pytest.raises(PlanError, match="both say what is sent"):
        hit_plan("http://localhost/", {"journey": file, "body": "x"})


def test_a_server_s_process_can_be_named_to_be_watched() -> None:
    (contestant,) = hit_plan("http://127.0.0.1:9/", {"pid": 42}).contestant.values()
    assert contestant.pid == 42

"""Journeys in plans: what they mean, and what is wrong with those that cannot be."""

import base64
import zlib
from pathlib import Path
from typing import Any

import pytest

import jostle
from jostle.errors import PlanError
from jostle.generator.files_and_ports import connections_of
from jostle.generator.spec.address import Address
from jostle.generator.spec.recorded import without_secrets
from jostle.generator.spec.run import engine_spec
from jostle.plan import Plan, parse_plan, to_toml
from jostle.plan.hit.plan import hit_plan
from jostle.plan.journeys.journey import Journey, Step
from jostle.plan.journeys.when import When
from jostle.plan.requests.request import METHODS

PLAN = """
title = "A shop"
contestants = ["node"]

[workload.shop]
journeys = { buy = 3, browse = 7 }
load = { clients = 10, for = "5s" }

[journey.buy]
cookies = true
feed = [{ csv = "users.csv", each = "client" }, { jsonl = "words.jsonl", order = "random" }]
steps = [
  { name = "login", post = "/login", json = { user = "{user}", password = "{password}" }, capture = { token = "json:/token" }, once-per-client = true },
  { name = "search", get = "/search?q={word}", capture = { id = 'regex:item/(\\d+)' }, on-capture-failed = "ignore", think = "1s ± 20%" },
  { name = "order", post = "/orders/{id}", form = { "a b" = "{id}&", n = "{random:1..6}" }, headers = { Authorization = "Bearer {token}" }, when = "{id} exists", repeat = 2 },
]

[journey.browse]
steps = [{ get = "/" }, { get = "/{now}", expect = 200 }]
"""  # noqa: E501


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "users.csv").write_text('user,password,unused\nann,"a,1",x\nbob,b2,y\n', encoding="utf-8")
    (tmp_path / "words.jsonl").write_text('{"word": "tea"}\n\n{"word": 7, "more": []}\n', encoding="utf-8")
    return tmp_path


def read(folder: Path, text: str = PLAN) -> Plan:
    return parse_plan(text, "plan.toml", base=folder)


def spec_of(plan: Plan) -> dict[str, Any]:
    spec = engine_spec("shop", plan.workload["shop"], Address(host="h", port=80), journeys=plan.journey)
    workload: dict[str, Any] = spec["workloads"][0]
    return workload


def test_a_step_may_stop_the_journey_by_what_it_has_just_captured(folder: Path) -> None:
    text = PLAN.replace("once-per-client = true", 'stop-when = "{token} is missing"')
    step = spec_of(read(folder, text))["journeys"][0]["steps"][0]
    assert step["stop_when"] == {
        "value": {"slot": {"slot": step["capture"][0]["slot"], "written": "escaped"}},
        "test": "missing",
    }
    assert read(folder).journey["buy"].steps[0].stop_when is None


def packed(values: list[str]) -> dict[str, Any]:
    """`FeedRows` of the engine, of values shorter than 128 bytes."""
    plain = b"".join(bytes([len(value.encode())]) + value.encode() for value in values)
    return {"count": len(values), "zlib_base64": base64.b64encode(zlib.compress(plain)).decode()}


def test_long_values_stand_behind_a_long_length(folder: Path) -> None:
    (folder / "words.jsonl").write_text(f'{{"word": "{300 * "x"}"}}\n' * 1000, encoding="utf-8")
    rows = spec_of(read(folder))["journeys"][0]["feeds"][1]["rows"]
    assert rows["count"] == 1000
    plain = zlib.decompress(base64.b64decode(rows["zlib_base64"]))
    assert plain == (b"\xac\x02" + 300 * b"x") * 1000


def test_names_become_slots_and_files_become_rows(folder: Path) -> None:
    workload = spec_of(read(folder))
    buy, browse = workload["journeys"]
    assert [(j["name"], j["weight"]) for j in (buy, browse)] == [("buy", 3), ("browse", 7)]
    names = [request["name"] for request in workload["requests"]]
    assert names == ["buy: login", "buy: search", "buy: order", "browse: /", "browse: /{now}"]
    login, search, order = workload["requests"][:3]
    slots = {name: param["slot"]["slot"] for name, param in login["params"].items()}
    assert set(slots) == {"user", "password"}
    token = buy["steps"][0]["capture"][0]
    expected = {
        "name": "token",
        "slot": token["slot"],
        "from": {"json": "/token"},
        "base": None,
        "limit": None,
    }
    assert token == expected
    assert order["params"]["token"] == {"slot": {"slot": token["slot"], "written": "escaped"}}
    assert order["params"]["random:1..6"] == {"range": {"from": 1, "to": 6}}
    found = buy["steps"][1]["capture"][0]
    assert buy["steps"][2]["when"] == {
        "value": {"slot": {"slot": found["slot"], "written": "escaped"}},
        "test": "exists",
    }
    assert buy["feeds"] == [
        {
            "each": "client",
            "order": "in-turn",
            "columns": [slots["user"], slots["password"]],
            "rows": packed(["ann", "a,1", "bob", "b2"]),
        },
        {
            "each": "iteration",
            "order": "random",
            "columns": [search["params"]["word"]["slot"]["slot"]],
            "rows": packed(["tea", "7"]),
        },
    ]
    assert login["cookies"]
    assert not workload["requests"][3]["cookies"]
    assert workload["slots"] == 6  # five names, and that the login was done
    assert buy["steps"][2]["repeat"] == 2
    assert buy["steps"][1]["think"] != "none"


def test_bodies_have_their_content_type_and_forms_are_encoded(folder: Path) -> None:
    import base64

    login, _, order = spec_of(read(folder))["requests"][:3]
    assert login["fill"] == "json"
    assert ["Content-Type", "application/json"] in login["headers"]
    body = base64.b64decode(login["body_base64"]).decode()
    assert body == '{"user":"{user}","password":"{password}"}'
    assert base64.b64decode(order["body_base64"]).decode() == "a+b={id}%26&n={random:1..6}"
    assert ["Content-Type", "application/x-www-form-urlencoded"] in order["headers"]


def test_a_plan_with_journeys_is_written_as_it_was_read(folder: Path) -> None:
    plan = read(folder)
    again = parse_plan(to_toml(plan), "written")
    assert again == plan


def test_neither_rows_nor_passwords_are_recorded(folder: Path) -> None:
    plan = read(folder)
    spec = engine_spec("shop", plan.workload["shop"], Address(host="h", port=80), journeys=plan.journey)
    recorded = str(without_secrets(spec))
    assert "a,1" not in recorded
    assert "ann" not in recorded
    assert "json:/token" in to_toml(plan)


def test_a_journey_may_be_named_alone(folder: Path) -> None:
    plan = read(folder, PLAN.replace("{ buy = 3, browse = 7 }", '"browse"'))
    assert [r["name"] for r in spec_of(plan)["requests"]] == ["/", "/{now}"]


def test_an_open_load_ends_with_the_rows_that_come_once(folder: Path) -> None:
    text = PLAN.replace('each = "client"', 'each = "client", order = "once"')
    text = text.replace("clients = 10,", 'rate = "10/s",')
    assert spec_of(read(folder, text))["load"]["open"]["requests"] == 2


def test_a_variable_alone_is_a_url_relative_to_the_response_that_it_comes_from(folder: Path) -> None:
    workload = spec_of(read(folder, PLAN.replace('"/orders/{id}"', '"{id}"')))
    login, search, order = workload["journeys"][0]["steps"]
    (captured,) = search["capture"]
    assert order["url"] == {"slot": captured["slot"], "base": captured["base"]}
    assert login["url"] is None
    assert login["capture"][0]["base"] is None
    assert captured["base"] < workload["slots"]
    assert workload["requests"][2]["path"] == "/"
    assert workload["redirects"] == {"most": 0, "hosts": []}
    assert spec_of(read(folder))["redirects"] is None


def test_a_url_of_a_feed_is_relative_to_the_server(folder: Path) -> None:
    workload = spec_of(read(folder, PLAN.replace('"/search?q={word}"', '"{word}"')))
    assert workload["journeys"][0]["steps"][1]["url"]["base"] is None


def test_only_a_step_asks_for_a_url_that_it_captured() -> None:
    text = (
        PLAN[: PLAN.index("journeys =")] + 'request = { get = "{next}" }\nload = { clients = 1, for = "1s" }'
    )
    with pytest.raises(PlanError) as refused:
        parse_plan(text, "plan.toml")
    assert "{next} in the path has no value" in refused.value.message


@pytest.mark.parametrize("path", ["/{word}", "/{word:raw}"])
@pytest.mark.parametrize("value", ["/items/1", "http://h/items/1"])
def test_a_whole_path_of_a_feed_does_not_follow_a_slash(folder: Path, path: str, value: str) -> None:
    plan = read(folder, PLAN.replace('"/search?q={word}"', f'"{path}"'))
    spec_of(plan)  # other values may stand there
    (folder / "words.jsonl").write_text(f'{{"word": "{value}"}}\n')
    with pytest.raises(PlanError, match="column word") as refused:
        spec_of(plan)
    assert refused.value.hint == 'write "{word}" in place of "/{word}"'


@pytest.mark.parametrize(("path", "anywhere"), [("`/a/{x}`", False), ("x", True), ("`{x}`", True)])
def test_a_script_that_may_ask_for_urls_says_to_which_hosts(folder: Path, path: str, anywhere: bool) -> None:
    (folder / "s.luau").write_text(f'return function() local x = "/" http.get({path}, {{ name = "n" }}) end')
    plan = read(
        folder,
        PLAN[: PLAN.index("[journey.buy]")]
        + '[journey.buy]\nscript = "s.luau"\n'
        + PLAN[PLAN.index("[journey.browse]") :],
    )
    assert spec_of(plan)["redirects"] == ({"most": 0, "hosts": []} if anywhere else None)


WRONG = [
    ("{word}", "{wrd}", "step 2 (search): {wrd} is not known", "did you mean 'word'"),
    (', when = "{id} exists"', "", "needs {id}, which may not be there", 'when = "{id} exists"'),
    ("/search?q={word}", "/search?q={id}", "step 2 (search): {id} is captured itself", "change the order"),
    ("{user}", "{id}", "{id} is captured only by the step 'search', which comes later", "change the order"),
    ('"{id} exists"', '"id exists"', "'id exists' is not a condition", "{x} exists"),
    ('"{id} exists"', '"{id} > many"', "'many' is not a number", "{x} > 0"),
    ('"{id} exists"', '"{ix} exists"', "{ix} is not known", "did you mean 'id'"),
    ("json:/token", "jsn:/token", "does not say what to keep of a response", "json:/user/token"),
    ("json:/token", "json:token", "a JSON pointer begins with /", "json:/items"),
    ('"/orders/{id}"', '"{id:raw}"', "{id:raw}: a whole URL is never escaped", 'write "{id}"'),
    ('"/orders/{id}"', '"{uuid}"', "{uuid} is not a URL", "/{uuid}"),
    ('"/orders/{id}"', '"{id}?page=2"', "'{id}?page=2' does not begin with /", "stands alone"),
    ('"/orders/{id}"', '"http://h/"', "http://h:80/ is a whole URL", "write the path only: '/'"),
    (
        '"/orders/{id}"',
        '"http://ann:secret@h/x"',
        "http://h:80/x is a whole URL",
        "write the path only: '/x'",
    ),
    ('"/search?q={word}"', '"{wrd}"', "{wrd} is not known", "did you mean 'word'"),
    ('post = "/login", json', 'ws = "{user}", send', "{user} is no path of a WebSocket", "/chat/{name}"),
    ("item/(", "item/((", "is not a regular expression", ""),
    ("item/(", "(?=item/)(", "looks around or refers back", "group"),
    ("browse = 7", "brows = 7", "there is no journey 'brows'", "did you mean 'browse'?"),
    (
        "once-per-client = true",
        'once-per-client = true, stop-when = "{tokn} exists"',
        "{tokn} is not known",
        "did you mean 'token'",
    ),
    (
        "once-per-client = true",
        'stop-when = "{id} exists"',
        "captured only by the step 'search'",
        "the order",
    ),
    ("{random:1..6}", "{random:6..1}", "is not a range of whole numbers", "{random:1..100}"),
    ("repeat = 2", "repeat = 0", "zero", "at least 1"),
    (
        "once-per-client = true",
        "once-per-client = true, repeat = 2",
        "once-per-client and repeat",
        "leave one",
    ),
    ("json = {", 'body = "x", json = {', "body and json all say what to send", "give one"),
    ('name = "search", get', 'name = "login", get', "2 steps have the name 'login'", "give each its own"),
    ('jsonl = "words.jsonl"', 'jsonl = "words.jsonl", csv = "users.csv"', "a feed reads one file", ""),
    ('jsonl = "words.jsonl"', 'jsonl = "words.json"', "there is no file", ""),
    ("clients = 10,", "clients = 10, requests = 9,", "requests where journeys are sent", "iterations = 100"),
]


@pytest.mark.parametrize(("right", "wrong", "message", "hint"), WRONG)
def test_a_journey_that_cannot_be_is_refused_and_the_message_says_why(
    folder: Path, right: str, wrong: str, message: str, hint: str
) -> None:
    assert right in PLAN
    with pytest.raises(PlanError) as refused:
        read(folder, PLAN.replace(right, wrong, 1))
    assert message in refused.value.message
    assert hint in refused.value.hint


PAGE = """
title = "A page"
contestants = ["node"]

[workload.page]
journeys = "page"
load = { clients = 10, for = "5s" }

[journey.page]
connections = 6
steps = [
  { name = "page", get = "/", capture = { v = "header:ETag" } },
  { parallel = [
      { name = "style", get = "/{v}/a.css", capture = { font = "regex:url" } },
      { name = "script", get = "/b.js", once-per-client = true },
      { name = "image", get = "/c.png", on-failure = "go-on" },
    ], think = "2s" },
  { name = "font", get = "/{font}" },
]
"""


def test_steps_that_are_sent_together_stand_behind_one_another() -> None:
    plan = parse_plan(PAGE, "plan.toml")
    assert parse_plan(to_toml(plan), "written") == plan
    workload = plan.workload["page"]
    spec = engine_spec("page", workload, Address(host="h", port=80), journeys=plan.journey)
    measured = spec["workloads"][0]
    (journey,) = measured["journeys"]
    assert journey["connections"] == 6
    names = [request["name"] for request in measured["requests"]]
    assert names == ["page", "style", "script", "image", "font"]
    assert [step["together"] for step in journey["steps"]] == [False, False, True, True, False]
    thinks = [step["think"] for step in journey["steps"]]
    assert thinks == ["none", "none", "none", {"constant": {"ns": 2_000_000_000}}, "none"]
    assert workload.min_connections(plan.journey) == 60
    assert connections_of(measured) == 60


@pytest.mark.parametrize("connections", ["connections = 6\n", ""])
def test_over_http2_what_is_sent_together_goes_over_one_connection(connections: str) -> None:
    text = PAGE.replace("connections = 6\n", connections)
    text = text.replace("clients = 10,", 'rate = "10/s", max-connections = 5,')
    plan = parse_plan(text.replace('for = "5s" }', 'for = "5s" }\nconnection = { http2 = {} }'), "plan.toml")
    workload = plan.workload["page"]
    spec = engine_spec("page", workload, Address(host="h", port=80), journeys=plan.journey)
    (measured,) = spec["workloads"]
    assert measured["journeys"][0]["connections"] == 1
    assert measured["load"]["open"]["max_connections"] == 5
    assert connections_of(measured) == 5
    assert workload.connections_of_a_client(plan.journey) == 1


def test_a_client_has_as_many_of_an_open_load_s_connections() -> None:
    text = PAGE.replace("clients = 10,", 'rate = "10/s", max-connections = 20,')
    plan = parse_plan(text, "plan.toml")
    spec = engine_spec("page", plan.workload["page"], Address(host="h", port=80), journeys=plan.journey)
    assert spec["workloads"][0]["load"]["open"]["max_connections"] == 3, "each has 6"


def test_calls_of_grpc_are_sent_together_as_streams_of_one_connection(tmp_path: Path) -> None:
    call = f'grpc = "a.B/C", proto = "{tmp_path}/c.proto"'
    (tmp_path / "c.proto").write_text("""syntax = "proto3"; package a;
message M {} service B { rpc C(M) returns (M); }""")
    text = f"""
title = "x"
contestants = ["go-grpc"]
[journey.both]
steps = [{{ parallel = [{{ name = "one", {call} }}, {{ name = "two", {call} }}] }}]
[workload.both]
journeys = "both"
load = {{ clients = 2, for = "5s" }}
"""
    plan = parse_plan(text, "plan.toml")
    measured = engine_spec("both", plan.workload["both"], Address(host="h", port=80), journeys=plan.journey)
    steps = measured["workloads"][0]["journeys"][0]["steps"]
    assert [step.get("together", False) for step in steps] == [False, True]


WRONG_GROUPS = [
    ("connections = 6\n", "", "over one connection of HTTP/1.1 nothing is sent together", "connections = 6"),
    (
        "/b.js",
        "/{font}.js",
        "{font} is captured by 'style', which is sent at the same time",
        "out of parallel",
    ),
    ("once-per-client = true", 'when = "{font} exists"', "is sent at the same time", "out of parallel"),
    ("once-per-client = true", 'capture = { font = "status" }', "2 steps capture 'font'", "its own name"),
    ("once-per-client = true", 'think = "1s"', "script: think is not for a step within", "beside parallel"),
    ("once-per-client = true", "repeat = 2", "repeat is not for a step within parallel", "leave out repeat"),
    (
        "once-per-client = true",
        'stop-when = "{v} exists"',
        "stop-when is not for a step within parallel",
        "leave out stop-when",
    ),
    ("once-per-client = true", "parallel = []", "there is no key 'parallel' here", ""),
    ('name = "image"', 'name = "style"', "2 steps have the name 'style'", "give each its own"),
    ('/{font}"', '/{fnt}"', "{fnt} is not known", "did you mean 'font'"),
    (
        'for = "5s" }',
        'for = "5s", requests-per-connection = 9 }\nconnection = { http2 = {} }',
        "requests-per-connection does not go with streams that are sent together",
        "leave it out, or parallel",
    ),
    ("clients = 10,", 'rate = "10/s", max-connections = 5,', "a client of its journeys has 6", "6 or more"),
]


@pytest.mark.parametrize(("right", "wrong", "message", "hint"), WRONG_GROUPS)
def test_a_group_that_cannot_be_is_refused(right: str, wrong: str, message: str, hint: str) -> None:
    assert right in PAGE
    with pytest.raises(PlanError) as refused:
        parse_plan(PAGE.replace(right, wrong, 1), "plan.toml")
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_more_connections_than_one_are_for_groups() -> None:
    text = PLAN.replace("[journey.browse]", "[journey.browse]\nconnections = 6")
    with pytest.raises(PlanError, match="connections: without parallel a client sends one request at a time"):
        parse_plan(text, "plan.toml")


def test_a_journey_whose_steps_may_all_be_passed_over_is_refused() -> None:
    text = PLAN.replace('steps = [{ get = "/" }', 'steps = [{ get = "/", once-per-client = true }')
    with pytest.raises(PlanError, match="without an end"):
        parse_plan(text.replace('{ get = "/{now}", expect = 200 }', ""), "plan.toml")


def test_broken_lines_are_named_by_their_number(folder: Path) -> None:
    plan = read(folder)
    users, words = folder / "users.csv", folder / "words.jsonl"
    users.write_text("user,password\nann,1\nbob\n", encoding="utf-8")
    with pytest.raises(PlanError, match=r"users.csv, line 3: 1 values for 2 columns"):
        spec_of(plan)
    users.write_text("user,password\nann,1\n", encoding="utf-8")
    words.write_text('{"word": "tea"}\n{"wort": "tea"}\n', encoding="utf-8")
    with pytest.raises(PlanError, match=r"words\.jsonl, line 2: there is no 'word'"):
        spec_of(plan)
    words.write_text('{"word": "tea"}\n{"word"\n', encoding="utf-8")
    with pytest.raises(PlanError, match=r"words\.jsonl, line 2: not JSON"):
        spec_of(plan)
    users.write_text("user,password\n", encoding="utf-8")
    with pytest.raises(PlanError, match=r"users\.csv has no rows"):
        spec_of(plan)


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("{x} exists", "exists"),
        ("{x} is missing", "missing"),
        ('{x} == "a b"', {"equals": "a b"}),
        ("{x} != a", {"differs": "a"}),
        ("{x} contains 'a'", {"contains": "a"}),
        ("{x} > 0", {"above": 0.0}),
        ("{x} >= 1.5", {"at-least": 1.5}),
        ("{x} < -1", {"below": -1.0}),
        ("{x} <= 1e3", {"at-most": 1000.0}),
    ],
)
def test_conditions_are_read(text: str, test: Any) -> None:
    read = When.read(text)
    assert (read.name, read.test) == ("x", test)


def test_a_journey_built_in_python_is_that_of_the_plan(folder: Path) -> None:
    built = (
        jostle.journey("buy")
        .cookies()
        .feed(folder / "users.csv", each="client")
        .post("/login", name="login", json={"user": "{user}"})
        .capture(token="json:/token")
        .once_per_client()
        .get("/search?q={user}")
        .capture(id=r"regex:item/(\d+)")
        .think("1s ± 20%")
        .post("/orders/{id}", headers={"Authorization": "Bearer {token}"}, expect={"status": 201})
        .when("{id} exists")
        .repeat(2)
    )
    plan = hit_plan("http://localhost/", {"journey": built})
    found = plan.journey["buy"]
    assert found.cookies
    assert found.feed[0].each == "client"
    assert [step.label for step in found.steps] == ["login", "/search?q={user}", "POST /orders/{id}"]
    assert found.steps[0].once_per_client
    assert found.steps[2].repeat == 2
    with pytest.raises(PlanError, match="there is no step yet"):
        jostle.journey("empty").think("1s")


def test_every_key_of_a_journey_can_be_given_in_python() -> None:
    made = set(Journey.keys()) - {"steps"} | {*METHODS, "request", "grpc", "ws"}
    kept = set(Step.keys()) - {*METHODS, "method", "path", "grpc", "ws"}
    assert made <= set(dir(jostle.journey("buy")))
    keys = dict.fromkeys((key.replace("-", "_") for key in kept), "x")
    (step,) = jostle.journey("buy").grpc("a.B/C", **keys).table()["steps"]
    assert set(step) == {"grpc", *kept}
    (step,) = jostle.journey("buy").post("/", json=None, body="x").table()["steps"]
    assert set(step) == {"post", "body"}, "None is not given"


def test_a_script_and_a_hurl_file_are_journeys_in_python(folder: Path) -> None:
    (folder / "buy.luau").write_text('return function() http.get("/") end', encoding="utf-8")
    (folder / "buy.hurl").write_text("GET http://localhost/\n", encoding="utf-8")
    script = jostle.journey("buy").script(folder / "buy.luau").cookies().feed(folder / "users.csv")
    found = hit_plan("http://localhost/", {"journey": script}).journey["buy"]
    assert (found.script, found.cookies, len(found.feed)) == (folder / "buy.luau", True, 1)
    hurl = jostle.journey("buy").hurl(folder / "buy.hurl")
    found = hit_plan("http://localhost/", {"journey": hurl}).journey["buy"]
    assert ([step.label for step in found.steps], found.cookies) == (["/"], True)
    assert not hit_plan("http://localhost/", {"journey": hurl.cookies(False)}).journey["buy"].cookies
    with pytest.raises(PlanError, match="steps and script both say what is sent"):
        hit_plan("http://localhost/", {"journey": script.get("/")})
    with pytest.raises(PlanError, match="no_such"):
        hit_plan("http://localhost/", {"journey": jostle.journey("buy").script("no_such.luau")})


def test_the_how_to_page_shows_a_plan_that_can_be_read(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "journeys.md"
    text = page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    (tmp_path / "users.csv").write_text("user,password,word\nann,x,tea\n", encoding="utf-8")
    assert set(parse_plan(text, "page", base=tmp_path).journey) == {"buy", "browse"}


CHAT = """
title = "A chat"
contestants = ["node"]

[workload.chat]
journeys = "chat"
load = { clients = 10, for = "5s" }

[journey.chat]
steps = [
  { name = "login", post = "/login", capture = { token = "json:/token" } },
  { name = "join", ws = "/chat?room={client}", headers = { Authorization = "Bearer {token}" }, ping = "20s", send = { join = "{token}" }, capture = { id = "json:/id" } },
  { name = "say", ws = "/chat?room={client}", headers = { Authorization = "Bearer {token}" }, ping = "20s", send = "{id} says", match = "echo", close = true },
]
"""  # noqa: E501


def test_messages_are_steps_over_a_socket_of_the_client() -> None:
    plan = parse_plan(CHAT, "plan.toml")
    assert parse_plan(to_toml(plan), "written") == plan
    workload = plan.workload["chat"]
    spec = engine_spec("chat", workload, Address(host="h", port=80), journeys=plan.journey)
    measured = spec["workloads"][0]
    _, join, say = measured["requests"]
    assert (join["fill"], base64.b64decode(join["body_base64"])) == ("json", b'{"join": "{token}"}')
    assert (join["method"], join["path"]) == ("GET", "/chat?room={client}")
    assert join["websocket"] == {"message": "text", "match": "order", "ping_ns": 20_000_000_000}
    assert (say["fill"], say["websocket"]["match"]) == ("text", "echo")
    token = measured["journeys"][0]["steps"][0]["capture"][0]["slot"]
    assert join["params"] == {"client": "client", "token": {"slot": {"slot": token, "written": "escaped"}}}
    assert [step["close"] for step in measured["journeys"][0]["steps"]] == [False, False, True]
    assert workload.min_connections(plan.journey) == 20, "each has one for HTTP, and its socket"
    assert connections_of(measured) == 20


WRONG_SOCKETS = [
    ('send = "{id} says"', 'body = "x"', "has messages and no body", "send"),
    ('send = "{id} says"', 'send = "{idd} says"', "{idd} is not known", "did you mean 'id'"),
    ('ping = "20s", send = "{id} says"', 'send = "x"', "a client has one WebSocket", "same ws"),
    ('capture = { id = "json:/id" }', 'capture = { id = "header:X" }', "no headers", "json:/id"),
    ('send = "{id} says"', 'send = "x", json = 1', "a message has none", "send"),
    ('capture = { token = "json:/token" }', "close = true", "close is for a WebSocket", "ws"),
    ('capture = { token = "json:/token" }', 'send = "x"', "send is for a WebSocket", "ws"),
    ('post = "/login"', 'grpc = "a.B/C"', "over HTTP/1.1 only", "another workload of the calls"),
    (
        'for = "5s" }',
        'for = "5s" }\nconnection = { http2 = {} }',
        "over HTTP/1.1 only",
        "leave out http2",
    ),
    (
        "steps = [\n",
        'connections = 2\nsteps = [{ parallel = [{ get = "/" }, { ws = "/", send = "x" }] },\n',
        "ws is not for a step within parallel",
        "leave out ws",
    ),
]


@pytest.mark.parametrize(("right", "wrong", "message", "hint"), WRONG_SOCKETS)
def test_a_message_that_cannot_be_is_refused(right: str, wrong: str, message: str, hint: str) -> None:
    assert right in CHAT
    with pytest.raises(PlanError) as refused:
        parse_plan(CHAT.replace(right, wrong, 1), "plan.toml")
    assert message in refused.value.message
    assert hint in refused.value.hint

"""Plans that cannot run: each mistake is told with its place, what was given, and what to write instead."""

import os
from pathlib import Path

import pytest

from jostle.errors import PlanError, UserError
from jostle.plan import load_plan, parse_plan
from jostle.plan.loading import parse_toml

PLAN = """
title = "x"
contestants = ["node", "go"]
rounds = 5

[workload.crowd]
request = { get = "/hello" }
load = { clients = 50, for = "5s", think = "1s" }
"""


def refusal(text: str) -> PlanError:
    with pytest.raises(PlanError) as refused:
        parse_plan(text, "plan.toml")
    return refused.value


def test_broken_toml_is_shown_with_line_column_and_caret() -> None:
    error = refusal(PLAN.replace("rounds = 5", "rounds = = 5"))
    assert error.message == "plan.toml, line 4, column 10: invalid value"
    assert error.hint == "    4 | rounds = = 5\n      |          ^"


def test_a_text_that_is_not_closed_is_told_at_the_end_of_the_plan() -> None:
    error = refusal('title = """x\n')
    assert error.message.startswith("plan.toml, line 1, column 13: ")
    assert error.hint.splitlines()[0] == '    1 | title = """x'


def test_a_workload_that_stands_there_twice_has_its_line() -> None:
    error = refusal(PLAN + "[workload.crowd]\n")
    assert error.message.startswith("plan.toml, line 9, column")


def with_load(load: str) -> str:
    return PLAN.replace('{ clients = 50, for = "5s", think = "1s" }', load)


def with_request(request: str) -> str:
    return PLAN.replace('{ get = "/hello" }', request)


CROWD = "plan.toml: workload.crowd"
REFUSED = [
    (PLAN.replace("rounds", "runds"), "plan.toml: there is no key 'runds' here", "'rounds'"),
    (
        with_load('{ clients = 50, for = "5s", thnk = "1s" }'),
        f"{CROWD}.load: there is no key 'thnk' here",
        "'think'",
    ),
    (with_load('{ rat = "5/s", for = "5s" }'), f"{CROWD}.load: there is no key 'rat' here", "'rate'"),
    (
        PLAN + 'background = { gett = "/", clients = 1 }',
        f"{CROWD}.background: there is no key 'gett' here",
        "'get'",
    ),
    (
        with_load('{ clients = 50, for = "5s", think = "900" }'),
        f"{CROWD}.load.think: '900' has no unit",
        '"900ms ± 10%"',
    ),
    (
        with_load('{ clients = 50, for = "5s", think = 900 }'),
        f"{CROWD}.load.think: 900 is not a think time",
        '"1s"',
    ),
    (
        with_load('{ clients = 50, for = "5s", think = "uniform 2s..1s" }'),
        "ends before it begins",
        "uniform 0s..1s",
    ),
    (with_load("{ clients = 50, for = 5 }"), f"{CROWD}.load.for: 5 has no unit of time", '"5s"'),
    (with_load('{ clients = 50, for = "0s" }'), f"{CROWD}.load.for: a time of zero", '"5s"'),
    (with_load('{ clients = 0, for = "5s" }'), f"{CROWD}.load.clients: zero", "at least 1"),
    (with_load('{ clients = -5, for = "5s" }'), f"{CROWD}.load.clients: -5 is negative", "50"),
    (with_load('{ clients = 1.5, for = "5s" }'), f"{CROWD}.load.clients: 1.5 is not a whole number", "50"),
    (with_load('{ clients = true, for = "5s" }'), f"{CROWD}.load.clients: true is not a whole number", "50"),
    (with_load("{ clients = 50 }"), f"{CROWD}: the load has no end", 'for = "10s"'),
    (with_load('{ for = "5s" }'), f"{CROWD}.load: how many clients, or which rate?", "clients = 50"),
    (
        with_load('{ clients = 50, rate = "5/s", for = "5s" }'),
        f"{CROWD}.load: clients and rate together",
        "a closed load (clients) or an open one (rate)",
    ),
    (with_load('{ rate = 5, for = "5s" }'), f"{CROWD}.load.rate: 5 does not say per what time", '"1000/s"'),
    (
        with_load('{ rate = "0/s", for = "5s" }'),
        f"{CROWD}.load.rate: a rate of zero sends nothing",
        '"1000/s"',
    ),
    (
        with_load('{ rate = "5/s", arrivals = "evenly", for = "5s" }'),
        '"evenly" is not an arrival process',
        '"poisson"',
    ),
    (with_load('{ arrivals = "poisson", for = "5s" }'), f"{CROWD}.load: at which rate?", 'rate = "1000/s"'),
    (with_load('{ rate = "5/s", rates = [{ rate = "5/s" }] }'), "rate and rates together", "rate"),
    (
        with_load('{ rate = "5/s", arrivals = { trace = "t" } }'),
        "a trace and rate both say",
        "give one of them",
    ),
    (
        with_load('{ rates = [{ rate = "5/s" }, { for = "1s", rate = "5/s" }] }'),
        "only the last of the rates",
        "for",
    ),
    (
        with_load('{ rates = [{ for = "9s", rate = "5/s" }], for = "5s" }'),
        "the rates last longer than for",
        "for",
    ),
    (
        with_load('{ rates = [{ for = "9s", from = "5/s" }] }'),
        f"{CROWD}.load.rates.1: at which rate?",
        "from",
    ),
    (
        with_load('{ clients = 50, for = "5s", sustain = "5s" }'),
        "for and a course of phases both say",
        "sustain",
    ),
    (
        with_load('{ clients = 50, phases = [{ for = "5s", clients = 1 }] }'),
        "phases say how many clients",
        "leave out",
    ),
    (
        with_load('{ phases = [{ for = "5s", from = 1 }] }'),
        f"{CROWD}.load.phases.1: how many clients?",
        "from = 0",
    ),
    (
        with_load(
            '{ phases = [{ name = "a", for = "5s", clients = 1 }, { name = "a", for = "5s", clients = 2 }] }'
        ),
        "two phases have the name 'a'",
        "its own name",
    ),
    (with_load('{ clients = 50, for = "5s", steps = 3 }'), "steps without a ramp", "ramp-up"),
    (with_load('{ clients = 50, for = "5s", renew = true }'), "no client ever ends", "requests-per-client"),
    (with_load("{ clients = 5, requests-per-client = 9, renew = true }"), "the load has no end", "for"),
    (
        with_load('{ clients = 5, for = "5s", keep-alive = false, requests-per-connection = 9 }'),
        "keep-alive = false and requests-per-connection = 9",
        "give one of them",
    ),
    (with_load("5"), f"{CROWD}.load: 5 is not a table", "{ key = value }"),
    (
        PLAN + 'background = { get = "/slow/44" }',
        f"{CROWD}.background: how many clients, or which rate?",
        "clients",
    ),
    (PLAN + "background = { clients = 1 }", f"{CROWD}.background: has no method", "get"),
    (
        PLAN + 'background = { get = "/", clients = 1, for = "5s" }',
        f"{CROWD}.background: a background has no time of its own",
        "it ends with the workload",
    ),
    (with_request('{ name = "x" }'), f"{CROWD}.request: has no method", '{ get = "/hello" }'),
    (
        with_request('{ get = "/", post = "/" }'),
        f"{CROWD}.request: get and post in one request",
        "make a list",
    ),
    (with_request('{ get = "hello" }'), f"{CROWD}.request.get: 'hello' does not begin with /", '"/fast/44"'),
    (with_request('{ get = "/a b" }'), "holds a space", "%20"),
    (with_request('[{ get = "/a" }, { get = "b" }]'), f"{CROWD}.request.2.get: 'b'", "/"),
    (with_request('[{ get = "/a" }, { get = "/a" }]'), "2 requests have the name '/a'", "name ="),
    (with_request("[]"), "request: nothing to send", "get"),
    (
        with_request('{ get = "/o/{idd}", params = { id = [1] } }'),
        "{idd} in the path has no value",
        "'id'",
    ),
    (with_request('{ get = "/o", params = { id = [1] } }'), "params.id is not used in the path", "{id}"),
    (
        with_request('{ get = "/{i}", params = { i = { from = 9, to = 1 } } }'),
        "the range ends (1) before it",
        "from",
    ),
    (with_request('{ get = "/{i}", params = { i = 5 } }'), "5 is not a source of values", "csv"),
    (with_request('{ get = "/", headers = { a = 5 } }'), f"{CROWD}.request.headers: a: 5 is not a text", ""),
    (with_request('{ get = "/", headers = { "a b" = "c" } }'), "'a b' is not a header's name", "Accept"),
    (with_request('{ get = "/", headers = { a = "b\\r\\nc" } }'), "a: a header is one line", "line ends"),
    (
        with_request('{ get = "/", body = "a", body-file = "b" }'),
        "body and body-file both say",
        "one of them",
    ),
    (
        with_request('{ get = "/", expect = { body = "a", contains = "b" } }'),
        f"{CROWD}.request.expect: body and contains both say what the body is",
        "give one of them",
    ),
    (
        with_request('{ get = "/", expect = { contains = "errors", lacks = "err" } }'),
        "contains has in it what lacks rules out",
        "another text",
    ),
    (
        with_request('{ get = "/", expect = { lacks = "" } }'),
        "every body contains the empty text",
        "must not",
    ),
    (
        with_request('{ get = "/", expect = { status = 204, body = "a" } }'),
        "204 has no body to check",
        "leave out body",
    ),
    (with_request('{ head = "/", expect = "a" }'), "the response to HEAD has no body to check", "use get"),
    (with_request('{ get = "/", expect = 42 }'), "42 is not a status", "200 to 599"),
    (with_request('{ get = "/", expect = { sha256 = "abc" } }'), "not 64 hexadecimal digits", "sha256sum"),
    (PLAN.replace('["node", "go"]', "[]"), "plan.toml: contestants: an empty list", '["node", "go"]'),
    (
        PLAN.replace('["node", "go"]', '["go", "go"]'),
        "plan.toml: contestants: 'go' is listed twice",
        "rounds",
    ),
    (PLAN.replace("rounds = 5", "rounds = 0"), "plan.toml: rounds: zero", "at least 1"),
    (PLAN.replace("rounds = 5", "seed = -1"), "plan.toml: seed: -1", ""),
    (PLAN.replace('title = "x"', ""), "plan.toml: title: is missing", ""),
    (PLAN.replace('"x"', "5"), "plan.toml: title: 5 is not a text", "in quotes"),
    (PLAN + 'rows = "yes"', f'{CROWD}.rows: "yes" is neither true nor false', "without quotes"),
    (PLAN + 'order = "random"', f'{CROWD}.order: "random" is not one of them', "'weighted' or 'sequence'"),
    (PLAN + 'connection = { source-addresses = ["here"] }', '"here" is not an IP address', "127.0.0.2"),
    (PLAN + 'connection = { tls = { cert = "a.pem" } }', "goes with its key", "cert and key"),
    (PLAN.partition("[workload")[0], "plan.toml: workload: is missing", ""),
    (
        PLAN + '[[starvation]]\nform = "f"\nalone = "crowd"\nwith = "crwd"\nslow = "crowd"',
        "starvation.1.with: there is no workload 'crwd'",
        "'crowd'",
    ),
    (
        PLAN + '[published]\nsource = "s"\nfigures = '
        '[{ contestant = "c", workload = "crow", metric = "p50", value = 1.0, unit = "s" }]',
        "published.figures.1.workload: there is no workload 'crow'",
        "'crowd'",
    ),
    (PLAN + "[published]\nfigures = []", "plan.toml: published: no source is named", "source ="),
    (PLAN + '[published]\nsource = "s"\nurl = "ftp://x"', "is not a web address", "https://"),
    ("seed = -1\n" + PLAN, "seed: -1 is too small: at least 0", ""),
    ("threads = 2000\n" + PLAN, "threads: 2000 is too large: at most 1024", ""),
    ("threads = 1.5\n" + PLAN, "threads: 1.5 is not a whole number", "write for example 5"),
    (PLAN + "[contestant.own]\ncommand = []", "command: [] has too few entries: at least 1", ""),
]


@pytest.mark.parametrize(("text", "says", "hint"), REFUSED, ids=[says for _, says, _ in REFUSED])
def test_a_mistake_is_told_with_place_and_remedy(text: str, says: str, hint: str) -> None:
    error = refusal(text)
    assert says in error.message
    assert hint in error.hint


def test_all_mistakes_are_told_at_once() -> None:
    error = refusal(PLAN.replace("rounds = 5", "rounds = 0").replace("50", "0"))
    assert error.message.splitlines() == ["plan.toml: rounds: zero", f"{CROWD}.load.clients: zero"]


def test_files_that_are_no_plans(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"there is no plan .*none\.toml"):
        load_plan(tmp_path / "none.toml")
    with pytest.raises(PlanError, match="cannot be read: is a directory"):
        load_plan(tmp_path)
    os.mkfifo(tmp_path / "fifo.toml")
    with pytest.raises(PlanError, match=r"fifo\.toml cannot be read: it is not a regular file"):
        load_plan(tmp_path / "fifo.toml")
    (tmp_path / "latin.toml").write_bytes(b'title = "x"\nabout = "\xe9"\n')
    with pytest.raises(PlanError, match=r"latin\.toml, line 2: not UTF-8"):
        load_plan(tmp_path / "latin.toml")


def test_a_byte_order_mark_is_passed_over() -> None:
    assert parse_toml("\N{ZERO WIDTH NO-BREAK SPACE}x = 1", "plan.toml") == {"x": 1}


def test_of_a_long_line_only_the_end_before_the_fault_is_quoted() -> None:
    with pytest.raises(PlanError) as refused:
        parse_toml(f'y = "{"x" * 100_000}', "plan.toml")
    line, mark = refused.value.hint.splitlines()
    assert len(line) < 220
    assert len(mark) == len(line) + 1


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("scale = { quick = 3 }", "scale.quick is not a table"),
        ("scale = { quick = ['a'] }", "scale.quick is not a table"),
        ("workload = { w = 3 }\n[scale.quick.contestants-of]\nw = ['a']", "3 is not a table"),
        ("[scale.quick.contestants-of]\nw = ['a']", "contestants-of is not a table"),
    ],
)
def test_a_scale_of_another_shape_is_a_mistake(data: str, says: str) -> None:
    text = f'title = "t"\ncontestants = ["a"]\n{data}\n'
    with pytest.raises(UserError, match=says):
        parse_plan(text, "plan.toml", scale="quick")

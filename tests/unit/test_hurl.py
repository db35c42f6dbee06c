"""Hurl files as journeys: what each part becomes, and what is refused by its line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.errors import BadValue, PlanError
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.plan import parse_plan, to_toml
from jostle.plan.hit.plan import hit_plan
from jostle.plan.journeys.hurl import journey_of, json_pointer
from jostle.plan.journeys.hurl_syntax import read_entries
from support.golden import Golden

CORPUS = Path(__file__).parents[1] / "corpus" / "hurl"
FOLDER = Path("/files")


def steps_of(text: str) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = journey_of(text, FOLDER)["steps"]
    return steps


def test_every_part_of_a_file_becomes_its_part_of_a_step(golden: Golden) -> None:
    table = journey_of((CORPUS / "shop").read_text(), FOLDER)
    golden("hurl.json", json.dumps(table, indent=2) + "\n")


def test_all_that_cannot_be_done_is_named_with_its_line(golden: Golden) -> None:
    with pytest.raises(BadValue) as refused:
        journey_of((CORPUS / "refused").read_text(), FOLDER)
    golden("hurl-refused.txt", refused.value.message.replace("; line", "\nline") + "\n")


SYNTAX = [
    ("GET http://a/", [("/", {})]),
    ("# only\n\nGET http://a # b\n\n\n", [("/", {})]),
    ("GET http://a?b=c", [("/?b=c", {})]),
    ("GET http://a:80/b\r\nX: y\r\nHTTP 200\r\n", [("/b", {"X": "y"})]),
    ("GET http://{{host}}:{{port}}/b\nGET http://{{host}}:{{port}}", [("/b", {}), ("/", {})]),
    ("GET {{url}}\nGET {{url}}/b/{{c}}?d={{e}}", [("/", {}), ("/b/{c:raw}?d={e:raw}", {})]),
    ("GET http://a/ü b\\#c", [("/%C3%BC%20b", {})]),
    ("GET http://a/\nX : \\u{41}\\#\\: b # c", [("/", {"X": "A#: b"})]),
    ("GET http://a/\nX: 1\nX: {{y}}", [("/", {"X": ["1", "{y}"]})]),
    ("GET http://a/\nX:", [("/", {"X": ""})]),
    ("GET http://a/{id}", [("/%7Bid%7D", {})]),
]


@pytest.mark.parametrize(("text", "found"), SYNTAX)
def test_requests_are_read(text: str, found: list[tuple[str, dict[str, Any]]]) -> None:
    assert [(step["get"], step.get("headers", {})) for step in steps_of(text)] == found


@pytest.mark.parametrize("url", ["{{b}}", "http://a{{b}}"])
def test_a_captured_url_is_asked_for(url: str) -> None:
    _, step, _ = steps_of(f"GET http://a/\nHTTP 200\n[Captures]\nb: body\nGET {url}\nGET http://a/c")
    assert (step["name"], step["get"]) == ("{{b}}", "{b}")


BODIES = [
    ('{"a": "{{b}}"}', '{"a": "{b}"}'),
    ('{"a": {{b}}, "c": [{}, "}", "\\"{{d}}"]}', '{"a": {b:raw}, "c": [{}, "}", "\\"{d}"]}'),
    ("[1, 2]", "[1, 2]"),
    ("[true]", "[true]"),
    ('"text"', '"text"'),
    ("12 # twelve", "12"),
    ("{{all}}", "{all:raw}"),
    ("`one {{line}} \\` # more`", "one {line} ` # more"),
    ("```\nline1\nline2\n```", "line1\nline2\n"),
    ("```{{line}}```", "{line:raw}"),
    ("```\n```", ""),
    ("``````", ""),
    ("```raw\n{{ x\n```", "{{ x\n"),
    ("```xml\n<a>{{x}}</a>\n```", "<a>{x:raw}</a>\n"),
    ("<a/>", "<a/>"),
    ('<?xml version="1.0"?><a>{{x}}</a> # more', '<?xml version="1.0"?><a>{x:raw}</a>'),
    (
        "<!DOCTYPE a>\n<!-- <b> -->\n<a c=\"/>\" d='<'>\n  <a/><![CDATA[</a>]]></a>",
        "<!DOCTYPE a>\n<!-- <b> -->\n<a c=\"/>\" d='<'>\n  <a/><![CDATA[</a>]]></a>",
    ),
]


@pytest.mark.parametrize(("text", "body"), BODIES)
@pytest.mark.parametrize("behind", ["", "\nHTTP 200\n", "\nGET http://a/"])
def test_bodies_are_read_to_their_end(text: str, body: str, behind: str) -> None:
    steps = steps_of(f"POST http://a/\n{text}{behind}")
    assert steps[0]["body"] == body
    assert len(steps) == (2 if "GET" in behind else 1)


def test_a_body_of_json_has_its_content_type_unless_another_is_given() -> None:
    headers = [
        step["headers"] for step in steps_of("POST http://a/\n{}\nPOST http://a/\nContent-type: text/x\n{}")
    ]
    assert headers == [{"Content-Type": "application/json"}, {"Content-type": "text/x"}]


def test_a_body_of_xml_has_its_content_type() -> None:
    (step,) = steps_of("POST http://a/\n<a/>")
    assert step["headers"] == {"Content-Type": "application/xml"}


@pytest.mark.parametrize(
    ("path", "sent"),
    [("/a%20b", "/a%20b"), ("/100%", "/100%25"), ("/a%zz?b=%4", "/a%25zz?b=%254"), ("/ü b", "/%C3%BC%20b")],
)
def test_a_path_is_escaped_where_it_has_to_be(path: str, sent: str) -> None:
    (step,) = steps_of(f"GET http://a{path}")
    assert step["get"] == sent


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("GET http://ann:se%40cret@h:8080/x", {"Authorization": "Basic YW5uOnNlQGNyZXQ="}),
        ("GET http://ann:secret@h/x\nauthorization: Bearer t", {"authorization": "Bearer t"}),
        (
            "GET http://ann:secret@h/x\n[BasicAuth]\nbob: pw",
            {"Authorization": "Basic Ym9iOnB3"},
        ),
        ("GET https://ann:secret@{{host}}?q=1", {"Authorization": "Basic YW5uOnNlY3JldA=="}),
    ],
)
def test_a_login_in_a_url_is_sent_as_hurl_does(text: str, headers: dict[str, str]) -> None:
    (step,) = steps_of(text)
    assert step["headers"] == headers
    assert "secret" not in step["get"] + step["name"]


def test_a_compressed_response_is_accepted_where_the_file_says_so() -> None:
    (step,) = steps_of("GET http://a/\n[Options]\ncompressed: true")
    assert step["headers"] == {"Accept-Encoding": "gzip, br, zstd"}


WRONG = [
    ("", "line 1: there is no request"),
    ("HTTP 200", "line 1: no request begins here"),
    ("\n\nGET http://a/\nfoo", "line 4: there is no key with a colon"),
    ("GET http://a/\n[Query]\na: b\n\n{", "line 5: this is not JSON"),
    ("GET http://a/{{b", "line 1: {{ is not closed"),
    ("GET http://a/\nX: \\q", "line 2: "),
    ("GET http://a/\nX: \\u{d800}", "line 2: "),
    ("GET http://a/\n```\nx\n", "line 3: ``` is not closed"),
    ("GET http://a/\n`x\n", "line 2: a backquote is not closed"),
    ('GET http://a/\n{"a": "b', "line 2: a quote in this JSON is not closed"),
    ("GET http://a/\n\n<a><b></b>\nHTTP 200", "line 3: this XML is not closed"),
    ("GET http://a/\nHTTP 200\n[Captures]\na: status b 'c\" ", "line 4: a quote is not closed"),
    ("GET http://a/\nHTTP 200 x", "line 2: there is something behind the end"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_mistake_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(BadValue) as refused:
        journey_of(text, FOLDER)
    assert refused.value.message.startswith(message)


def test_a_check_of_what_the_body_is_and_of_what_it_lacks_go_together() -> None:
    text = 'GET http://a/\nHTTP 200\n[Asserts]\nbody contains "data"\nbody not contains "errors"'
    expect = steps_of(text)[0]["expect"]
    assert (expect["contains"], expect["lacks"]) == ("data", "errors")


REFUSED = [
    ("GET http://a:p@x/\nGET http://a:p@y/", "line 2: another server (http://y, and http://x before)"),
    ("GET http://{{u}}:{{p}}@x/", "line 1: a variable in the login of a URL"),
    ("GET http://a/\nGET http://b/", "line 2: another server (http://b, and http://a before)"),
    ("GET a/b", "line 1: a URL without http"),
    ("GET http://a/\nHTTP 200\n[Captures]\nb: body\nGET {{b}}/c", "line 5: {{b}}, captured, before the path"),
    (
        "GET http://a/\nHTTP 200\n[Captures]\nb: body\nGET http://c{{b}}",
        "line 5: another server (http://c, and",
    ),
    (
        "GET http://a/\nHTTP 200\n[Captures]\nb: body\nGET {{b}}\n[Query]\nc: d",
        "line 6: [Query] of a captured",
    ),
    ("GET http://a/{{now}}", "line 1: a variable of the name now, which is built in"),
    ("GET http://a/\nX: {b}", "line 2: {b} as a text"),
    ("GET http://a/\n[Form]\na: b\na: c", "line 4: a field of a form for the second time (a)"),
    ("GET http://a/\n[Options]\nretry: 3", "line 3: the option retry: 3"),
    ("GET http://a/\n[Options]\nuser: {{u}}:{{p}}", "line 3: the option user: {{u}}:{{p}} is not"),
    ("GET http://a/\n[BasicAuth]\n{{u}}: b", "line 3: {{u}} in this place is not"),
    ("GET http://a/\nHTTP 200\n<a>b</a>\nGET http://b/", "line 3: a whole body of the kind xml"),
    ("GET http://a/\nHTTP 200\n<a>b</a>\nGET http://b/", "line 4: another server"),
    ("GET http://a/\nHTTP 200\n[Asserts]\nstatus == 201", "line 2: a response whose status can be none"),
    (
        'GET http://a/\nHTTP 200\n[Asserts]\nbody contains "a"\nbody contains "b"',
        "line 5: a second check of the body",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_a_journey_cannot_do_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadValue) as refused:
        journey_of(text, FOLDER)
    assert message in refused.value.message
    assert "is not supported" in refused.value.message


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("$", ""),
        ("$.a.b-c", "/a/b-c"),
        ("$.items[0].id", "/items/0/id"),
        ("$['a/b'][\"~\"]", "/a~1b/~0"),
        ("$..a", None),
        ("$.a[*]", None),
        ("$.a[-1]", None),
        ("$.a[?(@.b)]", None),
        ("a.b", None),
        ("$.", None),
    ],
)
def test_a_jsonpath_to_one_value_is_a_json_pointer(path: str, pointer: str | None) -> None:
    assert json_pointer(path) == pointer


PLAN = """
title = "A shop"
contestants = ["node"]

[workload.shop]
journeys = "buy"
load = { clients = 10, for = "5s" }

[journey.buy]
hurl = "buy.hurl"
feed = { csv = "users.csv", each = "client" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "buy.hurl").write_text(
        """POST {{host}}/login
{"user": "{{user}}"}
HTTP 200
[Captures]
token: jsonpath "$.token"
POST {{host}}/login
X: {{token}}
file,data.bin;
""",
        encoding="utf-8",
    )
    (tmp_path / "data.bin").write_bytes(b"\x00{user}")
    (tmp_path / "users.csv").write_text("user\nann\n", encoding="utf-8")
    return tmp_path


def test_a_journey_of_a_plan_may_be_a_hurl_file(folder: Path) -> None:
    plan = parse_plan(PLAN, "plan.toml", base=folder)
    journey = plan.journey["buy"]
    assert journey.cookies
    assert [step.label for step in journey.steps] == ["POST /login", "POST /login (2)"]
    assert journey.steps[1].body_file == folder / "data.bin"
    written = to_toml(plan)
    assert "buy.hurl" not in written
    assert parse_plan(written, "written") == plan
    spec = engine_spec("shop", plan.workload["shop"], Address(host="h", port=80), journeys=plan.journey)
    login = spec["workloads"][0]["requests"][0]
    assert login["fill"] == "json"


def test_mistakes_in_a_hurl_file_of_a_plan_name_the_file(folder: Path) -> None:
    with pytest.raises(PlanError, match="steps and hurl both say what is sent"):
        parse_plan(PLAN + 'steps = [{ get = "/" }]', "plan.toml", base=folder)
    (folder / "buy.hurl").write_text("GET http://a/\n[Multipart]\na: b\n", encoding="utf-8")
    with pytest.raises(PlanError, match=r"buy\.hurl, line 2: \[Multipart\] is not supported"):
        parse_plan(PLAN, "plan.toml", base=folder)
    (folder / "buy.hurl").write_text("GET http://a/{{usr}}\n", encoding="utf-8")
    with pytest.raises(PlanError, match="did you mean 'user'"):
        parse_plan(PLAN, "plan.toml", base=folder)
    (folder / "buy.hurl").write_bytes(b"\xff")
    with pytest.raises(PlanError, match="not UTF-8"):
        parse_plan(PLAN, "plan.toml", base=folder)
    (folder / "buy.hurl").unlink()
    with pytest.raises(PlanError, match="there is no file"):
        parse_plan(PLAN, "plan.toml", base=folder)


def test_hit_sends_a_hurl_file(folder: Path) -> None:
    (folder / "browse.hurl").write_text("GET http://localhost/a\n", encoding="utf-8")
    plan = hit_plan("http://localhost:1/", {"journey": folder / "browse.hurl"})
    assert [step.path for step in plan.journey["browse"].steps] == ["/a"]


def test_the_how_to_page_shows_a_hurl_file_that_can_be_read() -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "journeys.md"
    text = page.read_text(encoding="utf-8").split("```hurl\n")[1].split("```")[0]
    assert [step["name"] for step in steps_of(text)] == ["POST /login", "/search"]


PIECES = st.sampled_from(
    ["GET http://a/", "HTTP 200", "[Asserts]", "[Captures]", "[Form]", "a: b", "x: jsonpath", '"', "`", "```",
     "{", "}", "[", "]", "{{", "}}", "{{a}}", "#", "\\", "/", "file,a;", "hex,", "status", "==", "200", ":",
     "\n", " "]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=4)).map("".join))
def test_whatever_is_in_a_file_a_table_or_a_message_comes_of_it(text: str) -> None:
    try:
        table = journey_of("GET http://a/\n" + text, FOLDER)
    except BadValue as error:
        table = {"steps": re.findall(r"line \d+: .", error.message)}
    assert table["steps"]


def test_a_long_file_takes_time_in_proportion() -> None:
    """Ten thousand entries, and a body of a hundred thousand brackets: neither is read again and again."""
    assert len(read_entries("GET http://a/\nX: {{y}}\n" * 10_000)) == 10_000
    with pytest.raises(BadValue, match="not JSON"):
        read_entries("POST http://a/\n" + "[" * 100_000)

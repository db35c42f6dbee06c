"""How the value of a variable is written: `{id}`, `{id:raw}`, `{id:number}`, `{id:json}`."""

import base64
from typing import Any

import pytest

from jostle.errors import PlanError
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.plan.loading import parse_plan, to_toml

PLAN = """
title = "A shop"
contestants = ["node"]

[workload.shop]
journeys = "buy"
load = { clients = 10, for = "5s" }

[journey.buy]
steps = [
  { name = "list", get = "/items", capture = { id = "json:/id", item = "json:/item" } },
  { name = "order", post = "/orders", json = { item = "{id}" } },
]
"""
SENT = 'post = "/orders", json = { item = "{id}" }'


def order_of(sent: str) -> dict[str, Any]:
    plan = parse_plan(PLAN.replace(SENT, sent), "plan.toml")
    assert parse_plan(to_toml(plan), "written") == plan
    spec = engine_spec("shop", plan.workload["shop"], Address(host="h", port=80), journeys=plan.journey)
    order: dict[str, Any] = spec["workloads"][0]["requests"][1]
    return order


TAKEN_AS_VALUES = [
    ('post = "/orders", json = { item = "{id:number}", of = ["{item:json}", "{id}"] }',
     '{"item":{id:number},"of":[{item:json},"{id}"]}'),
    ('post = "/orders", json = "{item:json}"', "{item:json}"),
    ('post = "/orders", json = { n = "{client:number}", r = "{random:1..6}" }',
     '{"n":{client:number},"r":"{random:1..6}"}'),
    ('post = "/orders", body = \'{"item": {id:number}}\'', '{"item": {id:number}}'),
    ('ws = "/chat", send = { item = "{id:number}" }', '{"item": {id:number}}'),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "body"), TAKEN_AS_VALUES)
def test_a_number_and_a_document_take_the_place_of_a_value(sent: str, body: str) -> None:
    assert base64.b64decode(order_of(sent)["body_base64"]).decode() == body


def test_the_engine_knows_how_each_value_is_written() -> None:
    params = order_of(
        'post = "/{id:raw}", json = { a = "{id:number}", b = "{item:json}", c = "{id}", d = "{now:number}" }'
    )["params"]
    written = {name: param["slot"]["written"] for name, param in params.items() if "slot" in param}
    assert written == {"id:raw": "raw", "id:number": "number", "item:json": "json", "id": "escaped"}
    assert params["id:raw"]["slot"]["slot"] == params["id"]["slot"]["slot"]
    assert params["now:number"] == "now"


WRONG_KINDS = [
    ('post = "/orders", json = { item = "{id:nubmer}" }',
     "{id:nubmer}: a value is not written as 'nubmer'", "did you mean 'number'"),
    ('post = "/orders", body = "{id:text}"', "{id:text}: a value is not written as 'text'", "raw"),
    ('post = "/orders/{client:hex}"', "{client:hex}: a value is not written as 'hex'", "raw"),
    ('post = "/orders", json = { item = "n {id:number}" }',
     "{id:number} is only a part of the text 'n {id:number}'", 'write "{id:number}" alone, or {id}'),
    ('post = "/orders/{id:number}"', "{id:number} is for JSON", "write {id}"),
    ('post = "/orders", headers = { X = "{id:json}" }', "{id:json} is for JSON", "write {id}"),
    ('post = "/orders", form = { a = "{id:number}" }', "{id:number} is for JSON", "write {id}"),
    ('post = "/orders", json = { a = "{uuid:number}" }', "a UUID is no number", "write {uuid}"),
    ('post = "/orders", json = { a = "{idd:number}" }', "{idd} is not known", "did you mean 'id'"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "message", "hint"), WRONG_KINDS)
def test_what_would_be_sent_as_it_is_written_is_refused(sent: str, message: str, hint: str) -> None:
    with pytest.raises(PlanError) as caught:
        order_of(sent)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_braces_that_name_no_variable_are_text() -> None:
    sent = 'post = "/orders", body = "query { item(id:{id}){a:b} } {color:red}"'
    assert b"{color:red}" in base64.b64decode(order_of(sent)["body_base64"])


CAPTURED = 'capture = { id = "json:/id", item = "json:/item" }'


def capture_of(captures: str) -> list[dict[str, Any]]:
    plan = parse_plan(PLAN.replace(CAPTURED, captures).replace(SENT, 'get = "/orders"'), "plan.toml")
    assert parse_plan(to_toml(plan), "written") == plan
    spec = engine_spec("shop", plan.workload["shop"], Address(host="h", port=80), journeys=plan.journey)
    found: list[dict[str, Any]] = spec["workloads"][0]["journeys"][0]["steps"][0]["capture"]
    return found


def test_a_capture_may_have_a_limit_of_its_own() -> None:
    found = capture_of(
        'capture = { a = { regex = \'v="([^"]*)"\', limit = "200kB" }, b = { body = true, limit = 1048576 }, '
        'c = \'html:v="([^"]*)"\', d = { json = "/a" } }'
    )
    assert [(each["from"], each["limit"]) for each in found] == [
        ({"regex": 'v="([^"]*)"'}, 200_000),
        ("body", 1024 * 1024),
        ({"html": 'v="([^"]*)"'}, None),
        ({"json": "/a"}, None),
    ]


WRONG_CAPTURES = [
    ('{ regex = "x", limit = "2MB" }', "a limit of \"2MB\": at most 1 MiB", "200kB"),
    ('{ regex = "x", limit = 0 }', "a limit of 0: at most 1 MiB", "200kB"),
    ('{ header = "X", limit = "1kB" }', "a limit of header", "200kB"),
    ('{ regex = "x", json = "/a" }', "does not say what to keep", "json:/user/token"),
    ('{ regx = "x" }', "'regx:x' does not say what to keep", "json:/user/token"),
    ('{ html = "(" }', "is not a regular expression", ""),
    ("7", "7 does not say what to keep", "json:/user/token"),
]  # fmt: skip


@pytest.mark.parametrize(("capture", "message", "hint"), WRONG_CAPTURES)
def test_a_capture_that_cannot_be_is_refused(capture: str, message: str, hint: str) -> None:
    with pytest.raises(PlanError) as caught:
        capture_of(f"capture = {{ id = {capture} }}")
    assert message in caught.value.message
    assert hint in caught.value.hint

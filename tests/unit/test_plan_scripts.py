"""Journeys that are scripts, in plans: what they become, and what is wrong with those that cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import PlanError
from jostle.generator.spec.address import Address
from jostle.generator.spec.recorded import without_secrets
from jostle.generator.spec.run import engine_spec
from jostle.plan import Plan, parse_plan
from jostle.plan.hit.plan import hit_plan

SCRIPT = 'return function(client) http.get(`/{client.feed.user}`) http.post("/x", {expect = 201}) end'
PLAN = """
title = "A shop"
contestants = ["node"]
[workload.shop]
journeys = "buy"
load = { clients = 10, for = "5s" }
[journey.buy]
script = "buy.luau"
cookies = true
feed = { csv = "users.csv", each = "client" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "buy.luau").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "users.csv").write_text("user,age\nann,7\n", encoding="utf-8")
    return tmp_path


def spec_of(plan: Plan, name: str = "shop") -> dict[str, Any]:
    return engine_spec(name, plan.workload[name], Address(host="h", port=80), journeys=plan.journey)


def test_requests_of_a_script_are_its_steps(folder: Path) -> None:
    workload = spec_of(parse_plan(PLAN, "plan.toml", base=folder))["workloads"][0]
    (journey,) = workload["journeys"]
    assert [request["name"] for request in workload["requests"]] == ["/{client.feed.user}", "POST /x"]
    assert [request["expect"]["status"] for request in workload["requests"]] == [[], [201]]
    assert all(request["cookies"] for request in workload["requests"])
    assert [step["request"] for step in journey["steps"]] == [0, 1]
    slots = dict(journey["script"]["columns"])
    assert journey["feeds"][0]["columns"] == [slots["user"], slots["age"]]
    assert workload["slots"] == 2
    assert (journey["script"]["file"], journey["script"]["source"]) == ("buy.luau", SCRIPT)


def test_what_a_script_holds_secret_is_not_recorded(folder: Path) -> None:
    spec = spec_of(parse_plan(PLAN, "plan.toml", base=folder))
    assert (
        SCRIPT
        in json.loads(json.dumps(without_secrets(spec)))["workloads"][0]["journeys"][0]["script"]["source"]
    )
    (folder / "buy.luau").write_text(f'local password = "sesame"\n{SCRIPT}', encoding="utf-8")
    spec = spec_of(parse_plan(PLAN, "plan.toml", base=folder))
    assert "sesame" in json.dumps(spec)
    assert "sesame" not in json.dumps(without_secrets(spec))


def test_a_script_can_be_hit(folder: Path) -> None:
    (folder / "buy.luau").write_text('return function() http.get("/") end', encoding="utf-8")
    plan = hit_plan("http://h/", {"journey": str(folder / "buy.luau"), "clients": 3, "requests": 9})
    workload = spec_of(plan, "hit")["workloads"][0]
    assert workload["journeys"][0]["name"] == "buy"
    assert workload["load"]["closed"]["requests"] == 9


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("buy.luau", "by.luau"), "there is no file"),
        (("cookies = true", 'steps = [{ get = "/" }]'), "steps and script both say what is sent"),
        (("cookies = true", 'hurl = "a.hurl"'), "hurl and script both say what is sent"),
        (("feed = {", 'feed = [{ csv = "users.csv" }, {'), "two feeds have a column 'user'"),
    ],
)
def test_mistakes_in_the_plan_are_told(folder: Path, change: tuple[str, str], said: str) -> None:
    text = PLAN.replace(*change)
    text += "]" if "[{ csv" in text else ""
    with pytest.raises(PlanError, match=said):
        parse_plan(text, "plan.toml", base=folder)


def test_mistakes_in_the_script_are_told_with_their_lines(folder: Path) -> None:
    plan = parse_plan(PLAN, "plan.toml", base=folder)
    for source, said in [
        ("local = 1", "buy.luau:1: Expected identifier"),
        ("\nreturn function() http.get('/', {name = x}) end", "buy.luau:2: the name of a request is a text"),
    ]:
        (folder / "buy.luau").write_text(source, encoding="utf-8")
        with pytest.raises(PlanError, match=said):
            spec_of(plan)
    (folder / "buy.luau").write_bytes(b"\xff")
    with pytest.raises(PlanError, match="cannot be read: it is not UTF-8"):
        spec_of(plan)

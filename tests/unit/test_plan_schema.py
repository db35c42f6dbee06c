"""The JSON schema and the reference of plans: made from the model, up to date, and agreeing with it."""

import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from jostle import experiments
from jostle.plan import plan_schema, to_toml
from jostle.plan.schema import reference

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = plan_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", experiments.names())
def test_experiments_agree_with_the_schema_as_written_and_as_run(validator: Any, name: str) -> None:
    written = ROOT / "python/jostle/experiments" / name / "plan.toml"
    for text in (written.read_text(), to_toml(experiments.load(name))):
        assert [error.message for error in validator.iter_errors(tomllib.loads(text))] == []


@pytest.mark.parametrize(
    "load",
    [
        '{ clients = "10k", think = ["1s", "2s"], ramp-up = "20m", sustain = "1m30s" }',
        '{ phases = [{ for = "1s", from = 0, to = 5, steps = 5 }] }',
        '{ rates = [{ for = "1s", from = "0/s", to = "5/s" }], arrivals = "constant" }',
        '{ arrivals = { trace = "starts.txt" }, max-connections = 5 }',
        '{ clients = "{n}", for = "{window}" }',
    ],
)
def test_what_may_be_written_agrees_with_the_schema(validator: Any, load: str) -> None:
    text = f"""
    title = "x"
    contestants = ["node"]
    [workload.w]
    request = [
        {{ get = "/{{i}}", params = {{ i = {{ from = 1, to = 9 }} }}, expect = 200 }},
        {{ get = "/ticks", stream = "lines" }},
        {{ get = "/chat", stream = {{ slo = ["first event < 1 s", {{ of = "gap", below = "1s" }}] }} }},
        {{ get = "/talk", stream = {{ slo = "gap p99 < 50 ms" }} }},
        {{ ws = "/echo", send = "hello", match = "echo" }},
        {{ ws = "/chat", send = {{ say = "hello" }}, expect = "hello" }},
        {{ ws = "/news", stream = "messages" }},
        {{ tcp = "PING\\r\\n", until = "\\r\\n" }},
        {{ tcp = {{ hex = "00 01" }}, until = {{ length = 7 }} }},
    ]
    load = {load}
    body-limit = "1MiB"
    background = {{ get = "/", rate = "5/s", expect = {{ status = 200, contains = "x" }} }}
    """
    assert [error.message for error in validator.iter_errors(tomllib.loads(text))] == []


@pytest.mark.parametrize(
    "wrong", ["runds = 5", "rounds = 0", "title = 5", 'warm-up = "5 parsecs"', 'contestants = "node"']
)
def test_what_may_not_be_written_does_not(validator: Any, wrong: str) -> None:
    plan = {
        "title": "x",
        "contestants": ["node"],
        "workload": {"w": {"request": {"get": "/"}, "load": {"clients": 1, "for": "5s"}}},
    }
    assert list(validator.iter_errors(plan)) == []
    assert list(validator.iter_errors(plan | tomllib.loads(wrong))) != []


def test_the_reference_says_something_about_every_key() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| `")]
    assert len(rows) > 80
    assert [row for row in rows if row.rstrip(" |").endswith("None")] == []


def test_every_key_of_a_plan_stands_in_the_documentation() -> None:
    tables = reference()
    definitions = plan_schema()["$defs"]
    told = {(name, key) for name, table in definitions.items() for key in table.get("properties", {})}
    assert ("ContestantFile", "command") in told
    elsewhere = ("Parameters", "Trace")  # scales, and arrivals from a file: shown where they are used
    missing = {(name, key) for name, key in told if name not in elsewhere and f"| `{key}` |" not in tables}
    assert not missing
    assert "| None |" not in tables, "every key says what it is"

"""TOML bombs: refused as broken text, and in no time."""

import tomllib

import pytest

from jostle.errors import PlanError
from jostle.plan import parse_plan
from jostle.plan.files.toml import TOMLDecodeError, read_toml
from jostle.plan.recorded import RecordedPlan

BOMBS = {
    "arrays": "x = " + "[" * 200_000,
    "inline tables": "x = " + "{a = " * 200_000,
    "dotted keys": ".".join(["a"] * 1_000_000) + " = 1",
    "quoted keys": " . ".join(['"a b"'] * 500_000) + " = 1",
    "headers": "[" + ".".join(["a"] * 1_000_000) + "]",
    "in an inline table": "x = {" + ".".join(["'a'"] * 500_000) + " = 1}",
    "digits": "x = " + "9" * 100_000,
    "nested by headers": "\n".join(f"[{'.'.join(['a'] * n)}]" for n in range(1, 200)),
    "a word without end": "a" * 3_000_000,
}


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_bombs_are_broken_text(text: str) -> None:
    with pytest.raises(TOMLDecodeError):
        read_toml(text)
    with pytest.raises(PlanError, match=r"plan\.toml"):
        parse_plan(text, "plan.toml")
    (unreadable,) = RecordedPlan.parse(text).unreadable
    assert unreadable.key == "plan"


@pytest.mark.parametrize(
    "text",
    [
        "a.b.c.d = 1",
        'body = "' + ",".join(["0.25"] * 50_000) + '"',
        'body = "' + "Ab0+/" * 100_000 + '"',
        "text = '''\n" + "One. Two. Three words here.\n" * 1000 + "'''",
        "x = [[1, 2], [3]]",
    ],
)
def test_what_is_no_bomb_is_read_as_ever(text: str) -> None:
    assert read_toml(text) == tomllib.loads(text)

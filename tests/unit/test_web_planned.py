"""Plans of the page's form and editor: what is wrong stands at its field, or at its line."""

from pathlib import Path

import pytest

from jostle.plan.loading import parse_plan
from jostle.web.planned import plan_of_form, problems_of

PLAN = """title = "Two"
contestants = ["here"]

[contestant.here]
url = "http://localhost:1"

[workload.a]
request = "/"
load = { rate = "100/s", for = "10s" }

[[require]]
that = "p99 < 100 ms"

[[require]]
that = "errors < 1 %"
"""

GOOD = PLAN.replace('request = "/"', 'request = [{ get = "/" }]')


def test_a_good_plan_has_no_problems(tmp_path: Path) -> None:
    assert problems_of(GOOD, tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('rate = "100/s"', 'rate = "fast"', 9, "'fast' is not a rate"),
        ('for = "10s"', 'fro = "10s"', 9, "no key 'fro'"),
        ("errors < 1 %", "errors < 1 apple", 14, "apple"),
        ("[workload.a]", "[workload.a", 7, "expected ']'"),
        ('title = "Two"\n', "", None, "title: is missing"),
    ],
)
def test_a_fault_is_at_its_line(old: str, new: str, line: int | None, says: str, tmp_path: Path) -> None:
    assert old in GOOD
    (problem,) = problems_of(GOOD.replace(old, new, 1), tmp_path)
    assert problem.line == line
    assert says in problem.text


def test_every_fault_is_told(tmp_path: Path) -> None:
    text = GOOD.replace("100/s", "fast").replace("100 ms", "100")
    assert {problem.line for problem in problems_of(text, tmp_path)} == {9, 11}


def test_the_form_is_a_plan() -> None:
    fields = {
        "url": "http://localhost:8080/work",
        "rate": "500/s",
        "seconds": "20s",
        "headers": "Accept: text/html\nX-One: 1",
        "expect": "p99 < 250 ms\nerrors < 1 %",
        "stages": " ",
    }
    text, problems = plan_of_form(fields)
    assert problems == []
    plan = parse_plan(text, "the plan")
    (workload,) = plan.workload.values()
    assert workload.load.seconds() == 20.0
    assert "500" in str(workload.load.data()["rate"])
    assert [one.that for one in plan.require] == ["p99 < 250 ms", "errors < 1 %"]
    assert "X-One" in text


def test_stages_follow_one_another() -> None:
    text, problems = plan_of_form(
        {"url": "http://localhost:8080/", "stages": "100/s for 10s\n100/s to 500/s for 30s"}
    )
    assert problems == []
    (workload,) = parse_plan(text, "the plan").workload.values()
    assert workload.load.seconds() == 40.0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "not a url"),
        ("url", ""),
        ("clients", "many"),
        ("rate", "fast"),
        ("seconds", "3x"),
        ("headers", "no colon"),
        ("stages", "soon"),
        ("stages", "100/s for ever"),
        ("expect", "p99 < 10"),
    ],
)
def test_a_wrong_field_is_told_at_its_place(field: str, value: str) -> None:
    text, problems = plan_of_form({"url": "http://localhost:8080/", field: value})
    assert text == ""
    assert [problem.field for problem in problems] == [field]
    assert problems[0].text

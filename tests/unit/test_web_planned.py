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


def test_a_load_beyond_the_machine_is_told_at_its_line_with_what_is_possible(tmp_path: Path) -> None:
    (problem,) = problems_of(GOOD.replace("100/s", "900000000/s"), tmp_path)
    assert problem.line == 9
    assert problem.text.startswith("900,000,000/s is beyond this machine: ")
    assert "at most" in problem.text
    (problem,) = problems_of(GOOD.replace('rate = "100/s"', "clients = 90_000_000"), tmp_path)
    assert problem.line == 9
    assert problem.text.startswith("90,000,000 connections at once need ")


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("rate", "900000000/s", "900,000,000/s is beyond this machine: "),
        ("stages", "1/s to 900000000/s for 9s", "900,000,000/s is beyond this machine: "),
        ("clients", "90000000", "90,000,000 connections at once need "),
    ],
)
def test_a_load_beyond_the_machine_is_told_at_its_field(field: str, value: str, says: str) -> None:
    text, (problem,) = plan_of_form({"url": "http://localhost:8080/", field: value})
    assert text == ""
    assert problem.field == field
    assert problem.text.startswith(says)

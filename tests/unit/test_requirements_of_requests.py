"""`[[require]]` about one request of a mix, or one step of a journey."""

import io
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from jostle.analysis.results import RequirementResult, RunResult
from jostle.analysis.run import analyse
from jostle.cli.exit_codes import undecided_of
from jostle.errors import PlanError
from jostle.plan import parse_plan
from jostle.record import RunRecord
from support.rendered import print_result, rendered
from support.synthetic import Request, Trial, make_run

PLAN = """
title = "A shop"
contestants = ["node"]

[workload.mix]
load = { clients = 2, for = "5s" }
request = [{ name = "search", get = "/search" }, { name = "order", post = "/orders" }]

[workload.visit]
load = { clients = 2, for = "5s" }
journeys = "buy"

[workload.visits]
load = { clients = 2, for = "5s" }
journeys = ["buy", "look"]

[journey.buy]
steps = [{ name = "login", post = "/login" }, { name = "order", post = "/orders" }]

[journey.look]
steps = [{ name = "search", get = "/search" }]
"""

SEARCH, ORDER = 0, 1


def requests(number: int, *, failing: int = 0) -> list[Request]:
    """By turns a search of some 5 ms and an order of some 50 ms; every `failing`-th order fails."""
    found, now = [], 0.0
    while now < 4.9:
        turn = len(found)
        of = turn % 2
        took = (0.05 if of == ORDER else 0.005) * (1 + (turn * 7 + number) % 11 / 50)
        wrong = failing and of == ORDER and turn % (2 * failing) == 1
        found.append(Request(now, now, now + took, "wrong_status" if wrong else "ok", of=of))
        now += took
    return found


def judged(
    folder: Path, require: str, rounds: int = 3, *, failing: int = 0, workload: str = "mix"
) -> RunResult:
    trials = [
        Trial(
            "node",
            workload,
            number,
            requests(number, failing=failing),
            rows=True,
            journeys=workload != "mix",
            mix=("search", "order") if workload == "mix" else ("login", "order"),
        )
        for number in range(1, rounds + 1)
    ]
    text = PLAN + f"\n[[require]]\n{require}\n"
    return analyse(RunRecord.open(make_run(folder, trials, plan_text=text)))


def only(result: RunResult) -> RequirementResult:
    (found,) = result.requirements
    return found


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize(
    ("that", "search", "order"),
    [
        ("p50 < 15 ms", "pass", "fail"),
        ("p95 < 15 ms", "pass", "fail"),
        ("throughput > 10/s", "pass", "pass"),
        ("throughput > 60/s", "fail", "fail"),  # that of both together
        ("errors < 20 %", "pass", "pass"),
    ],
)
def test_each_request_is_judged_by_its_own_figure(
    tmp_path: Path, rounds: int, that: str, search: str, order: str
) -> None:
    for name, verdict in (("search", search), ("order", order)):
        found = only(judged(tmp_path / name, f'that = "{that}"\nrequest = "{name}"', rounds))
        assert (found.part, found.workload, found.verdict) == (name, "mix", verdict)
        assert ("such runs differ by" in found.message) == (rounds == 1 and "errors" not in that)


def test_the_whole_workload_would_be_judged_differently(tmp_path: Path) -> None:
    assert only(judged(tmp_path, 'that = "p95 < 15 ms"\nworkload = "mix"')).verdict == "fail"


def test_the_figure_is_that_of_the_table(tmp_path: Path) -> None:
    result = judged(tmp_path, 'that = "p50 < 1 s"\nrequest = "order"')
    (order,) = [one for one in result.requests if one.name == "order"]
    assert only(result).estimate == order.response["p50"]
    assert order.response["p50"].low is not None
    assert order.throughput.low is not None


def test_errors_are_those_of_the_request(tmp_path: Path) -> None:
    of_order = only(judged(tmp_path / "o", 'that = "errors < 5 %"\nrequest = "order"', failing=4))
    of_search = only(judged(tmp_path / "s", 'that = "errors < 5 %"\nrequest = "search"', failing=4))
    assert of_order.estimate.value == pytest.approx(0.25, abs=0.02)
    assert (of_order.verdict, of_search.verdict) == ("fail", "pass")


def test_a_quantile_among_its_failures_fails(tmp_path: Path) -> None:
    found = only(judged(tmp_path, 'that = "p95 < 10 s"\nrequest = "order"', failing=4))
    assert found.verdict == "fail"
    assert found.message.endswith("it lies among the requests that failed")


def test_what_an_outage_kept_from_being_sent_is_each_requests_share(tmp_path: Path) -> None:
    served = [request for request in requests(1) if request.end < 2.0]
    refused = [Request(t, None, t + 0.001, "connect_refused", of=t % 2) for t in (2, 3, 4)]
    trial = Trial("node", "mix", 1, served + refused, mix=("search", "order"))
    text = PLAN + '[[require]]\nthat = "p90 < 1 s"\nrequest = "search"'
    found = only(analyse(RunRecord.open(make_run(tmp_path, [trial], plan_text=text))))
    assert found.verdict == "fail"


def test_a_step_is_judged_where_its_journey_is_sent(tmp_path: Path) -> None:
    found = only(judged(tmp_path, 'that = "p50 < 15 ms"\nstep = "order"', workload="visit"))
    assert (found.part, found.workload, found.verdict) == ("order", "visit", "fail")


def test_a_request_that_no_measured_workload_sends_is_not_measured(tmp_path: Path) -> None:
    found = only(judged(tmp_path, 'that = "p50 < 15 ms"\nrequest = "search"', workload="visit"))
    assert (found.verdict, found.part) == ("undecided", "search")
    assert found.message == "it was not measured"


def test_every_form_names_the_request(tmp_path: Path) -> None:
    result = judged(tmp_path, 'that = "p50 < 15 ms"\nrequest = "order"')
    console = Console(file=io.StringIO(), width=80, color_system=None)
    print_result(result, console)
    for text in (console.file.getvalue(), rendered(result, "md")):  # type: ignore[attr-defined]
        assert "node, mix, order" in text.replace("\N{NO-BREAK SPACE}", " ")
    cases = [case.get("name") for case in ET.fromstring(rendered(result, "junit")).iter("testcase")]
    assert "p50 < 15 ms, order" in cases
    assert result.as_json()["requirements"][0]["part"] == "order"
    assert undecided_of(result) == []


def test_an_undecided_one_is_named_with_its_request(tmp_path: Path) -> None:
    result = judged(tmp_path, 'that = "p50 < 55 ms"\nrequest = "order"', 1)
    assert undecided_of(result) == ["p50 < 55 ms (node, mix, order)"]


@pytest.mark.parametrize(
    ("require", "says", "hint"),
    [
        ('request = "serch"', "there is no request 'serch'", "'search'"),
        ('request = "nothing"', "there is no request 'nothing'", "known: search, order"),
        ('step = "pay"', "there is no step 'pay'", "order"),
        ('step = "order"\nworkload = "visits"', "there is no step 'order'", "'buy: order'"),
        ('request = "search"\nworkload = "visit"', "there is no request 'search'", "by step"),
        ('request = "search"\nstep = "order"', "request and step together", "each"),
    ],
)
def test_unknown_names_are_refused_with_those_that_exist(require: str, says: str, hint: str) -> None:
    with pytest.raises(PlanError) as refused:
        parse_plan(f'{PLAN}\n[[require]]\nthat = "p99 < 5 ms"\n{require}', "plan.toml")
    assert says in str(refused.value)
    assert hint in (refused.value.hint or "")
    assert "require" in refused.value.message


@pytest.mark.parametrize(
    ("that", "says"), [("memory < 1 GB", "no 'memory' of its own"), ("not slower", "by whole workloads")]
)
def test_what_a_request_does_not_have_is_refused(that: str, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        parse_plan(f'{PLAN}\n[[require]]\nthat = "{that}"\nrequest = "search"', "plan.toml")


@pytest.mark.parametrize("part", ['request = "search"', 'step = "buy: order"', 'step = "order"'])
def test_names_that_exist_are_taken(part: str) -> None:
    parse_plan(f'{PLAN}\n[[require]]\nthat = "p99 < 5 ms"\n{part}', "plan.toml")

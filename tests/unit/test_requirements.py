"""`[[require]]`: read and refused in plans, judged by intervals, told everywhere."""

import html
import io
import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from jostle.analysis.results import Check, Estimate, RequirementResult, RunResult
from jostle.analysis.results.rule import decide
from jostle.analysis.run import analyse
from jostle.analysis.validity import checks
from jostle.analysis.validity.figures import RATES, TIMES
from jostle.cli.execution import show
from jostle.cli.output import ResultOutput
from jostle.errors import BadValue, PlanError
from jostle.plan import parse_plan, to_toml
from jostle.plan.criteria.conditions import Condition, change, requirement
from jostle.record import RunRecord
from jostle.record.journal import append_event
from jostle.record.verdict import Verdict
from support.rendered import print_result, rendered
from support.synthetic import STARVATION_PLAN, Request, Trial, closed, lognormal, make_run, starvation_trials

PLAN = STARVATION_PLAN.format(rounds=3)

REQUIRED = """
[[require]]
that = "p99 < 250 ms"
workload = "fast-only"

[[require]]
that = "p50 < 1 ms"
workload = "fast-only"
contestant = "node"
confidence = "99 %"

[[require]]
that = "starvation index < 0.1"

[[require]]
that = "blocking index < 10 %"
workload = "stream-with-slow"

[[require]]
that = "errors < 0.1 %"
workload = "slow-alone"

[[require]]
that = "throughput > 100/s"
workload = "fast-only"

[[require]]
that = "memory < 1GB"
workload = "fast-only"

[[require]]
that = "service p90 ≤ 250ms"
workload = "stream"
"""


BLOCKING_OF_GO = """
[[require]]
that = "blocking index < 90 %"
workload = "stream-with-slow"
contestant = "go"
"""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder = make_run(tmp_path_factory.mktemp("runs"), starvation_trials(3), plan_text=PLAN + REQUIRED)
    return analyse(RunRecord.open(folder))


def verdicts(result: RunResult, that: str) -> dict[tuple[str, str], str]:
    return {(r.contestant, r.workload): r.verdict for r in result.requirements if r.that.startswith(that)}


def test_intervals_decide(judged: RunResult) -> None:
    assert verdicts(judged, "p99") == {("node", "fast-only"): "pass", ("go", "fast-only"): "pass"}
    assert verdicts(judged, "p50") == {("node", "fast-only"): "fail"}
    index = verdicts(judged, "starvation")
    assert index["node", "fast-with-slow"] == "fail"
    assert index["go", "stream-with-slow"] == "pass"
    assert len(index) == 4  # both forms of both
    assert verdicts(judged, "blocking") == {
        ("node", "stream-with-slow"): "fail",
        ("go", "stream-with-slow"): "pass",
    }
    assert set(verdicts(judged, "errors").values()) == {"undecided"}  # 9 requests prove no 0.1 %
    assert set(verdicts(judged, "throughput").values()) == {"pass"}
    assert set(verdicts(judged, "memory").values()) == {"pass"}
    assert set(verdicts(judged, "service p90").values()) == {"pass"}


def test_the_interval_is_of_the_confidence_that_was_asked_for(judged: RunResult) -> None:
    (sure,) = [r for r in judged.requirements if r.that.startswith("p50")]
    (usual,) = [
        c.response["p50"] for c in judged.summaries if (c.contestant, c.workload) == ("node", "fast-only")
    ]
    assert sure.confidence == 0.99
    assert None not in (sure.estimate.low, sure.estimate.high, usual.low, usual.high)
    width = (sure.estimate.high or 0) - (sure.estimate.low or 0)
    assert width > 1.2 * ((usual.high or 0) - (usual.low or 0))


@pytest.mark.parametrize(
    ("estimate", "below", "verdict"),
    [
        (Estimate(1, 0.5, 1.5), True, "pass"),
        (Estimate(1, 0.5, 1.5), False, "fail"),
        (Estimate(2, 1.5, 2.5), True, "undecided"),
        (Estimate(3, 2.5, 3.5), True, "fail"),
        (Estimate(3, 3, None, bound="≥"), True, "fail"),
        (Estimate(1, 1, None, bound="≥"), True, "undecided"),
        (Estimate(1), True, "undecided"),
        (Estimate(1.5, 1.0, 2.0), True, "undecided"),  # the limit is not below itself
        (Estimate(3, 2.0, 4.0), False, "undecided"),
        (Estimate(1, 0.5, 1.5, this_run_only=True), True, "undecided"),
        (Estimate(None, note="nothing was measured"), True, "undecided"),
    ],
)
def test_outcomes(estimate: Estimate, below: bool, verdict: str) -> None:
    assert decide(Condition("", "p99", below, 2.0, "s"), estimate) == verdict


@pytest.mark.parametrize(
    ("text", "estimate", "decision"),
    [
        ("errors <= 0 %", Estimate(0, 0, 0.002), "undecided"),  # none was seen: no evidence against it
        ("errors < 0 %", Estimate(0, 0, 0.002), "fail"),
        ("errors >= 0 %", Estimate(0, 0, 0.002), "pass"),
        ("errors > 0 %", Estimate(0, 0, 0.002), "undecided"),
        ("p99 <= 2 s", Estimate(2, 2, 2), "pass"),
        ("p99 ≥ 2 s", Estimate(2, 2, 2), "pass"),
        ("p99 < 2 s", Estimate(2, 2, 2), "fail"),
        ("p99 <= 2 s", Estimate(3, 2.5, 3.5), "fail"),
        ("p99 <= 2 s", Estimate(3, 3, None, bound="≥"), "fail"),
    ],
)
def test_the_sign_says_whether_the_limit_itself_satisfies(
    text: str, estimate: Estimate, decision: str
) -> None:
    assert decide(requirement(text), estimate) == decision


def _of_rounds(tmp_path: Path, rounds: int, that: str) -> RequirementResult:
    """Rounds of 2 ms at the median and some 3 ms at the p99."""
    text = PLAN + f'[[require]]\nthat = "{that}"\nworkload = "fast-only"'
    trials = [
        Trial("node", "fast-only", n, closed(lognormal(0.002, 0.2), 5.0, seed=n))
        for n in range(1, rounds + 1)
    ]
    (found,) = analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=text))).requirements
    return found


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize(
    ("that", "verdict"),
    [
        ("p99 < 250 ms", "pass"),
        ("p99 < 1 ms", "fail"),
        ("p50 > 1 ms", "pass"),
        ("throughput > 100/s", "pass"),
        ("throughput > 1000/s", "fail"),
        ("server cpu < 100 ms", "pass"),
    ],
)
def test_a_round_or_two_decide_what_lies_far_from_the_limit(
    tmp_path: Path, rounds: int, that: str, verdict: str
) -> None:
    found = _of_rounds(tmp_path, rounds, that)
    assert found.verdict == verdict
    assert "such runs differ by" in found.message


def test_one_round_is_as_uncertain_as_such_runs_differ(tmp_path: Path) -> None:
    """The interval over its requests is part of it, but much narrower."""
    found = _of_rounds(tmp_path, 1, "p99 < 250 ms").estimate
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value / 1.8
    assert found.high > found.value * 1.8
    assert found.value == pytest.approx(0.002 * math.exp(0.2 * 2.326), rel=0.1)


def test_near_the_limit_one_round_says_how_many_more_would_tell(tmp_path: Path) -> None:
    found = _of_rounds(tmp_path, 1, "p99 < 3.5 ms")
    assert found.verdict == "undecided"
    assert re.search(r"\d+ more rounds, about .+, would probably tell: `--until-decided`$", found.message)


def test_one_round_tells_nothing_of_memory_as_its_spread_is_not_known(tmp_path: Path) -> None:
    found = _of_rounds(tmp_path, 1, "memory < 1 GB")
    assert found.verdict == "undecided"
    assert "needs at least 3" in found.message


def test_too_few_requests_for_an_interval_are_no_decision(tmp_path: Path) -> None:
    text = PLAN + '[[require]]\nthat = "p50 < 1 s"\nworkload = "fast-only"'
    trial = Trial("node", "fast-only", 1, [Request(0.0, 0.0, 0.002), Request(0.1, 0.1, 0.102)])
    (found,) = analyse(RunRecord.open(make_run(tmp_path, [trial], plan_text=text))).requirements
    assert found.verdict == "undecided"


def test_a_figure_that_is_zero_in_every_round_decides(tmp_path: Path) -> None:
    text = PLAN + '[[require]]\nthat = "throughput > 100/s"\nworkload = "fast-only"'
    lost = [Request(i / 10, i / 10, i / 10 + 1.0, "response_timeout") for i in range(40)]
    trials = [Trial("node", "fast-only", number, lost) for number in (1, 2, 3)]
    (found,) = analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=text))).requirements
    assert found.verdict == "fail"


def test_an_index_is_as_invalid_as_the_slow_request_that_it_is_divided_by(tmp_path: Path) -> None:
    text = PLAN + BLOCKING_OF_GO
    for generator_cpu, verdict in ((0.3, "pass"), (1.0, "undecided")):
        trials = [
            replace(trial, generator_cpu=generator_cpu) if trial.workload == "slow-alone" else trial
            for trial in starvation_trials(3)
        ]
        folder = make_run(tmp_path / verdict, trials, plan_text=text)
        (found,) = analyse(RunRecord.open(folder)).requirements
        assert found.verdict == verdict


def test_an_index_is_no_worse_for_a_slow_request_that_it_is_not_divided_by(tmp_path: Path) -> None:
    """By itself it was never answered, so its time is that beside the fast requests."""
    text = PLAN + BLOCKING_OF_GO
    refused = [Request(0.0, None, 0.1, "connect_refused")]
    trials = [
        replace(trial, requests=refused) if trial.workload == "slow-alone" else trial
        for trial in starvation_trials(3)
    ]
    (found,) = analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=text))).requirements
    assert found.verdict == "pass"


def test_what_this_version_cannot_read_is_said_to_be_so(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [], plan_text=PLAN + '[[require]]\nthat = "p42 < 5 ms"')
    (found,) = analyse(RunRecord.open(folder)).requirements
    assert (found.that, found.verdict) == ("p42 < 5 ms", "undecided")
    assert "jostle does not measure" in found.message


def test_what_was_not_measured_or_is_invalid_cannot_be_told(tmp_path: Path) -> None:
    text = PLAN + '[[require]]\nthat = "p50 < 1 s"\nworkload = "fast-only"'
    wrong = [Request(i / 100, i / 100, i / 100 + 0.002, "wrong_body") for i in range(400)]
    wrong += closed(lognormal(0.002, 0.1), 5.0)[:10]
    folder = make_run(tmp_path, [Trial("node", "fast-only", 1, wrong)], plan_text=text)
    (found,) = analyse(RunRecord.open(folder)).requirements
    assert (found.verdict, found.message[:21]) == ("undecided", "the figure is invalid")
    none = make_run(tmp_path / "none", [], plan_text=text)
    append_event(none / "journal.ndjson", "contestant skipped", contestant="go", why="no go here")
    (found,) = analyse(RunRecord.open(none)).requirements
    assert (found.verdict, found.message) == ("undecided", "it was not measured (go: no go here)")


def test_wrong_responses_are_failures_and_a_quantile_among_them_fails(tmp_path: Path) -> None:
    require = "".join(
        f'[[require]]\nthat = "{that}"\n' for that in ("errors < 1 %", "p50 < 1 s", "p99 < 1 s")
    )
    times = closed(lognormal(0.002, 0.2), 5.0)
    wrong = [replace(r, outcome="wrong_status") if i % 20 == 0 else r for i, r in enumerate(times)]
    trials = [Trial("node", "fast-only", number, wrong) for number in (1, 2, 3)]
    result = analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=PLAN + require)))
    assert result.verdict == "valid"
    found = {r.that: r for r in result.requirements if r.workload == "fast-only"}
    assert {that: one.verdict for that, one in found.items()} == {
        "errors < 1 %": "fail",
        "p50 < 1 s": "pass",
        "p99 < 1 s": "fail",
    }
    assert found["p99 < 1 s"].message.endswith("it lies among the requests that failed")


@pytest.mark.parametrize(
    ("measured", "about"),
    [
        (["node", "node:workers=2"], {"node": "pass"}),
        (["node:workers=1", "node:workers=2"], {"node:workers=1": "pass", "node:workers=2": "pass"}),
        (["go"], {"node": "undecided"}),
    ],
)
def test_a_requirement_is_of_the_very_contestant_or_else_of_its_variants(
    tmp_path: Path, measured: list[str], about: dict[str, str]
) -> None:
    text = PLAN + '[[require]]\nthat = "p50 < 1 s"\nworkload = "fast-only"\ncontestant = "node"'
    trials = [
        Trial(name, "fast-only", n, closed(lognormal(0.002, 0.1), 2.0, seed=n), 2.0)
        for n in (1, 2, 3)
        for name in measured
    ]
    folder = make_run(tmp_path, trials, plan_text=text)
    assert {r.contestant: r.verdict for r in analyse(RunRecord.open(folder)).requirements} == about


def test_a_requirement_of_one_that_was_skipped_is_not_judged_by_its_variants(tmp_path: Path) -> None:
    text = PLAN + '[[require]]\nthat = "p50 < 1 s"\nworkload = "fast-only"\ncontestant = "go"'
    trial = Trial("go:procs=1", "fast-only", 1, closed(lognormal(0.002, 0.1), 2.0), 2.0)
    folder = make_run(tmp_path, [trial], plan_text=text)
    append_event(folder / "journal.ndjson", "contestant skipped", contestant="go", why="no go here")
    (found,) = analyse(RunRecord.open(folder)).requirements
    assert (found.contestant, found.verdict) == ("go", "undecided")
    assert found.message == "it was not measured (go: no go here)"


def test_a_requirement_that_fails_ends_the_command_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trials = [
        Trial("node", "fast-only", n, closed(lognormal(0.002, 0.1), 3.0, seed=n), 3.0) for n in (1, 2, 3)
    ]
    for limit, code in (("1 ms", 1), ("1 s", 0)):
        text = PLAN + f'[[require]]\nthat = "p50 < {limit}"\nworkload = "fast-only"'
        folder = make_run(tmp_path / str(code), trials, plan_text=text)
        assert show(folder, ResultOutput(as_json=True), pages=False, undecided=None) == code
        found = json.loads(capsys.readouterr().out)
        assert found["requirements"][0]["verdict"] == ("fail" if code else "pass")


def test_a_threshold_on_one_run_is_a_response_and_no_skipped_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Thirty seconds of a load, as other tools are used: undecided, exit code 4, and skipped in JUnit."""
    trial = Trial("node", "fast-only", 1, closed(lognormal(0.002, 0.1), 3.0), 3.0)
    text = PLAN + '[[require]]\nthat = "p99 < 250 ms"\nworkload = "fast-only"'
    folder = make_run(tmp_path, [trial], plan_text=text)
    assert show(folder, ResultOutput(as_json=True), pages=False, undecided=None) == 0
    (found,) = json.loads(capsys.readouterr().out)["requirements"]
    assert found["verdict"] == "pass"
    root = ET.fromstring(rendered(analyse(RunRecord.open(folder)), "junit"))
    (case,) = root.findall("testsuite[@name='requirements']/testcase")
    assert list(case) == []


def test_requirements_stand_in_every_form(judged: RunResult) -> None:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    print_result(judged, console)
    written = console.file.getvalue()  # type: ignore[attr-defined]
    for text in (written, rendered(judged, "md"), rendered(judged, "html")):
        said = html.unescape(text).replace("\N{NO-BREAK SPACE}", " ")
        assert "p50 < 1 ms" in said
        assert "99 % confidence" in said
    assert written.index("✗ fail") < written.index("? undecided") < written.index("✓ pass")
    assert isinstance(judged.requirements[0], RequirementResult)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ('that = "p99 = 5 ms"', "is not a condition"),
        ('that = "p98 < 5 ms"', "jostle does not measure 'p98'"),
        ('that = "server cores < inf"', "'inf' is not a number"),
        ('that = "p99 < 5"', "has no unit of time"),
        ('that = "errors < 5 ms"', "is not a share"),
        ('that = "throughput > 5"', "does not say per which time"),
        ('that = "p99 < 5 ms"\nworkload = "fast"', "there is no workload 'fast'"),
        ('that = "p99 < 5 ms"\ncontestant = "ruby"', "'ruby' is not measured"),
        ('that = "p99 < 5 ms"\nconfidence = "100 %"', "not a confidence from 50 % to 99.9 %"),
        ('that = "p99 < 5 ms"\nconfidence = 1', "not a confidence"),
        (
            'that = "starvation index < 0.1"\nworkload = "slow-alone"',
            "no [[starvation]] of this plan measures",
        ),
        ("workload = 'fast-only'", "that: is missing"),
    ],
)
def test_what_cannot_be_required_is_refused_with_a_reason(wrong: str, says: str) -> None:
    with pytest.raises(PlanError) as refused:
        parse_plan(f"{PLAN}\n[[require]]\n{wrong}", "plan.toml")
    assert says in str(refused.value)
    assert bool(refused.value.hint) == ("missing" not in says)
    assert "require" in refused.value.message


def test_a_plan_with_requirements_reads_back() -> None:
    plan = parse_plan(PLAN + REQUIRED, "plan.toml")
    assert plan.require[1].confidence == 0.99
    assert parse_plan(to_toml(plan), "again") == plan


@pytest.mark.parametrize(
    ("text", "metric", "below", "limit", "relative"),
    [
        ("p99 > +5%", "p99", False, 0.05, True),
        ("throughput < -10 %", "throughput", True, -0.1, True),
        ("p50>250%", "p50", False, 2.5, True),
        ("p50 > +2 ms", "p50", False, 0.002, False),
        ("errors > +0.1 %", "errors", False, 0.001, False),
        ("p99.9 >= −3 %", "p99.9", False, -0.03, True),
    ],
)
def test_changes(text: str, metric: str, below: bool, limit: float, relative: bool) -> None:
    found = change(text)
    assert (found.metric, found.below, found.relative) == (metric, below, relative)
    assert found.limit == pytest.approx(limit)


@pytest.mark.parametrize(
    "text", ["", "p99", "p99 > ", "starvation index > +5 %", "p99 > +x %", "p99 > +5", "p99 >> 5 %"]
)
def test_what_is_no_change_is_refused(text: str) -> None:
    with pytest.raises(BadValue):
        change(text)


def test_a_number_of_clients_may_be_required() -> None:
    assert requirement("clients in time >= 9000").limit == 9000


def test_a_requirement_has_the_unit_of_its_quantity() -> None:
    assert requirement("starvation index < 0.1").limit == pytest.approx(0.1)
    assert requirement("blocking index < 1.5").limit == requirement("blocking index < 150 %").limit == 1.5
    assert requirement("memory < 200MB").limit == 200e6


@pytest.mark.parametrize(
    ("that", "verdict"), [("p50 < 1 ms", "undecided"), ("p50 < 5 ms", "pass"), ("errors < 1 %", "pass")]
)
def test_a_disturbance_fails_no_requirement_and_what_passes_in_spite_of_it_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, that: str, verdict: str
) -> None:
    busy = Check(
        "machine", Verdict.SUSPECT, 0.4, 0.05, "share", "busy", "", (*RATES, *TIMES), "machine", again=True
    )
    monkeypatch.setattr(checks, "CHECKS", [*checks.CHECKS, lambda _: busy])
    times = closed(lognormal(0.002, 0.2), 5.0)
    trials = [Trial("node", "fast-only", number, times) for number in (1, 2, 3)]
    require = f'repeats = false\n{PLAN}[[require]]\nthat = "{that}"\nworkload = "fast-only"\n'
    (found,) = analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=require))).requirements
    assert found.verdict == verdict
    assert ("other programs" in found.message) == (verdict == "undecided")

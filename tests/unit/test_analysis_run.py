"""A run from its folder to what a report shows."""

import json
import math
import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jostle.analysis.results import RunResult, StarvationResult, WorkloadSummary
from jostle.analysis.run import analyse
from jostle.analysis.stats.enough import TOO_FEW_ROUNDS
from jostle.analysis.summaries.trial import describe_trial
from jostle.analysis.trials.data import TrialData
from jostle.record import RunRecord
from jostle.record.journal import append_event
from support.rendered import rendered
from support.synthetic import (
    SLOW_S,
    STARVATION_PLAN,
    Request,
    Trial,
    back_to_back,
    closed,
    lognormal,
    make_run,
    open_loop,
    starvation_run,
    starvation_trials,
)

STEADY = lognormal(0.002, 0.2)
PLAN = STARVATION_PLAN.format(rounds=5)


@pytest.fixture(scope="module")
def starved(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return analyse(RunRecord.open(starvation_run(tmp_path_factory.mktemp("runs"))))


def analysed(tmp_path: Path, trials: list[Trial], plan_text: str = PLAN, ended: bool = True) -> RunResult:
    return analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=plan_text, ended=ended)))


def summary(result: RunResult, contestant: str, workload: str) -> WorkloadSummary:
    (found,) = [c for c in result.summaries if (c.contestant, c.workload) == (contestant, workload)]
    return found


def starvation(result: RunResult, contestant: str, form: str = "as published") -> StarvationResult:
    (found,) = [s for s in result.starvation if (s.contestant, s.form) == (contestant, form)]
    return found


def test_the_whole_is_there(starved: RunResult) -> None:
    assert (starved.verdict, starved.reasons, starved.complete) == ("valid", [], True)
    assert len(starved.summaries) == 10
    assert len(starved.trials) == 50
    assert starved.title == "Does one slow request starve the fast ones?"
    assert starved.seed == 7
    assert starved.rerun == "jostle run plan.toml --seed 7"
    assert set(starved.contestants) == {"node", "go"}
    assert starved.contestants["node"]["discipline"] == "run to completion"
    assert summary(starved, "node", "fast-only").title == "One fast client"
    assert json.loads(json.dumps(starved.as_json()))["format"] == 2


def test_cells_hold_all_rounds(starved: RunResult) -> None:
    fast = summary(starved, "node", "fast-only")
    trials = [t for t in starved.trials if t.number in fast.trials]
    assert fast.rounds == len(trials) == 5
    assert fast.outcomes["ok"] == sum(t.outcomes["ok"] for t in trials)
    assert fast.throughput.value == pytest.approx(math.prod(t.throughput_per_s for t in trials) ** 0.2)
    assert fast.throughput.unit == "/s"
    median = fast.response["p50"]
    assert median.low is not None
    assert median.value is not None
    assert median.high is not None
    assert median.low < 0.002 < median.high
    for name, above in (("p25", False), ("p75", True)):
        quartile = fast.quartiles[name]
        assert quartile.value is not None
        assert quartile.low is not None
        assert len(quartile.rounds) == 5
        assert (quartile.value > median.value) is above
    assert "2,995 requests in each round" in fast.response["p99.9"].note
    assert fast.response_of_all_requests["p99.9"].value is not None  # 11,000: another figure
    assert fast.response_of_all_requests["p99.9"].low is None
    assert trials[0].response["p99.9"].value is None
    assert fast.response_distribution.n == fast.outcomes["ok"]
    assert fast.server_rss_max_bytes == 80_000_000
    assert fast.server_cpu_s_per_request.value == pytest.approx(0.7 * 5 / (fast.outcomes["ok"] / 5), rel=0.05)


def test_starvation_of_a_server_that_runs_to_completion(starved: RunResult) -> None:
    """Two slow requests of 1.9 s fill 3.8 of 5 s."""
    node = starvation(starved, "node")
    assert node.index.value == pytest.approx(0.76, abs=0.02)
    assert node.index.low is not None
    assert node.index.high is not None
    assert node.index.low < node.index.value < node.index.high
    assert node.index.high - node.index.low < 0.1
    assert node.slow_s.value == pytest.approx(SLOW_S, rel=0.03)
    assert node.sentence.startswith(
        "While one slow request runs, node answers no fast one: fast requests wait for up to 3."
    )
    assert (
        "In that time, node loses 99.5 % [98.3, 100] of its throughput; over the whole trial, "
        in node.sentence
    )
    assert node.published_alone is not None
    assert node.published_with is not None
    assert (node.published_alone.value, node.published_with.value) == (572, 114)


def test_one_blocked_closed_client_says_nothing_about_blocking_and_a_stream_does(starved: RunResult) -> None:
    assert starvation(starved, "node").blocking.value == pytest.approx(0, abs=0.01)
    stream = starvation(starved, "node", "open loop")
    before, after = stream.alone_response["p99"].value, stream.with_response["p99"].value
    assert before is not None
    assert after is not None
    assert stream.slow_s.value is not None
    assert stream.blocking.value == pytest.approx((after - before) / stream.slow_s.value)  # as defined
    assert stream.blocking.value > 1.5  # they queue up
    assert stream.index.value == pytest.approx(0, abs=0.01)  # everybody was answered, late
    assert stream.sentence.startswith("node answers fast requests only while no slow one runs: p99 is ")
    assert stream.published_alone is None


def test_a_server_that_shares_keeps_serving(starved: RunResult) -> None:
    go = starvation(starved, "go")
    assert go.index.high is not None
    assert go.index.high < 0.12
    assert go.published_alone is None
    stream = starvation(starved, "go", "open loop")
    assert stream.blocking.high is not None
    assert stream.blocking.high < 0.01
    assert stream.sentence.startswith("go keeps answering while slow requests run: p99 is 4.")


@pytest.mark.parametrize("clients", [1, 3])
def test_a_server_that_takes_turns_on_one_core_is_not_called_blocked(tmp_path: Path, clients: int) -> None:
    """Each fast request waits for a time slice of 20 ms: 95 % are lost, and yet everybody is answered."""
    load = {"closed": {"clients": clients}}
    trials = []
    for number in range(1, 4):
        alone = closed(lognormal(0.001, 0.1), 3.0, seed=number, clients=clients)
        beside = closed(lognormal(0.02, 0.1), 3.0, seed=number, clients=clients)
        slow = back_to_back(2.9, 3.0, limit=1)
        trials.append(Trial("go", "fast-only", number, alone, 3.0, load=load))
        trials.append(
            Trial("go", "fast-with-slow", number, beside + slow, 3.0, load=load, background={"closed": {}})
        )
    go = starvation(analysed(tmp_path, trials), "go")
    assert go.index.low is not None
    assert go.index.low > 0.9
    who = "the only client" if clients == 1 else "its 3 clients"
    told = re.fullmatch(
        rf"While go works on a slow request \(96.7 % of the trial\), each fast request of {who} waits until "
        r"the slow one is interrupted \(median (.*) ms, longest (.*) ms\)\. go loses (.*) % "
        r"\[.*\] of the trial’s throughput\.",
        go.sentence,
    )
    assert told is not None, go.sentence
    assert float(told[1]) == pytest.approx(20, rel=0.05)
    assert 20 < float(told[2]) < 40
    assert float(told[3]) == pytest.approx(95, rel=0.01)


def test_the_wait_of_a_turn_is_told_of_the_time_in_which_the_slow_request_ran(tmp_path: Path) -> None:
    """For a second of four, a turn is 50 ms; before and after, a fast request takes 1 ms."""
    trials = []
    for number in range(1, 4):
        alone = closed(lognormal(0.001, 0.1), 4.0, seed=number)
        quick = [r for r in alone if not (r.end > 1.0 and r.intended < 2.0)]
        turns = [Request(1 + i / 20, 1 + i / 20, 1.05 + i / 20) for i in range(20)]
        slow = [Request(1.0, 1.0, 2.0, workload=1)]
        trials.append(Trial("go", "fast-only", number, alone, 4.0))
        trials.append(
            Trial("go", "fast-with-slow", number, quick + turns + slow, 4.0, background={"closed": {}})
        )
    go = starvation(analysed(tmp_path, trials), "go")
    assert "until the slow one is interrupted (median 50.0 ms, longest 50.0 ms)" in go.sentence
    assert go.with_response["p50"].value == pytest.approx(0.001, rel=0.05)


def test_the_same_record_gives_the_same_figures(tmp_path: Path) -> None:
    trials = [t for t in starvation_trials(2) if t.contestant == "node"]
    folder = make_run(tmp_path, trials, plan_text=PLAN)
    assert analyse(RunRecord.open(folder)) == analyse(RunRecord.open(folder))


def test_one_round_gives_no_interval_and_says_so(tmp_path: Path) -> None:
    result = analysed(tmp_path, starvation_trials(1))
    node = starvation(result, "node")
    assert node.index.value is not None
    assert (node.index.low, node.index.high) == (None, None)
    assert "at least 3" in node.index.note
    assert node.sentence.startswith("In the only round, node lost 7")
    assert "at least 3 rounds" in starvation(result, "node", "open loop").sentence
    assert "at least 3" in summary(result, "node", "fast-only").throughput.note
    median = summary(result, "node", "fast-only").response["p50"]
    assert median.low is not None  # order statistics within the round
    assert median.this_run_only


def test_a_start_that_failed_does_not_take_what_is_known_of_a_contestant(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [t for t in starvation_trials(2) if t.contestant == "node"], plan_text=PLAN)
    described = sorted(folder.glob("trials/*/trial.json"))
    last = json.loads(described[-1].read_text())
    last["server"] = {"label": "node"}  # all that is written of a server that did not start
    described[-1].write_text(json.dumps(last))
    assert analyse(RunRecord.open(folder)).contestants["node"]["discipline"] == "run to completion"


def test_rounds_that_disagree_are_no_verdict(tmp_path: Path) -> None:
    """A server that answers nothing in two rounds of four, and everything in the others."""
    trials = []
    for number in range(1, 5):
        slow = [Request(0.0, 0.0, 5.0, "unfinished", workload=1)]
        blocked = [(0.0, 60.0)] if number % 2 else []
        trials.append(Trial("axum", "fast-only", number, closed(STEADY, 5.0, seed=number)))
        beside = closed(STEADY, 5.0, seed=number + 9, blocked=blocked) + slow
        trials.append(Trial("axum", "fast-with-slow", number, beside, background={"closed": {"clients": 1}}))
    found = starvation(analysed(tmp_path, trials), "axum")
    assert found.index.value is None
    assert sorted(found.index.rounds) == pytest.approx([0, 0, 1, 1], abs=0.05)
    assert found.sentence.startswith("Undecided: in 4 rounds, axum lost between ")
    assert "The rounds lie too far apart for a mean." in found.sentence
    assert found.slow_s.value is None


def test_nothing_answered_at_all_is_a_loss_of_everything(tmp_path: Path) -> None:
    trials = []
    for number in range(1, 4):
        trials.append(Trial("node", "fast-only", number, closed(STEADY, 5.0, seed=number)))
        hung = [Request(0.0, 0.0, 5.0, "unfinished"), Request(0.0, 0.0, 5.0, "unfinished", workload=1)]
        trials.append(Trial("node", "fast-with-slow", number, hung, background={"closed": {"clients": 1}}))
    result = analysed(tmp_path, trials)
    node = starvation(result, "node")
    assert (node.index.value, node.index.high) == (1, 1)
    assert node.index.low == pytest.approx(0.99)
    assert "answers no fast one: a fast request waited for 5.00 s without a response" in node.sentence
    assert (node.with_response["p50"].value, node.with_response["p50"].bound) == (
        pytest.approx(5, rel=2e-3),
        "≥",
    )
    assert any("longer than" in note for note in result.notes)


def test_a_stream_that_is_hardly_answered_is_blocked_for_at_least_so_long(tmp_path: Path) -> None:
    load = {
        "open": {"arrivals": "poisson", "rates": [{"from": 200.0, "to": 200.0}], "max_connections": 9_999}
    }
    trials = []
    for number in range(1, 4):
        trials.append(Trial("node", "stream", number, open_loop(STEADY, 200, 5.0, seed=number), load=load))
        hung = open_loop(STEADY, 200, 5.0, seed=number, blocked=[(0.1, 60.0)])
        hung.append(Request(0.1, 0.1, 5.0, "unfinished", workload=1))
        background = {"closed": {"clients": 1}}
        trials.append(Trial("node", "stream-with-slow", number, hung, load=load, background=background))
        trials.append(Trial("node", "slow-alone", number, [Request(0.0, 0.0, 4.0)]))
    node = starvation(analysed(tmp_path, trials), "node", "open loop")
    assert (node.with_response["p99"].bound, node.blocking.bound) == ("≥", "≥")
    assert node.blocking.value == pytest.approx((4.9 - 0.003) / 4, abs=0.01)
    assert "answers fast requests only while no slow one runs: p99 is at least 4.9" in node.sentence


def blocked_stream(number: int, until_s: float) -> list[Trial]:
    """A round in which a slow request ends `until_s` from its start, or never, if that is after the load."""
    load = {
        "open": {"arrivals": "poisson", "rates": [{"from": 200.0, "to": 200.0}], "max_connections": 9_999}
    }
    beside = open_loop(STEADY, 200, 5.0, seed=number, blocked=[(0.1, until_s)])
    beside.append(Request(0.1, 0.1, 4.9, workload=1))
    return [
        Trial("node", "stream", number, open_loop(STEADY, 200, 5.0, seed=number), load=load),
        Trial("node", "stream-with-slow", number, beside, load=load, background={"closed": {"clients": 1}}),
        Trial("node", "slow-alone", number, [Request(0.0, 0.0, 4.0)]),
    ]


def test_a_single_round_with_a_bound_does_not_decide_the_blocking_index(tmp_path: Path) -> None:
    """In one of four rounds hardly anything is answered, in the others nothing is late for long."""
    ends_s = [60.0, 0.5, 1.0, 0.4]
    trials = [t for number, until_s in enumerate(ends_s, 1) for t in blocked_stream(number, until_s)]
    node = starvation(analysed(tmp_path / "four", trials), "node", "open loop")
    assert (node.blocking.bound, node.blocking.high) == ("≥", None)
    assert node.blocking.value is not None
    assert node.blocking.low is not None
    assert node.blocking.low < 0.1 < node.blocking.value
    assert node.sentence.startswith("Undecided for node: p99 is at least ")
    two = starvation(analysed(tmp_path / "two", [t for t in trials if t.round < 3]), "node", "open loop")
    assert (two.blocking.bound, two.blocking.low) == ("≥", None)
    assert two.sentence.startswith("In 2 rounds of node, p99 is at least ")
    assert TOO_FEW_ROUNDS in two.sentence.lower()


def test_workloads_without_a_common_round_are_not_compared(tmp_path: Path) -> None:
    rounds = [blocked_stream(number, 0.3) for number in range(1, 7)]
    trials = [
        t for number, found in enumerate(rounds) for t in found if (t.workload == "stream") == (number < 3)
    ]
    node = starvation(analysed(tmp_path, trials), "node", "open loop")
    assert (node.index.value, node.blocking.value) == (None, None)
    assert node.blocking.note == "no round measured both"


def test_an_index_that_is_not_known_says_what_was_not_answered(tmp_path: Path) -> None:
    load = {
        "open": {"arrivals": "poisson", "rates": [{"from": 200.0, "to": 200.0}], "max_connections": 9_999}
    }
    trials = []
    for number in range(1, 4):
        few = open_loop(STEADY, 20, 5.0, seed=number)
        trials.append(Trial("node", "stream", number, open_loop(STEADY, 200, 5.0, seed=number), load=load))
        background = {"closed": {"clients": 2}}
        trials.append(Trial("node", "stream-with-slow", number, few, load=load, background=background))
        trials.append(Trial("node", "slow-alone", number, [Request(0.0, 0.0, 4.0)]))
    node = starvation(analysed(tmp_path, trials), "node", "open loop")
    assert (
        node.blocking.note
        == "its p99 beside slow requests has no value: needs at least 299 requests in each round"
    )


def test_slow_requests_measured_only_beside_the_fast_ones_are_marked(tmp_path: Path) -> None:
    trials = [t for t in starvation_trials(2) if t.workload != "slow-alone"]
    found = starvation(analysed(tmp_path, trials), "node")
    assert found.slow_s.value == pytest.approx(SLOW_S, rel=0.03)
    assert "not by itself" in found.slow_s.note


def test_failed_trials_count_in_the_verdict_and_not_in_the_figures(tmp_path: Path) -> None:
    good = [Trial("node", "fast-only", number, closed(STEADY, 5.0, seed=number)) for number in (1, 2)]
    dead = Trial("node", "fast-only", 3, [], status="failed", why="node ended in the middle of the trial")
    result = analysed(tmp_path, [*good, dead])
    fast = summary(result, "node", "fast-only")
    assert (fast.verdict, fast.rounds, len(fast.trials)) == ("invalid", 2, 3)
    assert fast.throughput.n == 2
    assert result.verdict == "invalid"
    assert result.reasons == [
        "node, fast-only (1 of 3 rounds): the trial failed: node ended in the middle of the trial"
    ]


def test_a_contestant_of_which_every_trial_failed(tmp_path: Path) -> None:
    trials = [
        Trial("node", workload, 1, [], status="failed", why="node did not start")
        for workload in ("fast-only", "fast-with-slow")
    ]
    result = analysed(tmp_path, trials)
    assert summary(result, "node", "fast-only").throughput.value is None
    node = starvation(result, "node")
    assert node.index.value is None
    assert node.sentence == "It is unknown whether a slow request starves node: nothing to compare with."


def test_an_empty_run(tmp_path: Path) -> None:
    result = analysed(tmp_path, [])
    assert (result.verdict, result.summaries, result.trials) == ("invalid", [], [])
    assert result.reasons == ["nothing was measured"]


def test_a_run_cut_short_reports_what_was_measured(tmp_path: Path) -> None:
    first, second = starvation_trials(1)[:2]
    result = analysed(tmp_path, [first, replace(second, status=None)], ended=False)
    assert not result.complete
    assert result.verdict == "suspect"
    assert [t.status for t in result.trials] == ["ended", "cut short"]
    assert result.trials[1].outcomes["ok"] > 100
    assert any("the run is not complete: 1 of 2 trials are complete" in reason for reason in result.reasons)


def test_reasons_are_told_once_for_all_rounds_and_worst_first(tmp_path: Path) -> None:
    shared = [Trial("a", "w", n, closed(STEADY, 5.0, seed=n), shared=True) for n in (1, 2)]
    hot = Trial("a", "w", 3, closed(STEADY, 5.0), generator_cpu=0.99)
    reasons = analysed(tmp_path, [*shared, hot]).reasons
    assert [r.partition(":")[0] for r in reasons] == ["a, w (1 of 3 rounds)", "a, w (2 of 3 rounds)"]
    assert "99 % of a core" in reasons[0]


def test_a_single_trial_speaks_for_itself(tmp_path: Path) -> None:
    (reason,) = analysed(tmp_path, [Trial("a", "w", 1, closed(STEADY, 5.0), shared=True)]).reasons
    assert reason.startswith("server and generator shared cores")


def test_plans_that_cannot_be_read_any_more_do_not_matter(tmp_path: Path) -> None:
    result = analysed(tmp_path, [Trial("a", "w", 1, closed(STEADY, 5.0))], plan_text="title = = x")
    assert result.title == ""
    assert summary(result, "a", "w").title == "w"


def test_skipped_contestants_are_named(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [])
    append_event(folder / "journal.ndjson", "contestant skipped", contestant="go", why="no go here")
    assert analyse(RunRecord.open(folder)).skipped == {"go": "no go here"}


def test_who_was_skipped_in_one_workload_is_named_with_it(tmp_path: Path) -> None:
    plan = """
    title = "t"
    [[require]]
    that = "p50 < 1 s"
    contestant = "a"
    workload = "streams"
    [[claim]]
    says = "Streams are short."
    holds = [{ contestant = "a", workload = "streams", metric = "p50", below = 1 }]
    """
    folder = make_run(tmp_path, [Trial("a", "w", 1, closed(STEADY, 5.0))], plan_text=plan)
    why = "a speaks HTTP/1.1"
    append_event(folder / "journal.ndjson", "contestant skipped", contestant="a", workload="streams", why=why)
    result = analyse(RunRecord.open(folder))
    assert (result.skipped, result.skipped_workloads) == ({}, {"a": {"streams": why}})
    (requirement,), (claim,) = result.requirements, result.claims
    assert requirement.message == f"it was not measured (a: {why})"
    assert claim.sentence == f"streams was not measured on a ({why})."
    assert f"not measured: a in streams ({why})" in rendered(result, "md")


def test_phases_stand_in_the_timeline(tmp_path: Path) -> None:
    steps = [("ramp", 2), ("hold", 9)]
    phases = [{"name": n, "duration_ns": s * 10**9, "from": 0, "to": 5} for n, s in steps]
    load = {"closed": {"clients": 5, "phases": phases}}
    folder = make_run(tmp_path, [Trial("a", "w", 1, closed(STEADY, 5.0), load=load)])
    found = describe_trial(TrialData(RunRecord.open(folder).trials[0])).timeline.phases
    assert [(p.name, p.start_s, p.end_s) for p in found] == [("ramp", 0, 2), ("hold", 2, 5)]
    steady = make_run(tmp_path, [Trial("a", "w", 1, closed(STEADY, 5.0))])
    assert describe_trial(TrialData(RunRecord.open(steady).trials[0])).timeline.phases == []


def test_what_the_times_are_made_of(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [Trial("a", "w", r, closed(STEADY, 5.0)) for r in (1, 2)])
    (summary,) = analyse(RunRecord.open(folder)).summaries
    assert list(summary.parts) == ["headers", "body"]  # nothing connected while it was measured
    headers, body = (summary.parts[part]["p50"].value for part in ("headers", "body"))
    assert headers == pytest.approx(9 * body, rel=0.02)


def test_what_the_end_of_a_trial_cut_off_is_no_failure_in_its_timeline(tmp_path: Path) -> None:
    requests = [*closed(STEADY, 4.0), Request(4.0, 4.0, 5.0, outcome="unfinished")]
    requests.append(Request(2.2, 2.2, 2.4, outcome="reset"))
    folder = make_run(tmp_path, [Trial("a", "w", 1, requests)])
    line = describe_trial(TrialData(RunRecord.open(folder).trials[0])).timeline
    assert line.errors_per_s == [0, 0, 1, 0, 0]


def test_the_timeline_of_a_trial(tmp_path: Path) -> None:
    blocked = [*closed(STEADY, 5.0, blocked=[(1.0, 3.5)]), Request(1.0, 1.0, 3.5, workload=1)]
    folder = make_run(tmp_path, [Trial("a", "w", 1, blocked, background={"closed": {"clients": 1}})])
    trial = describe_trial(TrialData(RunRecord.open(folder).trials[0]))
    line = trial.timeline
    assert line.t_s == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert line.throughput_per_s[1] == line.throughput_per_s[2] == 0
    assert line.p50_s[1] is None
    assert line.max_s[3] == pytest.approx(2.5, rel=0.01)
    assert line.in_flight == pytest.approx([1, 1, 1, 1, 1], rel=0.01)
    assert line.generator_cpu == pytest.approx([0.3] * 5)
    assert len(line.server_t_s) == 20
    assert line.server_cpu == pytest.approx([0.7] * 20)
    assert len({len(line.t_s), len(line.p99_s), len(line.clients), len(line.errors_per_s)}) == 1
    assert line.clients == [1, 1, 1, 1, None]  # everybody leaves at the end
    itself = line.generator
    assert itself.loop_lag_max_s == pytest.approx([20e-6] * 5, rel=0.1)
    assert (itself.open_files, itself.local_ports) == ([12] * 5, [2] * 5)
    assert (itself.open_files_limit, itself.local_ports_limit) == (20_000, 28_232)
    assert len(itself.pacing_p99_s) == len(itself.bytes_in_per_s) == len(itself.bytes_out_per_s) == 5
    assert trial.background["ok"] == 1
    assert trial.background["service_mean_s"] == pytest.approx(2.5)
    assert trial.background["in_flight"] == pytest.approx(0.5)
    (request,) = trial.requests
    assert request["name"] == "GET /fast/44"
    assert request["outcomes"] == trial.outcomes


def test_open_loops_tell_what_was_offered(tmp_path: Path) -> None:
    load = {"open": {"arrivals": "poisson", "rates": [{"from": 200.0, "to": 200.0}], "max_connections": 100}}
    folder = make_run(tmp_path, [Trial("a", "w", 1, open_loop(STEADY, 200, 5.0), load=load)])
    trial = describe_trial(TrialData(RunRecord.open(folder).trials[0]))
    assert trial.offered_per_s == pytest.approx(200, rel=0.1)
    assert trial.pacing_p99_s == pytest.approx(20e-6, rel=0.01)


def test_rows_correct_intervals_for_autocorrelation(tmp_path: Path) -> None:
    """The server changes its pace every 50 requests: its median is less certain than they suggest."""
    rng = random.Random(1)
    requests, now, pace = [], 0.0, 0.0
    for i in range(2000):
        if i % 50 == 0:
            pace = rng.uniform(0.001, 0.004)
        service = pace * rng.uniform(0.9, 1.1)
        requests.append(Request(now, now, now + service))
        now += service
    widths = []
    for rows in (False, True):
        made = Trial("a", "w", 1, requests, duration=now, interval=now, rows=rows)
        median = describe_trial(TrialData(RunRecord.open(make_run(tmp_path, [made])).trials[0])).response[
            "p50"
        ]
        assert median.low is not None
        assert median.high is not None
        widths.append(median.high - median.low)
    assert widths[1] > 3 * widths[0]


def test_the_analysis_of_a_hit_does_not_pay_for_pictures_or_frames(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [Trial("a", "w", 1, closed(STEADY, 5.0))])
    code = (
        "import sys\nfrom jostle.analysis.run import analyse\nfrom jostle.record import RunRecord\n"
        f"analyse(RunRecord.open({str(folder)!r}))\n"
        "print([m for m in ('polars', 'altair', 'vl_convert') if m in sys.modules])"
    )
    path = str(Path(__file__).parents[2] / "python")
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert said.stdout == "[]\n", said.stderr

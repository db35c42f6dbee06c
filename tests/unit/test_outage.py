"""A server that goes away is told as that, with its times; slow servers and chance are not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.metrics import estimate
from jostle.analysis.run import analyse, judge
from jostle.analysis.summaries.quantiles import quantiles
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.outage import Outage, away_at_least_s, away_s
from jostle.record import RunRecord
from support.judging import POISSON, STEADY, check, judged, recorded
from support.synthetic import Request, Trial, closed, lognormal, make_run, open_loop


def away(start: float, end: float, kind: str = "connect_refused", *, every: float = 0.5) -> list[Request]:
    """Answered within milliseconds, but from `start` to `end` clients fail, and pause for `every` seconds."""
    answered = [r for r in closed(STEADY, 10.0) if r.end <= start or r.intended >= end]
    at = [start + every * n for n in range(int((end - start) / every))]
    return [*answered, *(Request(t, None, t + 0.001, kind) for t in at)]


def found(tmp_path: Path, requests: list[Request], duration: float = 10.0) -> list[Outage]:
    trial = Trial("a", "w", 1, requests, duration=duration, interval=0.25)
    return TrialData(recorded(tmp_path, trial)).outages


def test_an_outage_in_the_middle_has_a_beginning_and_an_end(tmp_path: Path) -> None:
    (outage,) = found(tmp_path, away(3.0, 5.0))
    assert (outage.start_s, outage.end_s, outage.ends) == (3.0, 5.0, True)
    assert outage.failures == {"connect_refused": 4}
    assert str(outage) == "no response from 3.00 s to 5.00 s (connection refused)"


def test_until_when_a_server_was_away_is_known_by_those_that_did_not_pause(tmp_path: Path) -> None:
    """Clients of a closed loop pause for up to a second after failures: the server may be back meanwhile."""
    (outage,) = found(tmp_path, away(3.0, 5.0, every=1.0))
    assert (outage.end_s, outage.failed_until_s) == (5.0, 4.25)
    assert str(outage) == "no response from 3.00 s to between 4.25 s and 5.00 s (connection refused)"
    data = trial_of(tmp_path / "once", away(3.0, 5.0, every=1.0))
    assert check(judge(data.trial), "outage").message.startswith(
        f"{outage}: 1.25 s to 2.00 s, 20 % of the run, "
    )
    one = estimate("unavailable", [data])
    assert (one.value, one.low, one.high) == (0.2, 0.125, 0.2)
    several = estimate("unavailable", [data] * 3)
    assert several.low == pytest.approx(0.125, abs=0.001)


def test_a_server_that_dies_is_away_to_the_end(tmp_path: Path) -> None:
    (outage,) = found(tmp_path, away(5.25, 10.0, every=0.25))
    assert not outage.ends
    assert str(outage) == "no response from 5.25 s to the end (connection refused)"
    (paused,) = found(tmp_path / "paused", away(5.25, 10.0, every=1.0))
    assert str(paused) == "no response from 5.25 s to the end (connection refused, last at 8.50 s)"
    assert away_at_least_s([paused]) == 3.25


def test_a_server_that_hangs_is_away_to_the_end_although_nothing_failed(tmp_path: Path) -> None:
    hung = [*closed(STEADY, 5.0), Request(5.0, 5.0, 10.0, "unfinished")]
    (outage,) = found(tmp_path, hung)
    assert str(outage) == "no response from 5.00 s to the end"


def test_several_outages_add_up(tmp_path: Path) -> None:
    both = [r for r in away(2.0, 3.0) if r.end < 6] + [r for r in away(7.0, 9.0, "reset") if r.intended > 6]
    times = found(tmp_path, both)
    assert [(one.start_s, one.end_s) for one in times] == [(2.0, 3.0), (7.0, 9.0)]
    assert away_s(times) == 3.0


@pytest.mark.parametrize(
    ("requests", "duration"),
    [
        (closed(STEADY, 10.0), 10.0),
        (closed(lognormal(2.5, 0.01), 10.0), 10.0),  # few responses: intervals without any are usual
        (closed(STEADY, 10.0, blocked=[(4.0, 5.0)]), 10.0),  # a stall: those who wait are answered
        ([*open_loop(STEADY, 2.0, 10.0), Request(5.1, 5.1, 5.2, "reset")], 10.0),  # two responses a second
        ([Request(t / 10, None, t / 10, "connect_refused") for t in range(100)], 10.0),  # it never answered
    ],
)
def test_slow_servers_stalls_and_chance_are_no_outages(
    tmp_path: Path, requests: list[Request], duration: float
) -> None:
    assert found(tmp_path, requests, duration) == []


def test_all_outages_are_told_in_one_clause(tmp_path: Path) -> None:
    """The terminal shortens a reason at its first semicolon."""
    both = [r for r in away(2.0, 3.0) if r.end < 6] + [r for r in away(7.0, 9.0, "reset") if r.intended > 6]
    message = check(judged(tmp_path, both, duration=10.0, interval=0.25), "outage").message
    assert message == (
        "no response from 2.00 s to 3.00 s (connection refused) and no response from 7.00 s to 9.00 s "
        "(reset): 3.00 s, 30 % of the run, "
        "488/s while it answered"
    )


def test_an_outage_makes_rates_suspect_however_few_requests_failed(tmp_path: Path) -> None:
    judgement = judged(tmp_path, away(3.0, 5.0, every=1.0), duration=10.0, interval=0.25)
    outage = check(judgement, "outage")
    assert outage.verdict == "suspect"
    assert outage.message.startswith(
        "no response from 3.00 s to between 4.25 s and 5.00 s (connection refused): 1.25 s to 2.00 s, 20 %"
    )
    assert outage.message.endswith("/s while it answered")
    assert (judgement.verdict_of("throughput"), judgement.verdict_of("p99")) == ("suspect", "valid")
    assert check(judged(tmp_path, closed(STEADY, 5.0)), "outage").verdict == "valid"


def trial_of(tmp_path: Path, requests: list[Request], **more: Any) -> TrialData:
    trial = Trial("a", "w", 1, requests, duration=10.0, interval=0.25, **more)
    return TrialData(recorded(tmp_path, trial))


def test_an_outage_counts_as_time_where_clients_wait_for_it(tmp_path: Path) -> None:
    """Two refusals among 4,000 responses: 0.05 % of the requests, and a fifth of the clients' time."""
    data = trial_of(tmp_path, away(3.0, 5.0, every=1.0))
    assert data.error_share < 0.001
    assert data.unavailable == 0.2
    assert data.failing_time_share == pytest.approx(0.2, abs=0.001)
    assert estimate("errors", [data]).value == pytest.approx(0.2, abs=0.001)
    assert estimate("unavailable", [data]).value == 0.2
    told = check(judge(data.trial), "errors").message
    assert told.startswith("clients spent 20 % of their time failing, 0.05")
    assert ", from " not in told  # the outage says when, and not how many: only those of its whole intervals


def test_the_requests_that_an_outage_kept_from_being_sent_are_longer_than_all_others(tmp_path: Path) -> None:
    """A server that is away for half of the time has no p99, however fast it was before."""
    data = trial_of(tmp_path, away(5.0, 10.0, every=1.0))
    found = quantiles([data])
    assert (found["p50"].bound, found["p99"].bound) == ("≥", "≥")
    whole = trial_of(tmp_path / "whole", closed(STEADY, 10.0))
    assert quantiles([whole])["p99"].bound == ""


def test_in_an_open_loop_those_that_failed_are_counted_and_none_is_added(tmp_path: Path) -> None:
    due = [replace(r, outcome="reset") if 3 <= r.intended < 5 else r for r in open_loop(STEADY, 200, 9.9)]
    data = trial_of(tmp_path, due, load=POISSON)
    assert data.never_answered == sum(r.outcome == "reset" for r in due)
    assert data.failing_time_share == data.error_share


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("p99 < 250 ms", "fail"),
        ("p50 < 250 ms", "pass"),
        ("errors < 1 %", "fail"),
        ("unavailable < 5 %", "fail"),
    ],
)
def test_requirements_do_not_pass_a_server_that_was_away(
    tmp_path: Path, condition: str, verdict: str
) -> None:
    plan = f"""
title = "Away"
contestants = ["a"]
rounds = 3

[workload.w]
request = {{ get = "/" }}
load = {{ clients = 1, for = "10s" }}

[[require]]
that = "{condition}"
"""
    trials = [Trial("a", "w", n, away(3.0, 5.0), duration=10.0, interval=0.25) for n in (1, 2, 3)]
    (found,) = analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=plan))).requirements
    assert found.verdict == verdict

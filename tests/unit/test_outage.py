"""A server that goes away is told as that, with its times; slow servers and chance are not."""

from pathlib import Path

import pytest

from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.outage import Outage, away_s, outages
from support.judging import STEADY, check, judged, recorded
from support.synthetic import Request, Trial, closed, lognormal, open_loop


def away(start: float, end: float, kind: str = "connect_refused", *, every: float = 0.5) -> list[Request]:
    """Answered within milliseconds, but from `start` to `end` clients fail, and pause for `every` seconds."""
    answered = [r for r in closed(STEADY, 10.0) if r.end <= start or r.intended >= end]
    at = [start + every * n for n in range(int((end - start) / every))]
    return [*answered, *(Request(t, None, t + 0.001, kind) for t in at)]


def found(tmp_path: Path, requests: list[Request], duration: float = 10.0) -> list[Outage]:
    trial = Trial("a", "w", 1, requests, duration=duration, interval=0.25)
    return outages(TrialData(recorded(tmp_path, trial)))


def test_an_outage_in_the_middle_has_a_beginning_and_an_end(tmp_path: Path) -> None:
    (outage,) = found(tmp_path, away(3.0, 5.0))
    assert (outage.start_s, outage.end_s, outage.ends) == (3.0, 5.0, True)
    assert outage.failures == {"connect_refused": 4}
    assert str(outage) == "no response from 3.00 s to 5.00 s (4 × connection refused)"


def test_a_server_that_dies_is_away_to_the_end(tmp_path: Path) -> None:
    (outage,) = found(tmp_path, away(5.25, 10.0))
    assert not outage.ends
    assert str(outage).startswith("no response from 5.25 s to the end (")


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
        (closed(lognormal(2.5, 0.01), 10.0), 10.0),  # few answers: intervals without any are usual
        (closed(STEADY, 10.0, blocked=[(4.0, 5.0)]), 10.0),  # a stall: those who wait are answered
        ([*open_loop(STEADY, 2.0, 10.0), Request(5.1, 5.1, 5.2, "reset")], 10.0),  # two answers a second
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
        "no response from 2.00 s to 3.00 s (2 × connection refused) and no response from 7.00 s to 9.00 s "
        "(4 × reset): 3.00 s, 30 % of the run"
    )


def test_an_outage_makes_a_trial_suspect_however_few_requests_failed(tmp_path: Path) -> None:
    judgement = judged(tmp_path, away(3.0, 5.0, every=1.0), duration=10.0, interval=0.25)
    outage = check(judgement, "outage")
    assert outage.verdict == "suspect"
    assert outage.message == (
        "no response from 3.00 s to 5.00 s (2 × connection refused): 2.00 s, 20 % of the run"
    )
    assert check(judgement, "errors").value < 0.001
    assert check(judged(tmp_path, closed(STEADY, 5.0)), "outage").verdict == "valid"

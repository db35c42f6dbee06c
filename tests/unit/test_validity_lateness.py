"""Lateness of the generator: judged by what it adds to each quantile."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jostle.analysis.run import judge
from jostle.analysis.summaries.quantiles import quantile
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.lateness import note
from support.judging import CONSTANT, POISSON, STEADY, check, judged, names, recorded
from support.synthetic import Request, Trial, closed


def late(lags: Callable[[int], float], service: float = 0.002) -> list[Request]:
    """1,000 requests that are due every 5 ms, each sent `lags` of its number late."""
    due = [(i + 1) / 200 for i in range(995)]
    return [Request(t, t + lags(i), t + lags(i) + service) for i, t in enumerate(due)]


@pytest.mark.parametrize(
    ("lag", "expected", "verdict"),
    [
        (50e-6, set(), "valid"),
        (300e-6, set(), "valid"),
        (4e-3, {"lateness"}, "suspect"),
        (4e-2, {"lateness"}, "invalid"),
    ],
)
def test_lateness_is_judged_by_what_it_adds_to_a_response_time(
    tmp_path: Path, lag: float, expected: set[str], verdict: str
) -> None:
    """Of a server that takes 2 ms."""
    validity = judged(tmp_path, late(lambda _: lag), load=CONSTANT, pacing=None)
    assert {c.name for c in validity.failed} == expected
    assert validity.verdict == verdict


def test_lateness_becomes_part_of_the_figure_before_it_is_a_doubt(tmp_path: Path) -> None:
    """A sixth of each time: the interval reaches down to the time without it, and a note says so. The first
    lines do not: it changes nothing that a reader could do, and rounds may differ by more.
    """
    record = recorded(tmp_path, Trial("a", "w", 1, late(lambda _: 400e-6), load=CONSTANT, pacing=None))
    validity, data = judge(record), TrialData(record)
    told = check(validity, "lateness")
    assert (validity.verdict, told.verdict, told.notable) == ("valid", "valid", False)
    said = "The generator sent late, which may be up to 400 µs of p50 (2.40 ms), "
    assert note([data]).startswith(said)
    assert note([data, data]).startswith("In 2 of 2 trials (worst shown), the generator sent late")
    p50 = quantile([data], 0.5)
    assert p50.low == pytest.approx(0.002, rel=0.01)
    assert p50.high == pytest.approx(0.0024, rel=0.01)


@pytest.mark.parametrize(("lag", "which"), [(100e-6, "hardly any"), (0.02, "nearly all")])
def test_a_note_tells_only_of_what_intervals_hold(tmp_path: Path, lag: float, which: str) -> None:
    trial = Trial("a", "w", 1, late(lambda _: lag), load=CONSTANT, pacing=None)
    assert note([TrialData(recorded(tmp_path, trial))]) == "", which


def test_only_the_quantiles_that_are_mostly_lateness_are_named_and_the_others_stand(tmp_path: Path) -> None:
    validity = judged(tmp_path, late(lambda i: 0.02 if i % 50 == 0 else 0.0), load=CONSTANT, pacing=None)
    found = check(validity, "lateness")
    assert "20.0 ms of p99 (22.0 ms)" in found.message
    assert (found.verdict, validity.verdict, found.again) == ("suspect", "suspect", True)
    expected = {"p50": "valid", "p90": "valid", "p99": "suspect", "max": "valid", "throughput": "valid"}
    assert {figure: validity.verdict_of(figure) for figure in expected} == expected


def test_quantiles_below_the_late_requests_are_left_alone(tmp_path: Path) -> None:
    """Every second request was late: quantiles of the others are as they are."""
    requests = late(lambda i: 0.01 if i % 2 else 0.0)
    trial = Trial("a", "w", 1, requests, load=CONSTANT, pacing=None)
    effects = TrialData(recorded(tmp_path, trial)).lateness
    assert effects["p99"].without_s == pytest.approx(0.002, rel=0.01)
    assert effects["p25"].share == pytest.approx(0, abs=1e-3)


def test_waiting_for_a_connection_is_no_lateness_of_the_generator(tmp_path: Path) -> None:
    """Half of the requests wait 20 ms for a connection: their service times do not show it."""
    requests = late(lambda i: 0.02 if i % 2 == 0 else 0.0)
    validity = judged(tmp_path, requests, load=CONSTANT, pacing=20e-6)
    assert check(validity, "lateness").verdict == "valid"


def test_closed_loops_are_not_paced(tmp_path: Path) -> None:
    assert "lateness" not in names(judged(tmp_path, closed(STEADY, 5.0)))


def test_a_gap_between_two_times_is_no_lateness(tmp_path: Path) -> None:
    """The median of ten lies between the fifth and the sixth, here 100 ms apart."""
    requests = [Request(i / 5, i / 5 + 1e-4, i / 5 + 1e-4 + (0.1 if i < 5 else 0.2)) for i in range(10)]
    data = TrialData(recorded(tmp_path, Trial("a", "w", 1, requests, load=POISSON, pacing=1e-4)))
    found = data.lateness["p50"]
    assert found.reported_s == pytest.approx(0.15, rel=0.01)
    assert found.reported_s - found.without_s == pytest.approx(1e-4, rel=0.05)


def test_lateness_is_told_of_no_quantile_that_is_not_known(tmp_path: Path) -> None:
    answered = [Request(i / 50, i / 50 + 1e-4, i / 50 + 0.3) for i in range(20)]
    waiting = [Request(0.4 + i / 50, None, 5.0, "never_sent") for i in range(100)]
    data = TrialData(recorded(tmp_path, Trial("a", "w", 1, answered + waiting, load=POISSON, pacing=1e-4)))
    assert "p5" in data.lateness
    assert "p50" not in data.lateness

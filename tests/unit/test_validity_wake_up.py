"""Times that are mostly the generator's own waking up are named."""

import json
from pathlib import Path

import pytest

from jostle.analysis.results import Check
from jostle.analysis.run import judge
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.wake_up import wake_up
from jostle.record import RunRecord
from support.judging import CONSTANT, check, judged, names, recorded
from support.synthetic import Request, Trial, closed, lognormal, make_run

FAST = lognormal(55e-6, 0.1)
"""Of a server that answers about as fast as a sleeping generator wakes up."""


def test_times_that_are_mostly_waking_up_are_suspect_by_name(tmp_path: Path) -> None:
    validity = judged(tmp_path, closed(FAST, 0.5))
    asleep = check(validity, "wake-up")
    assert "waking up takes up to 50 µs, which may be more than half of the p50, the p90" in asleep.message
    assert (asleep.verdict, validity.verdict) == ("suspect", "suspect")
    assert "%" not in asleep.message  # of a fast server it would always be 100 %
    assert {"p50", "service p50", "time to headers"} <= set(asleep.affects)  # hardly anything else is in them
    assert "p90" not in asleep.affects  # its interval reaches down to what is surely the server's
    assert "throughput" in asleep.affects  # of a closed loop: who waits longer, sends less
    due = [Request(t := (i + 1) / 200, t, t + 55e-6) for i in range(990)]
    assert "throughput" not in check(judged(tmp_path / "open", due, load=CONSTANT), "wake-up").affects


def test_quantiles_that_hardly_contain_waking_up_stand(tmp_path: Path) -> None:
    """A tenth takes 5 ms."""
    slow_ones = [Request(t := i / 200, t, t + (0.005 if i % 5 == 0 else 55e-6)) for i in range(990)]
    asleep = check(judged(tmp_path, slow_ones), "wake-up")
    assert "p50" in asleep.affects
    assert not {"p90", "p99", "service p99"} & set(asleep.affects)


def test_a_generator_that_polled_or_a_slow_server_is_not_doubted(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "awake", Trial("a", "w", 1, closed(FAST, 0.5), busy_poll=True))
    assert "wake-up" not in {c.name for c in judge(folder).checks}
    assert "wake-up" not in names(judged(tmp_path / "slow", closed(lognormal(0.002, 0.1), 2.0)))


def test_waking_up_takes_what_the_floor_of_this_machine_says_and_at_most_a_service_time(
    tmp_path: Path,
) -> None:
    loads = [
        {"title": "1 client", "awake": polling, "response_s": {"p50": p50}}
        for polling, p50 in ((False, 60e-6), (True, 20e-6))
    ]
    folder = make_run(tmp_path, [Trial("a", "w", 1, closed(FAST, 0.5))])
    host = json.loads((folder / "host.json").read_text())

    def asleep(p50: float) -> Check:
        floor = {"loads": [{**loads[0], "response_s": {"p50": p50}}, loads[1]]}
        (folder / "host.json").write_text(json.dumps({**host, "floor": floor}))
        found = wake_up(TrialData(RunRecord.open(folder).trials[0]))
        assert found is not None
        return found

    assert "takes up to 40 µs" in asleep(60e-6).message
    assert asleep(60e-6).value == pytest.approx(40 / 50, rel=0.05)  # the shortest median: until headers
    assert asleep(0.5).value == pytest.approx(1.0, rel=0.05)


def test_waking_up_is_told_of_no_quantile_that_takes_more_requests(tmp_path: Path) -> None:
    requests = closed(lognormal(60e-6, 0.01), 0.0012)
    assert 15 < len(requests) < 29
    data = TrialData(recorded(tmp_path, Trial("a", "w", 1, requests, interval=0.001, duration=0.002)))
    found = wake_up(data)
    assert found is not None
    assert "time to headers" in found.affects
    assert {"p90", "p99", "p99.9"}.isdisjoint(found.affects)

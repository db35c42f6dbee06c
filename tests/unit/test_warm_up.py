"""A beginning that is slower than the rest is told, with what the figures are without it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from support.judging import check, judged, names
from support.synthetic import Request


def taking(seconds: Callable[[float], float], duration: float = 10.0, clients: int = 2) -> list[Request]:
    """Clients of a closed loop, at a server whose responses take this long at each time."""
    rng = np.random.default_rng(1)
    requests = []
    for client in range(clients):
        now = 0.0
        while now < duration - 0.05:
            service = seconds(now) * float(rng.lognormal(0, 0.05))
            requests.append(Request(now, now, now + service, client=client))
            now += service
    return requests


LOAD = {"closed": {"clients": 2}}


def test_a_slower_beginning_is_told_with_the_figures_without_it(tmp_path: Path) -> None:
    requests = taking(lambda t: 0.020 if t < 3 else 0.005)
    validity = judged(tmp_path, requests, duration=10.0, interval=0.1, load=LOAD)
    found = check(validity, "warm-up")
    assert found.message.startswith("warm-up: the first 3.0")
    assert " were 4 times slower, without them 39" in found.message
    assert ", p50 5.0" in found.message or "p90" in found.message
    assert found.remedy.startswith("leave it out: --warm-up ")
    assert validity.verdict == "suspect"
    assert {name: validity.verdict_of(name) for name in ("throughput", "p99", "max")} == {
        "throughput": "suspect",
        "p99": "suspect",
        "max": "valid",
    }
    assert "steady state" not in names(validity)  # once is enough


@pytest.mark.parametrize(
    "seconds",
    [
        lambda _: 0.005,
        lambda t: 0.0055 if t < 3 else 0.005,  # hardly slower
        lambda t: 0.005 if t < 7 else 0.020,  # slower at the end is another matter
    ],
)
def test_what_is_no_warm_up_is_not_called_one(tmp_path: Path, seconds: Callable[[float], float]) -> None:
    validity = judged(tmp_path, taking(seconds), duration=10.0, interval=0.1, load=LOAD)
    assert "warm-up" not in names(validity)


def test_steady_series_are_hardly_ever_called_a_warm_up(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    alarms = 0
    for n in range(20):
        requests, now = [], 0.0
        while now < 9.9:
            service = 0.02 * float(rng.lognormal(0, 0.4))
            requests.append(Request(now, now, now + service))
            now += service
        alarms += "warm-up" in names(judged(tmp_path / str(n), requests, duration=10.0, interval=0.25))
    assert alarms <= 1


@pytest.mark.parametrize(
    ("seconds", "name", "verdict"),
    [
        (lambda t: 0.020 if t < 1 else 0.005, "warm-up", "suspect"),
        (lambda t: 0.005 if t < 1 else 0.007 if t < 2 else 0.010, "steady state", "suspect"),
        (lambda _: 0.005, "steady state", "valid"),
    ],
)
def test_two_states_within_three_seconds_are_told(
    tmp_path: Path, seconds: Callable[[float], float], name: str, verdict: str
) -> None:
    validity = judged(tmp_path, taking(seconds, 3.0), duration=3.0, interval=0.1, load=LOAD)
    assert check(validity, name).verdict == verdict

"""Servers that stand still do so as often and for as long as their truth says, and who comes then waits."""

import itertools
import time
from collections.abc import Iterator

import pytest

from faults.client import Client, stats
from faults.hall import APPLICATIONS, Running, started
from support.waiting import PATIENCE_S

PAUSES = 4


def size(name: str, of: str) -> float:
    kinds = ("cron", "pauses at random")
    (fault,) = (fault for fault in APPLICATIONS[name].faults if fault.kind in kinds)
    return next(size.value for size in fault.sizes if size.of == of)


def pauses(running: Running) -> list[float]:
    """When each of them began, as the application says."""
    began: list[float] = stats(running)["began"]
    return began


def for_long(pause_s: float) -> Iterator[None]:
    """Again and again with a pause in between, until a test has waited for too long."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        yield
        time.sleep(pause_s)


@pytest.mark.parametrize("name", ["cron-700ms", "cron-2s", "cron-and-pool", "cron-with-jitter"])
def test_it_stands_still_at_its_period(name: str) -> None:
    with started(APPLICATIONS[name]) as running:
        began = next(seen for _ in for_long(0.3) if len(seen := pauses(running)) >= PAUSES)
    gaps = [later - earlier for earlier, later in itertools.pairwise(began)]
    # A busy machine may be late for one pause, and the next then comes sooner: over several it evens out.
    assert sum(gaps) / len(gaps) >= 0.85 * size(name, "period")
    assert min(gaps) < 1.2 * size(name, "period")


@pytest.mark.parametrize("name", ["cron-700ms", "cron-2s", "cron-with-jitter", "cron-10s", "gc-pauses"])
def test_meanwhile_nobody_is_answered(name: str) -> None:
    """Nobody, in most of its pauses: a busy machine may hand over late what came before one."""
    length_s, count = size(name, "length"), 1 if name == "cron-10s" else 3
    with started(APPLICATIONS[name]) as running:
        client, answered = Client(running.port), []
        for _ in for_long(length_s / 20):
            client.get("/hello")
            answered.append(time.time())
            if len(answered) % 50 == 0 and len(pauses(running)) >= count:
                break
        client.close()
        began = pauses(running)[:count]
    silent = [at for at in began if not any(at + length_s / 10 < one < at + length_s / 2 for one in answered)]
    assert len(silent) > count / 2

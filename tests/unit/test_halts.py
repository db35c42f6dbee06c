"""When a machine stands still, as a thread sees it that sleeps: with a clock that is set by hand."""

import pytest

from jostle.host.halts import LATE_S, STEP_S, Halt, late_wakes, watched


def test_a_thread_that_wakes_late_has_seen_a_halt() -> None:
    clock, delays = [100.0], iter([0.0, 0.001, 0.080, 0.0, LATE_S / 2, None])

    def sleep(seconds: float) -> bool:
        delay = next(delays)
        clock[0] += seconds + (delay or 0.0)
        return delay is None

    (halt,) = late_wakes(lambda: clock[0], sleep)
    assert halt.end_s - halt.begin_s == pytest.approx(0.080)
    assert halt.begin_s == pytest.approx(100.0 + 3 * STEP_S + 0.001)
    since = halt.since(100.0)
    assert since.begin_s == pytest.approx(3 * STEP_S + 0.001)


def test_a_machine_is_watched_on_all_of_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[set[int]] = []

    def seen(cores: set[int], _enough: object, halts: list[Halt]) -> None:
        places.append(cores)
        halts.append(Halt(1.0, 2.0))

    monkeypatch.setattr("jostle.host.halts._watch", seen)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    found: list[Halt] = []
    with watched(found):
        pass
    assert sorted(map(sorted, places)) == [[0], [1]]
    assert len(found) == 2
    places.clear()
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    with watched([]):
        pass
    assert places == [set(range(64))]


def test_watching_ends_with_its_threads() -> None:
    import threading

    before = threading.active_count()
    with watched([]):
        assert threading.active_count() > before
    assert threading.active_count() == before

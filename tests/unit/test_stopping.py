"""Ctrl-C, SIGTERM and SIGHUP: noted where something must be done whole, raised after it."""

import signal
import threading
from collections.abc import Iterator

import pytest

from jostle.runner.interrupt import let_signals_stop_like_ctrl_c, stopping

ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """The command's own, and those of the tests again afterwards."""
    before = {number: signal.getsignal(number) for number in ALL}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may run under nohup
    let_signals_stop_like_ctrl_c()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def inside(*signals: signal.Signals, error: Exception | None = None) -> list[str]:
    """What was done under `stopping` while these came; an error leaves it at the end."""
    done = []
    try:
        with stopping() as stop:
            for number in signals:
                signal.raise_signal(number)
                done.append("asked" if stop.requested else "not asked")
            if error is not None:
                raise error
    except KeyboardInterrupt:
        done.append("interrupted")
    return done


@pytest.mark.parametrize("number", ALL)
def test_a_stop_is_noted_and_raised_at_the_end(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    assert inside(number) == ["asked", "interrupted"]
    assert signal.getsignal(number) is before


def test_nothing_is_raised_where_nobody_asked() -> None:
    assert inside() == []


def test_a_second_one_does_not_wait() -> None:
    assert inside(signal.SIGINT, signal.SIGTERM) == ["asked", "interrupted"]


def test_an_error_inside_is_not_hidden_by_it() -> None:
    with pytest.raises(ValueError, match="the reason"):
        inside(signal.SIGINT, error=ValueError("the reason"))


def test_a_hangup_that_nohup_ignores_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    let_signals_stop_like_ctrl_c()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_one_that_is_ignored_or_kills_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with stopping() as stop:
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        signal.raise_signal(signal.SIGINT)
    assert not stop.requested


def test_other_threads_are_never_interrupted() -> None:
    asked: list[bool] = []

    def work() -> None:
        with stopping() as stop:
            asked.append(stop.requested)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert asked == [False]

"""Threads of low priority: theirs is lowered, nobody else's, and what they do comes back."""

import os
import threading

import pytest

from jostle.errors import StartRefused
from jostle.host.priority import at_low_priority


def nice() -> int:
    """Of the calling thread."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_the_priority_is_lowered_inside_and_only_there() -> None:
    before = nice()
    assert at_low_priority(nice) == min(19, before + 10)
    assert nice() == before


def test_where_somebody_chose_another_policy_it_stays() -> None:
    """The kernel's refusals end here, too: nothing happens."""

    def work() -> int:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        return at_low_priority(nice)

    before = nice()
    found = list[int]()
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    assert found == [before]


@pytest.mark.parametrize("error", [ValueError("the reason"), KeyboardInterrupt()])
def test_what_is_raised_inside_comes_out(error: BaseException) -> None:
    def work() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        at_low_priority(work)
    assert raised.value is error


def test_a_machine_without_room_for_a_thread_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(StartRefused, match="no further process or thread"):
        at_low_priority(nice)

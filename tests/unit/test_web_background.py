"""What a page reads and judges while something is measured: behind everything else, but not for ever."""

import asyncio
import os
import threading

import pytest

from jostle.web.background import LEAVE_S, MAX_WAIT_S, Background


class Clock:
    """Goes on by `step_s` whenever somebody looks."""

    def __init__(self) -> None:
        self.now_s, self.step_s = 0.0, 0.0

    def __call__(self) -> float:
        self.now_s += self.step_s
        return self.now_s


def policy(_: str) -> int:
    return os.sched_getscheduler(threading.get_native_id())


def test_it_is_of_the_idle_class_and_the_rest_of_the_process_is_not() -> None:
    assert asyncio.run(Background().run(policy, "of a thread")) == os.SCHED_IDLE
    assert policy("of this one") == os.SCHED_OTHER


def test_where_no_core_is_ever_idle_it_takes_its_share_for_a_while() -> None:
    clock = Clock()

    async def policies() -> list[int]:
        background = Background(clock)
        clock.step_s = 2 * MAX_WAIT_S
        found = [await background.run(policy, "waits")]
        clock.step_s = 0.0
        found.append(await background.run(policy, "at once"))
        clock.now_s += 2 * LEAVE_S
        return [*found, await background.run(policy, "later")]

    assert asyncio.run(policies()) == [os.SCHED_IDLE, os.SCHED_OTHER, os.SCHED_IDLE]


def test_a_fault_is_that_of_the_function() -> None:
    async def fails() -> None:
        await Background().run(int, "no number")

    with pytest.raises(ValueError, match="no number"):
        asyncio.run(fails())

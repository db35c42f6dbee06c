"""A page beside what is measured: it gives way to everything else, but not for ever."""

import asyncio
import os
import subprocess
import sys

from jostle.web.serving import LOOK_S, STARVED_S, unless_starved


def test_who_gets_nothing_of_his_cores_may_use_the_others() -> None:
    now_s, sleeps = 0.0, [LOOK_S, LOOK_S + STARVED_S / 2, LOOK_S + 2 * STARVED_S]
    cores = frozenset(os.sched_getaffinity(0))

    async def sleep(_: float) -> None:
        nonlocal now_s
        now_s += sleeps.pop(0)

    os.sched_setaffinity(0, {min(cores)})
    try:
        asyncio.run(unless_starved(cores, lambda: now_s, sleep))
        assert os.sched_getaffinity(0) == cores
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
    finally:
        os.sched_setaffinity(0, cores)
    assert sleeps == []


def test_beside_what_is_measured_it_is_of_the_idle_class() -> None:
    words = "import os; from jostle.web.serving import give_way; give_way(); print(os.sched_getscheduler(0))"
    said = subprocess.run([sys.executable, "-c", words], check=True, capture_output=True, text=True).stdout
    assert int(said) == os.SCHED_IDLE

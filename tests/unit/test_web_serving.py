"""A page beside what is measured: it gives way to everything else, but not for ever."""

import asyncio
import os

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
    finally:
        os.sched_setaffinity(0, cores)
    assert sleeps == []

"""How much longer a CPU-bound request takes while the generator busy-polls on cores of its own.

If these are hyperthreads of the server's cores, a thread that never sleeps uses up much of their capacity.
"""

import hashlib
import os
import time

from jostle import contestant
from jostle.contestant import Server
from jostle.generator import LocalExecutor, Running
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.host.cores import Placement, kept_off, siblings
from jostle.host.ports import HOST
from jostle.plan import parse_plan

__all__ = ["measure_slowdown"]

PLAN = """
title = "A generator that is always near its next request"
contestants = ["reference-null"]
[workload.steady]
request = { get = "/hello" }
load = { rate = "500/s", arrivals = "constant", for = "1m" }
"""
ROUNDS, REPEATS = 4, 4
ITERATIONS = 40_000
"""Iterations of PBKDF2 with SHA-256, which take some 15 ms."""


def measure_slowdown(placement: Placement) -> float:
    """The slowdown as a share; 0.3 means that it takes 30 % longer.

    It compares CPU times, the shortest of several measured in turn, as other load only makes them longer.
    """
    cores = placement.generator_cores
    beside = {s for core in cores for s in siblings(core)} & set(placement.server_cores)
    server_core = min(beside or placement.server_cores)
    took: dict[bool, float] = {}
    with (
        contestant.find("reference-null").start(host=HOST, cores=placement.server_cores) as server,
        kept_off(cores),
    ):
        own = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {server_core})
        try:
            for polling in (False, True) * ROUNDS:
                running = _steady(server, cores, polling=polling)
                found = min(_compute_s() for _ in range(REPEATS))
                _end(running)
                took[polling] = min(found, took.get(polling, found))
        finally:
            os.sched_setaffinity(0, own)
    return took[True] / took[False] - 1


def _steady(server: Server, cores: list[int], *, polling: bool) -> Running:
    workload = parse_plan(PLAN, "slowdown").workload["steady"]
    address = Address(host=server.host, port=server.port)
    executor = LocalExecutor(1)
    spec = engine_spec("steady", workload, address, threads=len(cores), cores=cores, busy_poll=polling)
    return executor.start(executor.prepare(spec))


def _end(running: Running) -> None:
    running.stop()
    while (interval := running.next_interval(1.0)) is None or not interval["last"]:
        pass


def _compute_s() -> float:
    start = time.thread_time()
    hashlib.pbkdf2_hmac("sha256", b"jostle", b"salt", ITERATIONS)
    return time.thread_time() - start

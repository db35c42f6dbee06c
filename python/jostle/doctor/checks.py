"""What `jostle doctor` finds: the limits of this machine, said in terms of what a run can do."""

import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jostle import contestant, roster
from jostle.analysis.topics.baseline import load_line
from jostle.host.cores import available_cores, place, real_time_allowed
from jostle.host.facts import stored_floor
from jostle.host.limits import connections_within, local_port_range, open_files
from jostle.units import format_duration

__all__ = ["Finding", "checkup"]

BUSY = 0.5
"""Load average per core from which on other programs disturb what is measured."""


@dataclass(frozen=True)
class Finding:
    """`bad` makes runs fail, `note` limits them."""

    subject: str
    state: Literal["good", "note", "bad"]
    says: str
    remedy: str = ""


def checkup() -> list[Finding]:
    """Every finding, in the order in which they matter."""
    machine = [_cores(), _idle(), _files(), _ports(), _backlog(), _clock(), _timer(), _real_time()]
    return [*machine, _floor(), *_contestants()]


def _cores() -> Finding:
    cores = available_cores()
    placement = place(cores, share=False)
    if placement.shared:
        return Finding(
            "cores",
            "note",
            "one usable core: server and generator will share it, and every run will say so",
            "runs on two or more cores can be trusted further",
        )
    return Finding(
        "cores",
        "good",
        f"{len(cores)} usable: servers run on {_list(placement.server_cores)}, the generator on "
        f"{_list(placement.generator_cores)}",
    )


def _idle() -> Finding:
    busy, cores = os.getloadavg()[0], len(available_cores())
    if busy > BUSY * cores:
        return Finding(
            "other work",
            "note",
            f"load average {busy:.1f} on {cores} cores: other programs will disturb what is measured",
            "end them, or wait",
        )
    return Finding("other work", "good", f"load average {busy:.1f}")


def _files() -> Finding:
    hard = open_files().hard
    if hard is None:
        return Finding("open files", "good", "no limit")
    clients = connections_within(hard)
    return Finding(
        "open files",
        "good" if clients >= 1000 else "bad",
        f"{hard:,} per process (hard limit): up to {clients:,} clients in one generator process",
        "" if clients >= 1000 else "raise the hard limit: ulimit -Hn, /etc/security/limits.conf",
    )


def _ports() -> Finding:
    count = len(local_port_range())
    return Finding(
        "local ports",
        "good" if count >= 10_000 else "note",
        f"{count:,}: that many connections at once to one address and port, and, without keep-alive, about "
        f"{count // 60:,} new ones per second (a closed one rests for a minute)",
        "" if count >= 10_000 else "sysctl net.ipv4.ip_local_port_range='1024 65535'",
    )


def _backlog() -> Finding:
    somaxconn = int(Path("/proc/sys/net/core/somaxconn").read_text())
    return Finding(
        "accept queue",
        "good" if somaxconn >= 1024 else "note",
        f"net.core.somaxconn = {somaxconn}: that many connections may wait to be accepted",
        "" if somaxconn >= 1024 else "sysctl net.core.somaxconn=4096",
    )


def _clock() -> Finding:
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    name = source.read_text().strip() if source.exists() else "unknown"
    start = time.perf_counter_ns()
    for _ in range(10_000):
        time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    cost_ns = (time.perf_counter_ns() - start) / 10_000
    slow = cost_ns > 1_000
    return Finding(
        "clock",
        "note" if slow else "good",
        f"{name}, read in {format_duration(cost_ns / 1e9)} (from Python)",
        "a slow clock source makes every request dearer: prefer tsc" if slow else "",
    )


def _timer() -> Finding:
    """How late a sleep of 1 ms ends: the kernel's timers and whatever else runs."""
    late = []
    for _ in range(200):
        due = time.perf_counter_ns() + 1_000_000
        time.sleep(0.001)
        late.append((time.perf_counter_ns() - due) / 1e9)
    p50, worst = statistics.median(late), max(late)
    return Finding(
        "timers",
        "good" if p50 < 0.0005 else "note",
        f"a sleep of 1 ms ends {format_duration(p50)} late at the median, {format_duration(worst)} at worst",
        "" if p50 < 0.0005 else "timers are coarse here: the pacing lag of open-loop runs will show it",
    )


def _real_time() -> Finding:
    if real_time_allowed():
        return Finding("real time", "good", "allowed: paced load goes before all else on cores of its own")
    return Finding(
        "real time",
        "note",
        "not allowed: whatever else runs on the generator's cores makes paced load some milliseconds late",
        "run as root, or raise the limit: ulimit -r 1, /etc/security/limits.conf (rtprio)",
    )


def _floor() -> Finding:
    floor = stored_floor()
    if floor is None:
        return Finding("floor", "note", "not measured on this machine", "jostle doctor --calibrate")
    loads = "; ".join(map(load_line, floor["loads"]))
    if floor["load_average"] > BUSY * len(available_cores()):
        says = f"{loads}: measured while other programs ran (load average {floor['load_average']:.1f})"
        return Finding("floor", "note", says, "jostle doctor --calibrate, when nothing else runs")
    return Finding("floor", "good", f"{loads} (measured {floor['measured'][:10]})")


def _contestants() -> Iterator[Finding]:
    for name in roster.names():
        found = contestant.find(name)
        missing = found.missing()
        yield Finding(
            name,
            "note" if missing else "good",
            "needs " + ", ".join(need.command for need in missing) if missing else found.versions_in_words(),
            "; ".join(need.install for need in missing),
        )


def _list(cores: list[int]) -> str:
    return ("core " if len(cores) == 1 else "cores ") + ", ".join(map(str, cores))

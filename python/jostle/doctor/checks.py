"""What `jostle doctor` checks: the limits of this machine, and what a run can do within them."""

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jostle import contestant, roster
from jostle.analysis.topics.floor import load_line
from jostle.formatting import percent
from jostle.generator.busy_poll import SLOWDOWN, leaves_others_alone
from jostle.host import limits
from jostle.host.cores import Placement, available_cores, place, real_time_allowed
from jostle.host.facts import machine_and_version
from jostle.host.floor import Floor, stored_floor
from jostle.host.limits import CgroupLimits, OpenFiles, PortRange
from jostle.units import format_bytes, format_count, format_duration

__all__ = [
    "Diagnosis",
    "check_accept_queue",
    "check_busy_polling",
    "check_cgroup",
    "check_clock",
    "check_contestants",
    "check_cores",
    "check_floor",
    "check_local_ports",
    "check_machine",
    "check_open_files",
    "check_other_work",
    "check_real_time",
    "check_timers",
]

BUSY = 0.5
"""The load average per core above which other programs disturb measurements."""

ENOUGH_CLIENTS, ENOUGH_PORTS, ENOUGH_QUEUE = 1000, 10_000, 1024
"""What machines allow by default; less is too little for ordinary plans."""

TIME_WAIT_S = 60

SLOW_CLOCK_S = 1e-6
COARSE_TIMER_S = 0.5e-3


@dataclass(frozen=True)
class Diagnosis:
    """One result of a check. `bad` makes runs fail, `note` limits them."""

    subject: str
    state: Literal["good", "note", "bad"]
    message: str
    remedy: str = ""


def check_machine() -> list[Diagnosis]:
    """Every finding, in the order in which they matter."""
    cores, load, floor = available_cores(), os.getloadavg()[0], stored_floor(machine_and_version())
    return [
        check_cores(cores),
        check_other_work(load, len(cores)),
        check_open_files(limits.open_files()),
        check_local_ports(limits.local_port_range()),
        check_accept_queue(limits.accept_queue()),
        check_cgroup(limits.cgroup_limits(), len(cores)),
        check_clock(_clock_source(), _clock_cost_s()),
        check_timers(_timer_lateness()),
        check_real_time(real_time_allowed()),
        check_busy_polling(place(cores, share=False), floor, limits.cgroup_limits().cpus),
        check_floor(floor, len(cores)),
        check_contestants(),
    ]


def check_cores(cores: list[int]) -> Diagnosis:
    placement = place(cores, share=False)
    if placement.shared:
        return Diagnosis(
            "cores",
            "note",
            "one usable core: server and generator will share it, and every run will say so",
            "use a machine with two or more cores for figures that you publish",
        )
    return Diagnosis(
        "cores",
        "good",
        f"{len(cores)} usable: servers run on {_list(placement.server_cores)}, the generator on "
        f"{_list(placement.generator_cores)}",
    )


def check_other_work(load: float, cores: int) -> Diagnosis:
    if load > BUSY * cores:
        return Diagnosis(
            "other work",
            "note",
            f"load average {load:.1f} on {cores} cores: other programs will disturb measurements",
            "stop them, or wait",
        )
    return Diagnosis("other work", "good", f"load average {load:.1f}")


def check_open_files(files: OpenFiles) -> Diagnosis:
    if files.hard is None:
        return Diagnosis("open files", "good", "no limit")
    clients = limits.connections_within(files.hard)
    enough = clients >= ENOUGH_CLIENTS
    return Diagnosis(
        "open files",
        "good" if enough else "bad",
        f"{format_count(files.hard)} per process (hard limit): up to {format_count(clients)} clients in one "
        "generator process",
        "" if enough else "raise the hard limit: ulimit -Hn, /etc/security/limits.conf",
    )


def check_local_ports(ports: PortRange) -> Diagnosis:
    enough = len(ports) >= ENOUGH_PORTS
    return Diagnosis(
        "local ports",
        "good" if enough else "note",
        f"{format_count(len(ports))}: the most connections at once to one address and port; without "
        f"keep-alive, about {format_count(len(ports) // TIME_WAIT_S)} new ones per second, as "
        f"a closed one stays in TIME_WAIT for {TIME_WAIT_S} s",
        "" if enough else "sysctl net.ipv4.ip_local_port_range='1024 65535'",
    )


def check_accept_queue(length: int) -> Diagnosis:
    enough = length >= ENOUGH_QUEUE
    return Diagnosis(
        "accept queue",
        "good" if enough else "note",
        f"net.core.somaxconn = {length}: this many connections may wait to be accepted",
        "" if enough else "sysctl net.core.somaxconn=4096",
    )


def check_cgroup(found: CgroupLimits, cores: int) -> Diagnosis:
    """A CPU quota stops a container for the rest of each 100 ms period in which it has used up its share."""
    allowed = [
        f"{found.cpus:.3g} of {cores} cores" if found.cpus is not None else "",
        f"{format_bytes(found.memory_bytes)} of memory" if found.memory_bytes is not None else "",
    ]
    text = " and ".join(filter(None, allowed))
    if found.cpus is not None and found.cpus < cores:
        return Diagnosis(
            "container",
            "note",
            f"its cgroup allows {text}; processes that use more are paused for a part of each period",
            "run without a CPU quota, on cores of its own (docker run --cpuset-cpus)",
        )
    return Diagnosis("container", "good", f"its cgroup allows {text}" if text else "no cgroup limits")


def _clock_source() -> str:
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    return source.read_text().strip() if source.exists() else "unknown"


def _clock_cost_s() -> float:
    """The time of one reading of the monotonic clock, from Python."""
    start = time.perf_counter_ns()
    for _ in range(10_000):
        time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return (time.perf_counter_ns() - start) / 10_000 / 1e9


def check_clock(source: str, cost_s: float) -> Diagnosis:
    slow = cost_s > SLOW_CLOCK_S
    return Diagnosis(
        "clock",
        "note" if slow else "good",
        f"{source}, read in {format_duration(cost_s)} (from Python)",
        "switch to tsc: a slow clock makes every request slower" if slow else "",
    )


def _timer_lateness() -> list[float]:
    """How late sleeps of 1 ms end, in seconds, due to the kernel's timers and whatever else runs."""
    late = []
    for _ in range(200):
        due = time.perf_counter_ns() + 1_000_000
        time.sleep(0.001)
        late.append((time.perf_counter_ns() - due) / 1e9)
    return late


def check_timers(late_s: Sequence[float]) -> Diagnosis:
    median, worst = statistics.median(late_s), max(late_s)
    coarse = median >= COARSE_TIMER_S
    return Diagnosis(
        "timers",
        "note" if coarse else "good",
        f"a sleep of 1 ms ends {format_duration(median)} late at the median, "
        f"{format_duration(worst)} at worst",
        "open loops will send late by about as much; the pacing lag shows it" if coarse else "",
    )


def check_real_time(allowed: bool) -> Diagnosis:
    if allowed:
        return Diagnosis(
            "real time",
            "good",
            "real-time scheduling is available: paced load is sent with it, on its own cores",
        )
    return Diagnosis(
        "real time",
        "note",
        "not allowed: other programs on the generator's cores delay paced load by some milliseconds",
        "run as root, or raise the limit: ulimit -r 1, /etc/security/limits.conf (rtprio)",
    )


def check_busy_polling(placement: Placement, floor: Floor | None, quota: float | None = None) -> Diagnosis:
    """What `busy-poll = "auto"` means here."""
    if placement.shared:
        message = (
            "the generator has no core of its own: it sleeps between events, and response times contain "
            "its wake-ups"
        )
        return Diagnosis("busy polling", "note", message)
    if quota is not None and quota < len({*placement.generator_cores, *placement.server_cores}):
        message = "the generator would use up the container's CPU quota: it sleeps while it waits"
        return Diagnosis("busy polling", "note", message, "run without a CPU quota")
    if leaves_others_alone(placement.generator_cores, placement.server_cores, floor):
        return Diagnosis(
            "busy polling", "good", f"on its own cores the generator polls instead of sleeping{_gain(floor)}"
        )
    shared = "the generator's cores are hyperthreads of the servers'"
    if floor is None or floor["slowdown"] is None:
        return Diagnosis(
            "busy polling",
            "note",
            f"{shared}: it sleeps while it waits, until it is measured whether it may",
            "jostle doctor --calibrate",
        )
    return Diagnosis(
        "busy polling",
        "note",
        f"{shared}: while it polls, work on them is {percent(floor['slowdown'])} slower (the limit is "
        f"{percent(SLOWDOWN)}), so it sleeps while it waits",
        "taskset: leave out one hyperthread of each core",
    )


def _gain(floor: Floor | None) -> str:
    """What busy polling gains: one client's median from a server that does nothing, awake and asleep."""
    found = {
        load["awake"]: load["response_s"]["p50"]
        for load in (floor["loads"] if floor else [])
        if load["title"] == "1 client"
    }
    asleep, polling = found.get(False), found.get(True)
    if asleep is None or polling is None:
        return ""
    return f": 1 client sees {format_duration(polling)} at the median, {format_duration(asleep)} asleep"


def check_floor(floor: Floor | None, cores: int) -> Diagnosis:
    if floor is None:
        return Diagnosis("floor", "note", "not measured on this machine", "jostle doctor --calibrate")
    loads = "; ".join(map(load_line, floor["loads"]))
    if floor["load_average"] > BUSY * cores:
        message = f"{loads}; measured while other programs ran (load average {floor['load_average']:.1f})"
        return Diagnosis("floor", "note", message, "jostle doctor --calibrate, when nothing else runs")
    return Diagnosis("floor", "good", f"{loads} (measured {floor['measured'][:10]})")


def check_contestants() -> Diagnosis:
    names = roster.names()
    lacking = [name for name in names if contestant.find(name).missing()]
    message = f"{len(names) - len(lacking)} of {len(names)} are ready"
    if not lacking:
        return Diagnosis("contestants", "good", message)
    return Diagnosis(
        "contestants",
        "note",
        f"{message}; not ready: {', '.join(lacking)}",
        f"jostle contestants install {' '.join(lacking)}",
    )


def _list(cores: list[int]) -> str:
    return ("core " if len(cores) == 1 else "cores ") + ", ".join(map(str, cores))

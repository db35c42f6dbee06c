"""Disturbances of stated size, each planted in one run and removed after it.

A plant is given the run's place and yields the words that go before the command (`unshare`, `prlimit`, …).
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
CGROUPS = Path("/sys/fs/cgroup")
POLL_S = 0.01


@dataclass(frozen=True)
class Place:
    """Where a run is recorded, and on which cores server and generator are (as `jostle run` places them)."""

    folder: Path
    server_core: int = 0
    generator_core: int = 1

    @property
    def pid_file(self) -> Path:
        """Has the process of the run, once it has been started."""
        return self.folder / "pid"

    def trial(self, number: int) -> Path | None:
        """The folder of a trial whose load has begun."""
        return next((f.parent for f in self.folder.glob(f"runs/*/trials/{number:03}-*/trial.json")), None)


Plant = Callable[[Place], AbstractContextManager[Sequence[str]]]


def hog(on: str, share: float, *, first: bool = False, round: int = 0) -> Plant:
    """Something computes on the core of the server or the generator, for a share of the time.

    `first`: before all others. `round`: only while this round is measured.
    """
    return partial(_hog, on, share, first, round)


@contextlib.contextmanager
def _hog(on: str, share: float, first: bool, round: int, place: Place) -> Iterator[Sequence[str]]:
    core = {"server": place.server_core, "generator": place.generator_core}[on]
    command = [sys.executable, str(HERE / "hog.py"), str(core), str(share), *(["--first"] if first else [])]
    if not round:
        with _beside(command):
            yield ()
        return

    def during(ended: threading.Event) -> None:
        if (trial := _wait_for(place, round, ended)) is not None:
            with _beside(command):
                while not ended.wait(POLL_S) and not (trial / "outcome.json").exists():
                    pass

    with _thread(during):
        yield ()


def stopped_server(share: float, period_s: float = 0.025) -> Plant:
    """The server's processes are stopped again and again (SIGSTOP), for a share of the time."""
    return partial(_stopped_server, share, period_s)


@contextlib.contextmanager
def _stopped_server(share: float, period_s: float, place: Place) -> Iterator[Sequence[str]]:
    def during(ended: threading.Event) -> None:
        number = 1
        while (trial := _wait_for(place, number, ended)) is not None:
            pids = _family(json.loads((trial / "trial.json").read_text())["server"]["pid"])
            while not (trial / "outcome.json").exists() and not ended.wait(period_s * (1 - share)):
                _hold(pids, period_s * share)
            number += 1

    with _thread(during):
        yield ()


def stopped_generator(length_s: float, after_s: float = 0.7) -> Plant:
    """The generator is stopped once (SIGSTOP), this long after the first round began."""
    return partial(_stopped_generator, length_s, after_s)


@contextlib.contextmanager
def _stopped_generator(length_s: float, after_s: float, place: Place) -> Iterator[Sequence[str]]:
    def during(ended: threading.Event) -> None:
        if _wait_for(place, 1, ended) is not None and not ended.wait(after_s):
            pids = [int(place.pid_file.read_text())]
            _hold(pids, length_s)

    with _thread(during):
        yield ()


def quota(cores: float, period_s: float = 0.05) -> Plant:
    """Generator and server together have only so much of the cores (a control group of their own)."""
    return partial(_quota, cores, period_s)


@contextlib.contextmanager
def _quota(cores: float, period_s: float, _: Place) -> Iterator[Sequence[str]]:
    period_us = round(period_s * 1e6)
    limits = {"cpu.cfs_period_us": period_us, "cpu.cfs_quota_us": round(cores * period_us)}
    with _group("cpu", limits) as group:
        yield _within(group)


@contextlib.contextmanager
def memory_pressure(place: Place) -> Iterator[Sequence[str]]:
    """Another program needs more memory than it may have: the kernel searches for free pages all the time."""
    file = place.folder / "pages"
    with _group("memory", {"memory.limit_in_bytes": 48 << 20}) as group:
        with _beside([*_within(group), sys.executable, str(HERE / "thrash.py"), str(file)]) as thrashing:
            while thrashing.poll() is None and (not file.exists() or file.stat().st_size < 256 << 20):
                time.sleep(POLL_S)
            yield ()
        file.unlink()


@contextlib.contextmanager
def few_ports(place: Place) -> Iterator[Sequence[str]]:
    """The run has a network of its own, whose kernel gives out 64 local ports from the beginning of the load
    on: with fewer at the start, jostle would take more addresses of loopback.
    """
    narrow = "echo 20000 20063 > /proc/sys/net/ipv4/ip_local_port_range"

    def during(ended: threading.Event) -> None:
        if _wait_for(place, 1, ended) is not None:
            own_network = ["nsenter", "--net", "--target", place.pid_file.read_text()]
            subprocess.run([*own_network, "sh", "-c", narrow], check=True)

    with _thread(during):
        yield ["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"]


@contextlib.contextmanager
def few_files(place: Place) -> Iterator[Sequence[str]]:
    """From the beginning of the load on, the generator may open 100 files: with a lower limit at the start,
    jostle would refuse to begin.
    """

    def during(ended: threading.Event) -> None:
        if _wait_for(place, 1, ended) is not None:
            resource.prlimit(int(place.pid_file.read_text()), resource.RLIMIT_NOFILE, (100, 100))

    with _thread(during):
        yield ()


def clock_step(by_s: int, after_s: int = 3) -> Plant:
    """The wall clock of the run is set by so much, so long after it was started."""
    return partial(_clock_step, by_s, after_s)


@contextlib.contextmanager
def _clock_step(by_s: int, after_s: int, place: Place) -> Iterator[Sequence[str]]:
    library = place.folder / "clock_step.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "clock_step.c"], check=True)
    yield ["env", f"LD_PRELOAD={library}", f"CLOCK_STEP={after_s} {by_s}"]


@contextlib.contextmanager
def _beside(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _thread(body: Callable[[threading.Event], None]) -> Iterator[None]:
    ended = threading.Event()
    thread = threading.Thread(target=body, args=(ended,))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def _group(kind: str, limits: dict[str, int]) -> Iterator[Path]:
    """A control group of version 1, in that of this process, and removed after its processes."""
    group = _own_group(kind) / f"jostle-truth-{os.getpid()}"
    group.mkdir()
    try:
        for name, value in limits.items():
            (group / name).write_text(str(value))
        yield group
    finally:
        while (group / "cgroup.procs").read_text():
            time.sleep(POLL_S)
        group.rmdir()


def _own_group(kind: str) -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if kind in controllers.split(","):
            return CGROUPS / kind / path.lstrip("/")
    raise FileNotFoundError(f"no control group of version 1 for {kind}")


def _within(group: Path) -> list[str]:
    return ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]


def _wait_for(place: Place, number: int, ended: threading.Event) -> Path | None:
    """The trial, once its load has begun; None if the run ended before."""
    while (trial := place.trial(number)) is None and not ended.wait(POLL_S):
        pass
    return trial


def _family(pid: int) -> list[int]:
    """A process and those that descend from it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return []
    return [pid, *(one for child in children for one in _family(int(child)))]


def _hold(pids: Sequence[int], seconds: float) -> None:
    """Stop the processes for so long."""
    for which, wait_s in ((signal.SIGSTOP, seconds), (signal.SIGCONT, 0.0)):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, which)
        time.sleep(wait_s)

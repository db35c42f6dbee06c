"""Vitals of process trees, made of real processes that fork, work and die."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.host import resource_usage
from jostle.host.cpu_time import Ticks, TreeCpu
from jostle.host.procfs import Stat, read_stat
from jostle.host.resource_usage import CPU_SHARE, TICK_S, Sample, Sampler, Watcher, _RateLimited
from jostle.host.supervised import SupervisedProcess, Task
from support.waiting import eventually

PRELUDE = """
import os, signal, socket, sys, threading, time
def burn(seconds):
    start = time.process_time()
    while time.process_time() - start < seconds: pass
def told():
    return sys.stdin.readline()
def say(*words):
    print(*words, flush=True)
"""


@contextmanager
def tree(program: str) -> Iterator[subprocess.Popen[str]]:
    """A Python process that runs `program` and goes on when a line is written to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> str:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return heard(process)


def take(sampler: Sampler) -> Sample:
    sample = sampler.sample(0)
    assert sample is not None
    return sample


def cpu_s(sample: Sample) -> float:
    return sample.cpu_user_s + sample.cpu_system_s


def test_a_single_process() -> None:
    with tree(
        "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start(); say('x'); told()"
    ) as process:
        heard(process)
        sample = take(Sampler(process.pid))
        assert (sample.processes, sample.threads) == (1, 2)
        assert sample.rss_bytes > 1_000_000
        assert sample.pss_bytes is not None
        assert 0 < sample.pss_bytes <= sample.rss_bytes * 1.1
        assert sample.voluntary > 0


def test_memory_that_is_used_shows() -> None:
    with tree("say('x'); told(); block = b'x' * 50_000_000; say('x'); told()") as process:
        heard(process)
        sampler = Sampler(process.pid)
        before = take(sampler)
        tell(process)
        assert 45_000_000 < take(sampler).rss_bytes - before.rss_bytes < 60_000_000


def test_connections_are_sockets_each_counted_once() -> None:
    program = "pairs = [socket.socketpair() for _ in range(10)]; os.fork(); say('x'); time.sleep(1000)"
    with tree(program) as process:
        heard(process)
        heard(process)
        assert take(Sampler(process.pid)).connections == 20


def test_a_process_that_a_signal_stopped_is_seen_so() -> None:
    with tree("say('there'); told()") as process:
        heard(process)
        sampler = Sampler(process.pid)
        assert take(sampler).stopped == 0
        process.send_signal(signal.SIGSTOP)
        eventually(lambda: take(sampler).stopped == 1)
        process.send_signal(signal.SIGCONT)
        eventually(lambda: take(sampler).stopped == 0)


def test_children_come_and_go() -> None:
    program = """
children = []
for _ in range(3):
    children.append(os.fork())
    if children[-1] == 0: time.sleep(1000)
say('x'); told()
for child in children: os.kill(child, 9); os.waitpid(child, 0)
say('x'); told()
"""
    with tree(program) as process:
        heard(process)
        sampler = Sampler(process.pid)
        assert take(sampler).processes == 4
        tell(process)
        assert take(sampler).processes == 1


def test_work_of_children_that_have_ended_stays_in_the_sum() -> None:
    """Seen while it worked or not, waited for or not."""
    program = """
def worker(seconds):
    pid = os.fork()
    if pid == 0:
        burn(seconds); say('x'); sys.stdin.close(); signal.pause()
    return pid
seen = worker(0.3); told()
os.kill(seen, 9); os.waitpid(seen, 0); say('x'); told()
unseen = os.fork()
if unseen == 0: burn(0.3); os._exit(0)
os.waitpid(unseen, 0); say('x'); told()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
nobody_waits = worker(0.3); told()
os.kill(nobody_waits, 9)
while os.path.exists(f'/proc/{nobody_waits}'): time.sleep(0.01)
say('x'); told()
"""
    with tree(program) as process:
        heard(process)
        sampler = Sampler(process.pid)
        start_s = cpu_s(take(sampler))
        assert start_s >= 0.28
        tell(process)
        assert start_s <= cpu_s(take(sampler)) < start_s + 0.1
        tell(process)
        second_s = cpu_s(take(sampler))
        assert start_s + 0.28 <= second_s < start_s + 0.45
        tell(process)
        third_s = cpu_s(take(sampler))
        assert second_s + 0.28 <= third_s < second_s + 0.45
        tell(process)
        assert third_s <= cpu_s(take(sampler)) < third_s + 0.1


def test_orphans_stay_members_with_all_that_they_did(tmp_path: Path) -> None:
    """A keeper adopts those whose parent died, even when they were never seen below it."""
    program = (
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() > 0: os._exit(0)\n"
        "    burn(0.3); open(sys.argv[1], 'w').close(); signal.pause()\n"
        "time.sleep(1000)"
    )
    ready = tmp_path / "ready"
    words = [sys.executable, "-c", PRELUDE + program, str(ready)]
    process = SupervisedProcess(Task(words, Path("/"), dict(os.environ), tmp_path / "output"))
    try:
        assert process.pid is not None
        sampler = Sampler(process.pid)
        eventually(ready.exists)
        before = take(sampler)
        assert before.processes == 2
        (orphan,) = set(process.tree()) - {process.pid}
        os.kill(orphan, signal.SIGKILL)
        eventually(lambda: read_stat(orphan) is None)
        after = take(sampler)
        assert after.processes == 1
        assert 0.28 <= cpu_s(before) <= cpu_s(after) < cpu_s(before) + 0.1
    finally:
        process.stop()


def test_switches_of_ended_threads_stay_in_the_sum() -> None:
    program = """
def nap(times):
    for _ in range(times): time.sleep(0.0001)
    napped.wait()
    done.acquire()
napped, done = threading.Barrier(3), threading.Semaphore(0)
threads = [threading.Thread(target=nap, args=(200,)) for _ in range(2)]
for thread in threads: thread.start()
napped.wait(); say('x'); told()
for thread in threads: done.release()
for thread in threads: thread.join()
say('x'); told()
"""
    with tree(program) as process:
        heard(process)
        sampler = Sampler(process.pid)
        before = take(sampler)
        assert before.voluntary >= 400
        tell(process)
        eventually(lambda: take(sampler).threads == 1)
        later = take(sampler)
        assert later.voluntary >= before.voluntary


def test_the_watcher_writes_a_line_per_sample_until_all_is_gone(tmp_path: Path) -> None:
    with tree("say('x'); time.sleep(1000)") as process:
        heard(process)
        watcher = Watcher(
            Sampler(process.pid), tmp_path / "server.ndjson", time.time_ns() - 5_000_000_000, every_s=0.02
        )
        watcher.start()
        eventually(lambda: len(lines(tmp_path)) >= 3)
        process.kill()
        process.wait()
        watcher._thread.join(20)
        assert not watcher._thread.is_alive()
        count = len(lines(tmp_path))
        watcher.stop()
    written = lines(tmp_path)
    assert len(written) == count
    assert list(written[0]) == [
        "t_ns", "cpu_user_s", "cpu_system_s", "rss_bytes", "pss_bytes", "threads", "processes",
        "voluntary", "involuntary", "connections", "peak_rss_bytes", "peak_virtual_bytes", "waited_s",
            "stopped",
    ]  # fmt: skip
    times = [line["t_ns"] for line in written]
    assert times == sorted(times)
    assert times[0] >= 5_000_000_000


def lines(folder: Path) -> list[dict[str, Any]]:
    file = folder / "server.ndjson"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_stop_takes_a_last_sample(tmp_path: Path) -> None:
    with tree("say('x'); time.sleep(1000)") as process:
        heard(process)
        watcher = Watcher(Sampler(process.pid), tmp_path / "server.ndjson", time.time_ns(), every_s=1000)
        watcher.start()
        eventually(lambda: len(lines(tmp_path)) == 1)
        watcher.stop()
    assert len(lines(tmp_path)) == 2


def test_a_process_that_is_not_there(tmp_path: Path) -> None:
    watcher = Watcher(Sampler(2**22 + 1), tmp_path / "server.ndjson", time.time_ns())
    watcher.start()
    watcher.stop()
    assert lines(tmp_path) == []


def stat(pid: int, own: int, children: int) -> Stat:
    return Stat(pid, "S", 1, 1, own, 0, children, 0, 1, 0, 0)


@given(
    st.lists(
        st.tuples(st.sampled_from(["work", "fork", "die"]), st.integers(0, 5), st.booleans(), st.booleans())
    )
)
def test_the_sum_is_right_whatever_ends_and_whenever_it_is_waited_for(
    story: list[tuple[str, int, bool, bool]],
) -> None:
    """A parent and its children; the sum is exact as soon as all the dead are waited for, and never falls."""
    own = {1: 0}
    children_of_parent = unwaited = 0
    cpu, last = TreeCpu(), Ticks()
    for number, (event, which, waited, looked) in enumerate(story):
        pid = sorted(own)[which % len(own)]
        if event == "fork":
            own[number + 2] = 0
        elif event == "work":
            own[pid] += 7
        elif pid != 1:
            unwaited += own.pop(pid)
        if waited:
            children_of_parent, unwaited = children_of_parent + unwaited, 0
        if looked:
            stats = {
                pid: stat(pid, ticks, children_of_parent if pid == 1 else 0) for pid, ticks in own.items()
            }
            total = cpu.add_up(stats, None)
            assert total.user >= last.user
            assert total.user <= sum(own.values()) + children_of_parent + unwaited
            if unwaited == 0:
                assert total.user == sum(own.values()) + children_of_parent
            last = total


def test_a_costly_reading_is_taken_seldom() -> None:
    now, cpu = [100.0], [0.0]

    def read(pids: list[int]) -> int:
        cpu[0] += 0.05
        return len(pids)

    seldom = _RateLimited(read, 0.0, clock=lambda: now[0], cpu_clock=lambda: cpu[0])
    taken = 0
    for _ in range(4 * 60):
        taken += seldom([1, 2]) is not None
        now[0] += 0.25
    assert taken * 0.05 <= 60 * CPU_SHARE + 0.05
    assert taken == 6


def test_ticks_are_hundredths_or_finer() -> None:
    assert 0 < TICK_S <= 0.01


def test_a_kernel_without_schedstats_knows_no_waiting_and_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    read = resource_usage.read_some

    def without_schedstat(path: str) -> bytes:
        if path.endswith("/schedstat"):
            raise FileNotFoundError(path)
        return read(path)

    monkeypatch.setattr(resource_usage, "read_some", without_schedstat)
    pid = os.getpid()
    found = resource_usage.thread_switches(pid, str(pid))
    assert found is not None
    assert found[0] > 0
    assert found[2] == 0
    assert resource_usage.thread_switches(pid, "0") is None

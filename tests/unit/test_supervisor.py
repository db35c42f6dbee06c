"""The supervisor: whatever a tree of processes does, it is ended whole, and what it prints is bounded."""

import itertools
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from jostle.errors import StartFailed
from jostle.host.procfs import with_environment
from jostle.host.supervised import (
    Exit,
    NotReady,
    Scratch,
    SupervisedProcess,
    Task,
    last_lines,
    start_until_ready,
)
from jostle.host.supervisor import HEAD_BYTES, TAIL_BYTES, Output
from jostle.host.users import User
from support.waiting import eventually

Start = Callable[..., SupervisedProcess]


@pytest.fixture
def scratch() -> Iterator[Path]:
    with TemporaryDirectory(prefix="jostle-test-") as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "tmp").mkdir()
        yield Path(folder)


@pytest.fixture
def start(scratch: Path) -> Iterator[Start]:
    """Starts a Python program (or a command) under a supervisor."""
    started: list[SupervisedProcess] = []

    def start_it(program: str, *, command: list[str] | None = None, **fields: Any) -> SupervisedProcess:
        words = command or ["/usr/bin/env", "python3", "-c", f"import os, signal, sys, time\n{program}"]
        env = {"PATH": "/usr/bin:/bin", "TMPDIR": str(scratch / "tmp")}
        fields = {"scratch": Scratch(scratch), **fields}
        started.append(SupervisedProcess(Task(words, Path("/"), env, scratch / "output", **fields)))
        return started[-1]

    yield start_it
    for process in started:
        process.stop()


def test_a_task_that_ends_by_itself(start: Start, scratch: Path) -> None:
    process = start('print("done"); sys.exit(4)')
    process.wait()
    assert process.exit == Exit(4, None, 0)
    assert process.output() == "done\n"
    assert not scratch.exists()
    scratch.mkdir()


def test_a_task_that_is_killed(start: Start) -> None:
    process = start("os.kill(os.getpid(), signal.SIGSEGV)")
    process.wait()
    assert str(process.exit) == "was ended by SIGSEGV"


def test_a_command_that_cannot_be_run(start: Start) -> None:
    process = start("", command=["/no/such/program"])
    assert (process.pid, process.start_error) == (None, "No such file or directory: /no/such/program")
    process.wait()


def test_a_folder_that_cannot_be_entered(scratch: Path) -> None:
    process = SupervisedProcess(Task(["true"], Path("/no/such/folder"), {}, scratch / "output"))
    assert process.start_error == "No such file or directory: /no/such/folder"
    process.stop()


def test_what_the_server_finds(start: Start) -> None:
    process = start(
        "import resource\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE), sorted(os.environ), os.getsid(0) == os.getpid(),"
        "sorted(os.listdir('/proc/self/fd')), os.read(0, 1))"
    )
    process.wait()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    told = process.output()
    assert told.startswith(f"({most}, {most}) [")
    assert "'PATH', 'TMPDIR'" in told
    assert "True ['0', '1', '2', '3'] b''" in told  # 3: the listing of descriptors itself


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as somebody else")
def test_an_unprivileged_user(start: Start) -> None:
    process = start(
        "print(os.getuid(), os.getgid(), os.getgroups(), os.getresuid())", user=User("nobody", 65534, 65534)
    )
    process.wait()
    assert process.output() == "65534 65534 [] (65534, 65534, 65534)\n"


SLEEP = ["/bin/sleep", "1000"]


def attempts_until(number: int) -> Callable[[SupervisedProcess, float], int]:
    """Ready at the attempt of that number."""
    attempts = itertools.count(1)

    def attempt(_process: SupervisedProcess, _left_s: float) -> int:
        if (count := next(attempts)) < number:
            raise NotReady(f"attempt {count}")
        return count

    return attempt


def test_a_process_is_asked_until_it_is_ready(start: Start) -> None:
    assert start("", command=SLEEP).wait_until_ready("mine", attempts_until(3), timeout_s=60) == 3


def test_a_process_that_is_not_ready_in_time_is_described(start: Start) -> None:
    process = start("", command=SLEEP)
    with pytest.raises(StartFailed) as caught:
        process.wait_until_ready("mine", attempts_until(10**9), timeout_s=0.0, hint="wait longer")
    assert caught.value.message == (
        "mine was not ready within 0 s: 1 attempts, the last one: attempt 1; it printed nothing"
    )
    assert caught.value.hint == "wait longer"


def test_a_process_that_ends_before_it_is_ready_leaves_its_last_words(start: Start) -> None:
    process = start("print('::error::no', flush=True); sys.exit(3)")
    with pytest.raises(StartFailed) as caught:
        process.wait_until_ready("mine", attempts_until(10**9), timeout_s=60)
    assert caught.value.message == (
        "mine ended with exit code 3 before it was ready; its last output:\n│ ::error::no"
    )


def test_a_start_that_fails_leaves_nothing_running(scratch: Path) -> None:
    seen: list[SupervisedProcess] = []

    def interrupted(process: SupervisedProcess, _left_s: float) -> None:
        seen.append(process)
        raise KeyboardInterrupt

    task = Task(SLEEP, Path("/"), {}, scratch / "output")
    with pytest.raises(KeyboardInterrupt):
        start_until_ready("mine", task, interrupted, timeout_s=60)
    assert seen[0].ended
    assert seen[0].tree() == []


def test_descendants_that_hide_are_ended(start: Start, scratch: Path) -> None:
    """Twice forked, in sessions of their own, deaf to SIGTERM, without the marked environment."""
    hide = (
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() > 0: os._exit(0)\n"
        "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "        open(os.environ['TMPDIR'] + f'/{os.getpid()}', 'w').close()\n"
        "        os.execve('/bin/sleep', ['sleep', '1000'], {})\n"
        "time.sleep(1000)"
    )
    process = start(hide, grace_s=0.2)
    eventually(lambda: len(list((scratch / "tmp").iterdir())) == 3)
    hidden = [int(file.name) for file in (scratch / "tmp").iterdir()]
    assert set(hidden) < set(process.tree())
    process.stop()
    assert not any(Path(f"/proc/{pid}").exists() for pid in hidden)


def test_whether_sigterm_was_enough_is_known(start: Start) -> None:
    willing = start("", command=SLEEP, scratch=None)
    willing.stop()
    deaf = start(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(1000)",
        grace_s=0.1,
    )
    eventually(lambda: "deaf" in deaf.output())
    deaf.stop()
    assert (willing.killed, deaf.killed) == (False, True)


def test_a_tree_that_forks_on_while_it_is_killed(start: Start, scratch: Path) -> None:
    forks = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('ready', flush=True)\n"
        "for _ in range(1500):\n"  # three seconds and more: bounded, so that a failure of this test ends too
        "    if os.fork() > 0: time.sleep(0.002); os._exit(0)\n"
        "time.sleep(60)"
    )
    process = start(forks, grace_s=0.1)
    eventually(lambda: "ready" in process.output())
    process.stop()
    assert with_environment(str(scratch / "tmp")) == []


def test_those_left_behind_are_counted_and_ended(start: Start, scratch: Path) -> None:
    process = start("for _ in range(2):\n    if os.fork() == 0: time.sleep(1000)\nos._exit(0)")
    process.wait()
    assert process.exit == Exit(0, None, 2)
    assert with_environment(str(scratch / "tmp")) == []


def test_300_megabytes_of_output_neither_block_nor_fill(start: Start) -> None:
    prints = (
        "line = b'x' * 1023 + b'\\n'\n"
        "os.write(1, b'first\\n')\n"
        "for _ in range(300): sys.stdout.buffer.write(line * 1024)\n"
        "sys.stdout.buffer.write(b'last\\n')"
    )
    process = start(prints)
    biggest = 0
    while not process.ended:
        process.poll(0.05)
        biggest = max(biggest, size(process))
    assert process.exit == Exit(0, None, 0)
    assert 0 < biggest <= HEAD_BYTES + TAIL_BYTES + 100
    assert process.output().endswith("x\nlast\n")


def size(process: SupervisedProcess) -> int:
    try:
        return process.task.output.stat().st_size
    except FileNotFoundError:
        return 0


def test_beginning_and_end_are_kept(tmp_path: Path) -> None:
    output = Output(str(tmp_path / "out"))
    for number in range(200_000):
        output.write(b"%07d\n" % number)
        if number % 30_000 == 0:
            output.save()
    output.save()
    text = (tmp_path / "out").read_bytes()
    assert text.startswith(b"0000000\n0000001\n")
    assert text.endswith(b"0199998\n0199999\n")
    note = f"… {200_000 * 8 - HEAD_BYTES - TAIL_BYTES} bytes left out …"
    assert note in text.decode()
    assert output.last(16) == b"0199998\n0199999\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_supervisor_that_is_told_to_end_ends_its_tree(start: Start, scratch: Path, number: int) -> None:
    process = start("os.fork(); time.sleep(1000)")
    os.kill(process._supervisor.pid, number)
    process.wait()
    assert with_environment(str(scratch / "tmp")) == []


def test_the_death_of_a_supervisor_is_noticed_and_tidied_up(start: Start, scratch: Path) -> None:
    process = start("os.fork(); os.fork(); time.sleep(1000)")
    eventually(lambda: len(with_environment(str(scratch / "tmp"))) == 4)
    os.kill(process._supervisor.pid, signal.SIGKILL)
    process.wait()
    assert str(process.exit) == "was ended by the death of its supervisor"
    eventually(lambda: with_environment(str(scratch / "tmp")) == [])
    assert not scratch.exists()
    scratch.mkdir()


JOSTLE = """
import os, sys, time
from pathlib import Path
from jostle.host.supervised import Scratch, SupervisedProcess, Task
scratch = Scratch(Path(sys.argv[1]))
process = SupervisedProcess(Task(["sh", "-c", "sleep 1000 & setsid sleep 1000 & wait"], Path("/"),
    {"PATH": "/usr/bin:/bin", "TMPDIR": str(scratch.tmp)}, scratch.output, scratch=scratch))
if sys.argv[2] == "shared" and os.fork() == 0:  # a child that holds the supervisor's stdin open
    print("ready", flush=True)
    time.sleep(1000)
if sys.argv[2] == "alone":
    print("ready", flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("child", ["alone", "shared"])
def test_nothing_stays_after_kill_9_of_jostle(scratch: Path, child: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", JOSTLE, str(scratch), child], stdout=subprocess.PIPE, start_new_session=True
    ) as jostle:
        assert jostle.stdout is not None
        assert jostle.stdout.readline() == b"ready\n"
        eventually(lambda: len(with_environment(str(scratch / "tmp"))) == 3)
        jostle.kill()
        jostle.wait()
        try:
            eventually(lambda: with_environment(str(scratch / "tmp")) == [] and not scratch.exists())
        finally:
            if child == "shared":
                os.killpg(jostle.pid, signal.SIGKILL)
    scratch.mkdir()


def test_last_lines_are_few_short_and_plain() -> None:
    text = "\n".join(f"line {number}" for number in range(50)) + "\n" + "y" * 1000 + "\n\x1b[2J\n\n"
    assert last_lines(text, lines=3, width=10) == "line 49\nyyyyyyyyyy…\n\N{REPLACEMENT CHARACTER}[2J"

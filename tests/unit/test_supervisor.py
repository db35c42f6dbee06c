"""The keeper: whatever a tree of processes does, it is ended whole, and what it prints is bounded."""

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

from jostle.host.procfs import with_environment
from jostle.host.supervised import Exit, Kept, Task, last_lines
from jostle.host.supervisor import HEAD_BYTES, TAIL_BYTES, Output
from support.waiting import eventually

Keep = Callable[..., Kept]


@pytest.fixture
def scratch() -> Iterator[Path]:
    with TemporaryDirectory(prefix="jostle-test-") as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "tmp").mkdir()
        yield Path(folder)


@pytest.fixture
def keep(scratch: Path) -> Iterator[Keep]:
    """Starts a Python program (or a command) under a keeper."""
    started: list[Kept] = []

    def start(program: str, *, command: list[str] | None = None, **fields: Any) -> Kept:
        words = command or ["/usr/bin/env", "python3", "-c", f"import os, signal, sys, time\n{program}"]
        env = {"PATH": "/usr/bin:/bin", "TMPDIR": str(scratch / "tmp")}
        fields = {"scratch": str(scratch), **fields}
        started.append(Kept(Task(words, "/", env, str(scratch / "output"), **fields)))
        return started[-1]

    yield start
    for kept in started:
        kept.stop()


def test_a_task_that_ends_by_itself(keep: Keep, scratch: Path) -> None:
    kept = keep('print("done"); sys.exit(4)')
    kept.wait()
    assert kept.exit == Exit(4, None, 0)
    assert kept.output() == "done\n"
    assert not scratch.exists()
    scratch.mkdir()


def test_a_task_that_is_killed(keep: Keep) -> None:
    kept = keep("os.kill(os.getpid(), signal.SIGSEGV)")
    kept.wait()
    assert str(kept.exit) == "was ended by SIGSEGV"


def test_a_command_that_cannot_be_run(keep: Keep) -> None:
    kept = keep("", command=["/no/such/program"])
    assert (kept.pid, kept.failed) == (None, "No such file or directory: /no/such/program")
    kept.wait()


def test_a_folder_that_cannot_be_entered(scratch: Path) -> None:
    kept = Kept(Task(["true"], "/no/such/folder", {}, str(scratch / "output")))
    assert kept.failed == "No such file or directory: /no/such/folder"
    kept.stop()


def test_what_the_server_finds(keep: Keep) -> None:
    kept = keep(
        "import resource\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE), sorted(os.environ), os.getsid(0) == os.getpid(),"
        "sorted(os.listdir('/proc/self/fd')), os.read(0, 1))"
    )
    kept.wait()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    told = kept.output()
    assert told.startswith(f"({most}, {most}) [")
    assert "'PATH', 'TMPDIR'" in told
    assert "True ['0', '1', '2', '3'] b''" in told  # 3: the listing of descriptors itself


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as somebody else")
def test_an_unprivileged_user(keep: Keep) -> None:
    kept = keep("print(os.getuid(), os.getgid(), os.getgroups(), os.getresuid())", uid=65534, gid=65534)
    kept.wait()
    assert kept.output() == "65534 65534 [] (65534, 65534, 65534)\n"


def test_descendants_that_hide_are_ended(keep: Keep, scratch: Path) -> None:
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
    kept = keep(hide, grace_s=0.2)
    eventually(lambda: len(list((scratch / "tmp").iterdir())) == 3)
    hidden = [int(file.name) for file in (scratch / "tmp").iterdir()]
    assert set(hidden) < set(kept.tree())
    kept.stop()
    assert not any(Path(f"/proc/{pid}").exists() for pid in hidden)


def test_a_tree_that_forks_on_while_it_is_killed(keep: Keep, scratch: Path) -> None:
    forks = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('ready', flush=True)\n"
        "for _ in range(1500):\n"  # three seconds and more: bounded, so that a failure of this test ends too
        "    if os.fork() > 0: time.sleep(0.002); os._exit(0)\n"
        "time.sleep(60)"
    )
    kept = keep(forks, grace_s=0.1)
    eventually(lambda: "ready" in kept.output())
    kept.stop()
    assert with_environment(str(scratch / "tmp")) == []


def test_those_left_behind_are_counted_and_ended(keep: Keep, scratch: Path) -> None:
    kept = keep("for _ in range(2):\n    if os.fork() == 0: time.sleep(1000)\nos._exit(0)")
    kept.wait()
    assert kept.exit == Exit(0, None, 2)
    assert with_environment(str(scratch / "tmp")) == []


def test_300_megabytes_of_output_neither_block_nor_fill(keep: Keep) -> None:
    prints = (
        "line = b'x' * 1023 + b'\\n'\n"
        "os.write(1, b'first\\n')\n"
        "for _ in range(300): sys.stdout.buffer.write(line * 1024)\n"
        "sys.stdout.buffer.write(b'last\\n')"
    )
    kept = keep(prints)
    biggest = 0
    while not kept.ended:
        kept.poll(0.05)
        biggest = max(biggest, size(kept))
    assert kept.exit == Exit(0, None, 0)
    assert 0 < biggest <= HEAD_BYTES + TAIL_BYTES + 100
    assert kept.output().endswith("x\nlast\n")


def size(kept: Kept) -> int:
    try:
        return Path(kept.task.output).stat().st_size
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
def test_a_keeper_that_is_told_to_end_ends_its_tree(keep: Keep, scratch: Path, number: int) -> None:
    kept = keep("os.fork(); time.sleep(1000)")
    os.kill(kept._keeper.pid, number)
    kept.wait()
    assert with_environment(str(scratch / "tmp")) == []


def test_the_death_of_a_keeper_is_noticed_and_tidied_up(keep: Keep, scratch: Path) -> None:
    kept = keep("os.fork(); os.fork(); time.sleep(1000)")
    eventually(lambda: len(with_environment(str(scratch / "tmp"))) == 4)
    os.kill(kept._keeper.pid, signal.SIGKILL)
    kept.wait()
    assert str(kept.exit) == "was ended by the death of its keeper"
    eventually(lambda: with_environment(str(scratch / "tmp")) == [])
    assert not scratch.exists()
    scratch.mkdir()


JOSTLE = """
import os, sys, time
from jostle.host.supervised import Kept, Task
scratch = sys.argv[1]
kept = Kept(Task(["sh", "-c", "sleep 1000 & setsid sleep 1000 & wait"], "/",
                 {"PATH": "/usr/bin:/bin", "TMPDIR": scratch + "/tmp"}, scratch + "/output", scratch=scratch))
if sys.argv[2] == "shared" and os.fork() == 0:  # a child that holds the keeper's stdin open
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

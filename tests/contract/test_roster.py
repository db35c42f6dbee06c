"""Every contestant of the roster: built, started, verified on every route, stopped; nothing of it stays.

A contestant whose runtime is missing fails here: CI has them all.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jostle import roster
from jostle.contestant import find
from jostle.processes import with_environment
from jostle.verify import verify
from jostle.vitals import Sampler

JOSTLE = """
import sys, time
from jostle.contestant import find
server = find(sys.argv[1]).start()
print(server.kept.task.env["TMPDIR"], flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("name", roster.names())
def test_keeps_the_contract(name: str) -> None:
    contestant = find(name)
    assert [(need.command, need.install) for need in contestant.missing()] == []
    with contestant.start() as server:
        assert server.kept is not None
        tmp = server.kept.task.env["TMPDIR"]
        wrong = [(check.route, check.says) for check in verify(server) if not check.ok]
        printed = server.last_output()
        if os.geteuid() == 0:
            assert {owner(pid) for pid in server.kept.tree()} == {65534}
        assert server.alive()
        start = time.monotonic()
        server.stop()
        took_s = time.monotonic() - start
    assert wrong == []
    assert with_environment(tmp) == []
    assert not Path(tmp).exists()
    assert took_s < 2, "it was killed: it does not stop on SIGTERM within the grace time"
    assert re.sub(r"listening on 127\.0\.0\.1:\d+", "", printed) == "", "it prints what it was not asked for"


@pytest.mark.parametrize("name", ["node-cluster", "go", "java-virtual-threads", "reference-workers"])
def test_nothing_stays_after_kill_9_of_jostle(name: str) -> None:
    with subprocess.Popen([sys.executable, "-c", JOSTLE, name], stdout=subprocess.PIPE, text=True) as jostle:
        assert jostle.stdout is not None
        tmp = jostle.stdout.readline().strip()
        started = with_environment(tmp)
        jostle.send_signal(signal.SIGKILL)
        jostle.wait()
    assert len(started) >= (3 if name == "node-cluster" else 1)
    deadline = time.monotonic() + 20
    while with_environment(tmp) or Path(tmp).parent.exists():
        assert time.monotonic() < deadline, f"left running: {with_environment(tmp)}"
        time.sleep(0.02)


def test_the_workers_of_a_cluster_are_watched() -> None:
    with find("node-cluster:workers=3").start() as server:
        assert server.answer["workers"] == 3
        assert server.pid is not None
        sample = Sampler(server.pid).sample(0)
        assert sample is not None
        assert sample.processes == 4


def owner(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid

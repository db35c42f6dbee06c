"""Every contestant of the roster: built, started, verified on every route, stopped; nothing of it stays.

A contestant whose runtime is missing fails here: CI has them all.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from jostle import database, roster
from jostle.contestant import Server, find
from jostle.contestant.contract import CheckResult, verify
from jostle.database import Database
from jostle.errors import StartFailed
from jostle.host.procfs import with_environment
from jostle.host.resource_usage import Sampler
from jostle.host.supervised import GRACE_S

JOSTLE = """
import sys, time
from jostle.contestant import find
server = find(sys.argv[1]).start()
print(server.process.task.scratch.folder, *server.process.tree(), flush=True)
time.sleep(1000)
"""

BUSY = 30
"""Requests that compute at the same time: more than the workers and threads of any contestant by default that
serve one request each, but the Java thread pools.
"""
COMPUTING_S = 0.5
"""CPU time that shows that a server is at it."""


@pytest.fixture(scope="module")
def shop() -> Iterator[Database]:
    with database.start(database.Options(pool=5)) as started:
        yield started


@pytest.mark.parametrize("name", roster.names())
def test_keeps_the_contract(name: str, shop: Database) -> None:
    contestant = find(name)
    assert [(need.command, need.install) for need in contestant.missing()] == []
    with contestant.start(database=shop.placeholders()) as server:
        assert server.process is not None
        tmp = server.process.task.env["TMPDIR"]
        wrong = [
            (check.part, check.message)
            for check in verify(server, contestant.file, pages=shop.pages())
            if not check.ok
        ]
        printed = server.last_lines()
        if os.geteuid() == 0:
            assert {owner(pid) for pid in server.process.tree()} == {65534}
        assert server.alive()
        start = time.monotonic()
        server.stop()
        took_s = time.monotonic() - start
    assert wrong == []
    assert with_environment(tmp) == []
    assert not Path(tmp).exists()
    assert took_s < 2, "it was killed: it does not stop on SIGTERM within the grace time"
    assert re.sub(r"listening on 127\.0\.0\.1:\d+", "", printed) == "", "it prints what it was not asked for"


@pytest.mark.parametrize("name", [name for name in roster.names() if roster.load(name)[0].database])
def test_orders_are_refused_without_a_database(name: str) -> None:
    contestant = find(name)
    with contestant.start() as server:
        assert verify(server, contestant.file, parts=["/orders"]) == [CheckResult("/orders", True)]


def test_a_jdk_that_ringo_does_not_know_is_told() -> None:
    with pytest.raises(StartFailed, match="jdk is 17 or 25"):
        find("ringo:jdk=21").start()


@pytest.mark.parametrize(
    "label",
    [
        "ruby-puma:workers=1,threads=1",
        "python-gunicorn:workers=1",
        "rails-puma:workers=1,threads=1",
        "rails-unicorn:workers=1",
        "java-thread-pool:threads=1",
    ],
)
def test_who_serves_one_at_a_time_does_not_wait_for_itself(label: str) -> None:
    contestant = find(label)
    with contestant.start() as server:
        with urlopen(f"{server.url}/pair/1/1?where=local", timeout=10) as answer:
            assert answer.status == 200
        with pytest.raises(HTTPError, match="409"):
            urlopen(f"{server.url}/pair/1/1?where=remote&peer={server.url}", timeout=10)
        assert verify(server, contestant.file, parts=["/pair"]) == [CheckResult("/pair", True)]


COMPUTE = [
    name
    for name in roster.names()
    if "/slow" not in roster.load(name)[0].absent and not name.startswith("reference-")
]
"""Reference servers serve by the clock: their work takes time and no processor."""


@pytest.mark.parametrize("name", COMPUTE)
def test_it_stops_within_the_grace_time_while_it_computes(name: str) -> None:
    with find(name).start() as server, contextlib.ExitStack() as clients:
        idle_s = cpu_s(server)
        for _ in range(BUSY):
            client = clients.enter_context(socket.create_connection((server.host, server.port), 10))
            client.sendall(b"GET /slow/60 HTTP/1.1\r\nHost: x\r\n\r\n")
        deadline = time.monotonic() + 20
        while cpu_s(server) < idle_s + COMPUTING_S:
            assert time.monotonic() < deadline, "it does not compute"
            time.sleep(0.05)
        start = time.monotonic()
        server.stop()
        took_s = time.monotonic() - start
    assert took_s < GRACE_S, "it was killed: it does not stop on SIGTERM within the grace time"


@pytest.mark.parametrize(
    "name", ["node-cluster", "go", "java-virtual-threads", "rails-puma", "reference-workers"]
)
def test_nothing_stays_after_kill_9_of_jostle(name: str) -> None:
    with subprocess.Popen([sys.executable, "-c", JOSTLE, name], stdout=subprocess.PIPE, text=True) as jostle:
        assert jostle.stdout is not None
        scratch, *started = jostle.stdout.readline().split()
        jostle.send_signal(signal.SIGKILL)
        jostle.wait()
    assert len(started) >= ({"node-cluster": 3, "rails-puma": 5}.get(name, 1))
    deadline = time.monotonic() + 20
    while left := [path for path in (scratch, *(f"/proc/{pid}" for pid in started)) if Path(path).exists()]:
        assert time.monotonic() < deadline, f"left: {left}"
        time.sleep(0.02)


def test_the_workers_of_a_cluster_are_watched() -> None:
    with find("node-cluster:workers=3").start() as server:
        assert server.answer["workers"] == 3
        assert server.pid is not None
        sample = Sampler(server.pid).sample(0)
        assert sample is not None
        assert sample.processes == 4


def cpu_s(server: Server) -> float:
    assert server.pid is not None
    sample = Sampler(server.pid).sample(0)
    assert sample is not None
    return sample.cpu_user_s


def owner(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid

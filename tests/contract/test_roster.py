"""Every contestant of the roster: built, started, verified, stopped in the middle of its work.

A contestant whose runtime is missing fails here: CI has them all. Each is started once, with a database, and
each part of the contract is a subtest; who can have a database is started once more without one.
"""

import contextlib
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.protocols import (
    calls_of_grpcio,
    describes_itself,
    is_understood_by,
    is_understood_by_jostle,
    lasts_over_http2,
)
from jostle import database
from jostle.contestant import Server, contract, find
from jostle.contestant.checks import HELLO, TEXT, CheckedServer, Responses
from jostle.contestant.contract import CheckResult, verify
from jostle.database import Database
from jostle.errors import StartFailed
from jostle.host.procfs import with_environment
from jostle.host.resource_usage import Sampler
from support.contestants import FILES, give_time_to_stop
from support.waiting import eventually

ALL_BUT_HTTP2 = [*contract.ROUTES, *contract.ALSO, *contract.PROTOCOL, *contract.GRPC_CHECKS]

BUSY = 30
"""Requests that compute at the same time: more than the workers and threads of any contestant by default that
serve one request each, but the Java thread pools.
"""
COMPUTING_S = 0.2
"""CPU time that shows that a server is at it."""


@pytest.fixture(scope="module")
def shop() -> Iterator[Database]:
    with database.start(database.Options(pool=5)) as started:
        yield started


@pytest.fixture(scope="session")
def grpcio(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    return calls_of_grpcio(tmp_path_factory.mktemp("grpcio"))


@pytest.mark.parametrize("name", FILES)
def test_keeps_the_contract(
    name: str,
    shop: Database,
    subtests: pytest.Subtests,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    give_time_to_stop(monkeypatch)
    contestant, file = find(name), FILES[name]
    assert [(tool.command, tool.install) for tool in contestant.missing()] == []
    reference = name.startswith("reference-")
    with contestant.start(database=shop.placeholders()) as server, contextlib.ExitStack() as clients:
        assert server.process is not None
        tmp = server.process.task.env["TMPDIR"]
        results = verify(server, file, pages=shop.pages(), stock=shop.stock(), parts=ALL_BUT_HTTP2)
        printed = server.last_lines()
        results += verify(server, file, parts=[contract.HTTP2])  # who does not speak it may say so
        for result in results:
            with subtests.test(result.part):
                assert result.ok, result.message
        with subtests.test("it prints what it was asked for alone"):
            assert re.sub(r"listening on 127\.0\.0\.1:\d+", "", printed) == ""
        with subtests.test("its processes are nobody's"):
            assert os.geteuid() != 0 or {owner(pid) for pid in server.process.tree()} == {65534}
        if "HTTP/2" in file.speaks and not reference:
            with subtests.test("a connection of HTTP/2 lasts"):
                lasts_over_http2(server)
        if "gRPC" in file.speaks:
            with subtests.test("another client calls every method"):
                is_understood_by(request.getfixturevalue("grpcio"), server)
            with subtests.test("jostle calls every method"):
                is_understood_by_jostle(server)
            with subtests.test("it describes itself"):
                describes_itself(server)
        if file.garbage:
            with subtests.test("garbage that is made is collected and told"):
                garbage_is_collected_and_told(server, file.garbage)
        assert server.alive()
        if file.takes_http1 and "/slow" not in file.absent and not reference:
            # Reference servers serve by the clock: their work takes no processor.
            compute(server, clients)
        server.stop()
    with subtests.test("it stops within the grace time, whatever it does"):
        assert not server.process.killed
    with subtests.test("nothing of it stays"):
        assert with_environment(tmp) == []
        assert not Path(tmp).exists()


@pytest.mark.parametrize("name", [name for name in FILES if FILES[name].database])
def test_without_a_database_it_refuses_what_needs_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give_time_to_stop(monkeypatch)
    with find(name).start() as server:
        refused = verify(server, FILES[name], parts=["/orders", "/shop"])
        assert [result for result in refused if not result.ok] == []
        server.stop()
    assert server.process is not None
    assert not server.process.killed, "it does not stop on SIGTERM within the grace time"


@pytest.mark.parametrize(("label", "part"), [("erlang-mochiweb:smarter", "/count")])
def test_a_variant_that_does_a_route_in_another_way_keeps_the_contract(label: str, part: str) -> None:
    contestant = find(label)
    with contestant.start() as server:
        assert verify(server, contestant.file, parts=[part]) == [CheckResult(part, True)]


def test_a_jdk_that_ringo_does_not_know_is_refused() -> None:
    with pytest.raises(StartFailed, match="jdk is 17 or 25"):
        find("ringo:jdk=21").start()


def garbage_is_collected_and_told(server: Server, path: str) -> None:
    before, target = server.ask(path), CheckedServer(server.host, server.port)

    def grown() -> bool:
        for _ in range(50):
            Responses("/alloc/strings", TEXT, HELLO)(target)
        after = server.ask(path)
        return after["collections"] > before["collections"] and after["seconds"] > before["seconds"]

    eventually(grown)


def compute(server: Server, clients: contextlib.ExitStack) -> None:
    """Give it work that it cannot end; returns once it is at it."""
    idle_s = cpu_s(server)
    for _ in range(BUSY):
        client = clients.enter_context(socket.create_connection((server.host, server.port), 10))
        client.sendall(b"GET /slow/60 HTTP/1.1\r\nHost: x\r\n\r\n")
    eventually(lambda: cpu_s(server) > idle_s + COMPUTING_S)


def cpu_s(server: Server) -> float:
    assert server.pid is not None
    sample = Sampler(server.pid).sample(0)
    assert sample is not None
    return sample.cpu_user_s


def owner(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid

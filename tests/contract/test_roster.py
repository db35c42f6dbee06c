"""Every contestant of the roster: built, started, verified on every route, stopped; nothing of it stays.

A contestant whose runtime is missing fails here: CI has them all. Each is started twice: here with a
database, for the whole contract, and in test_roster_processes.py without one, for what is refused then and
for a stop in the middle of work.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from jostle import database
from jostle.contestant import contract, find
from jostle.contestant.contract import CheckResult, verify
from jostle.database import Database
from jostle.errors import StartFailed
from jostle.host.procfs import with_environment
from support.contestants import FILES, give_time_to_stop

ALL_BUT_HTTP2 = [*contract.ROUTES, *contract.ALSO, *contract.PROTOCOL, *contract.METHODS]


@pytest.fixture(scope="module")
def shop() -> Iterator[Database]:
    with database.start(database.Options(pool=5)) as started:
        yield started


@pytest.mark.parametrize("name", FILES)
def test_keeps_the_contract(name: str, shop: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    give_time_to_stop(monkeypatch)
    contestant = find(name)
    assert [(tool.command, tool.install) for tool in contestant.missing()] == []
    with contestant.start(database=shop.placeholders()) as server:
        assert server.process is not None
        tmp = server.process.task.env["TMPDIR"]
        results = verify(server, contestant.file, pages=shop.pages(), stock=shop.stock(), parts=ALL_BUT_HTTP2)
        printed = server.last_lines()
        results += verify(server, contestant.file, parts=[contract.HTTP2])  # who does not speak it may say so
        if os.geteuid() == 0:
            assert {owner(pid) for pid in server.process.tree()} == {65534}
        assert server.alive()
        server.stop()
    assert [result for result in results if not result.ok] == []
    assert with_environment(tmp) == []
    assert not Path(tmp).exists()
    assert not server.process.killed, "it does not stop on SIGTERM within the grace time"
    assert re.sub(r"listening on 127\.0\.0\.1:\d+", "", printed) == "", "it prints what it was not asked for"


@pytest.mark.parametrize(("label", "part"), [("erlang-mochiweb:smarter", "/count")])
def test_a_variant_that_does_a_route_in_another_way_keeps_the_contract(label: str, part: str) -> None:
    contestant = find(label)
    with contestant.start() as server:
        assert verify(server, contestant.file, parts=[part]) == [CheckResult(part, True)]


def test_a_jdk_that_ringo_does_not_know_is_refused() -> None:
    with pytest.raises(StartFailed, match="jdk is 17 or 25"):
        find("ringo:jdk=21").start()


def owner(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid

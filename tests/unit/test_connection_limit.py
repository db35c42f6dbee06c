"""Which contestants can hold so many connections: data of their files, and the limit of open files."""

import resource
from pathlib import Path

import pytest

from jostle import contestant, roster
from jostle.contestant.connection_limit import check_connections, max_connections
from jostle.errors import CannotServe, PlanError
from jostle.plan.servers.contestant import ContestantFile


@pytest.fixture(autouse=True)
def files_20_000(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (1024, 20_000))


@pytest.mark.parametrize(
    ("label", "held"),
    [
        ("go", 19_800),
        ("node", 19_800),
        ("node-cluster", 2 * 19_800),
        ("node-cluster:workers=6", 6 * 19_800),
        ("reference-workers:processes=6", 6 * 19_800),
        ("rails-puma:workers=0", 19_800),
    ],
)
def test_every_process_that_holds_connections_counts(label: str, held: int) -> None:
    found = contestant.find(label)
    assert max_connections(found, 20_000) == held
    check_connections(found, held)
    with pytest.raises(CannotServe) as caught:
        check_connections(found, held + 1)
    assert found.label in str(caught.value)
    assert "20,000 files" in str(caught.value)


def test_the_way_out_is_named() -> None:
    with pytest.raises(CannotServe, match="node-cluster:workers=6 can hold them"):
        check_connections(contestant.find("node-cluster"), 100_000)
    with pytest.raises(CannotServe, match="ulimit -Hn"):
        check_connections(contestant.find("node"), 100_000)


def test_nothing_is_said_of_a_server_that_runs_already(tmp_path: Path) -> None:
    table = ContestantFile.of({"url": "http://127.0.0.1:9"}, "plan")
    check_connections(contestant.find("mine", {"mine": table}, tmp_path), 100_000)


def test_without_a_limit_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (1024, resource.RLIM_INFINITY))
    check_connections(contestant.find("go"), 10**6)


@pytest.mark.parametrize("processes", [0, "{worker}", "workers", "{mode}"])
def test_a_number_or_a_variant_that_is_one(processes: int | str) -> None:
    table = {
        "command": "serve {port}",
        "processes": processes,
        "variants": {"workers": {"default": 2}, "mode": {"default": "fast"}},
    }
    with pytest.raises(PlanError, match="processes = "):
        ContestantFile.of(table, "plan")


def test_contestants_with_worker_processes_say_so() -> None:
    """Whoever has a variant for processes is not taken for one process."""
    for name in roster.names():
        file, _ = roster.load(name)
        if "worker processes" in getattr(file.variants.get("workers"), "about", ""):
            assert file.processes == "{workers}", name


def test_a_limit_of_its_own_is_told_before_anything_starts() -> None:
    check_connections(contestant.find("haskell-warp"), 1000)
    check_connections(contestant.find("haskell-warp:threaded"), 1001)
    with pytest.raises(CannotServe, match="haskell-warp:yields holds at most 1,000 connections") as told:
        check_connections(contestant.find("haskell-warp:yields"), 1001)
    assert "1,001 clients are needed: without -threaded the runtime waits with select" in told.value.message
    assert told.value.hint == "haskell-warp:threaded has no such limit"


def test_nginx_has_room_for_its_limit() -> None:
    found = contestant.find("nginx-static:workers=4")
    assert found.file.limit is not None
    assert f"$(({found.file.limit.connections} / {{workers}}))" in found.file.start_command()[-1]
    check_connections(found, 40_000)
    with pytest.raises(CannotServe, match="holds at most 40,000 connections"):
        check_connections(found, 40_001)


def test_nginx_holds_the_connections_of_php_fpm() -> None:
    found = contestant.find("php-fpm:workers=9")
    assert max_connections(found, 20_000) == 2 * 19_800
    with pytest.raises(CannotServe, match="holds at most 35,000 connections"):
        check_connections(found, 35_001)


def test_a_limit_names_a_variant_that_exists() -> None:
    limit = {"connections": 10, "because": "x", "unless": "thread"}
    with pytest.raises(PlanError, match=r"(?s)limit.unless: there is no variant 'thread'.*threads"):
        ContestantFile.of(
            {"command": "a {port}", "variants": {"threads": {"default": 1}}, "limit": limit}, "x"
        )

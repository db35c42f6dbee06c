"""contestant.toml and a plan's [contestant.NAME]: what is read, and what each mistake is told as."""

from pathlib import Path

import pytest

from jostle import roster
from jostle.errors import PlanError
from jostle.plan.servers.contestant import ContestantFile, fill, placeholders


def read(**table: object) -> ContestantFile:
    return ContestantFile.of(table, "contestant.mine")


def refused(**table: object) -> str:
    with pytest.raises(PlanError) as caught:
        read(**table)
    return str(caught.value)


def test_a_command_may_be_a_text_or_words() -> None:
    assert read(command="./server --port {port} 'two words'").start_command() == [
        "./server",
        "--port",
        "{port}",
        "two words",
    ]
    assert read(start={"command": ["./server"], "env": {"A": "b"}}).start_env() == {"A": "b"}


def test_a_server_that_runs_already() -> None:
    mine = read(url="http://127.0.0.1:9000", pid=123)
    assert (mine.url, mine.pid, mine.start_command()) == ("http://127.0.0.1:9000", 123, [])


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({}, "neither a command nor a url"),
        ({"command": "a", "start": {"command": ["b"]}}, "give one of them"),
        ({"command": "unclosed '"}, "No closing quotation"),
        ({"command": []}, "contestant.mine: command"),
        ({"command": "a {database_url}"}, "is for a server with a database\nset 'database = true'"),
        (
            {"command": "a {port}", "database": True, "build": {"commands": ["b {pool}"]}},
            "{pool} is not a known placeholder",
        ),
        ({"command": "a {porl}"}, "{porl} is not a known placeholder here\ndid you mean 'port'?"),
        (
            {"command": "a", "build": {"commands": [["make", "{port}"]]}},
            "{port} is not a known placeholder in a build",
        ),
        ({"url": "http://127.0.0.1:9000", "command": "a"}, "cannot have 'command' too"),
        ({"url": "ftp://example.org"}, "'ftp' is not supported"),
        ({"url": "http://127.0.0.1:9000/path"}, "is not the address of a server"),
        ({"url": "http://a..b:9000"}, "is not a URL: each part of the name of a host"),
        ({"command": "a", "pid": 5}, "'pid' belongs to 'url'"),
        ({"url": "http://127.0.0.1:9000", "pid": 0}, "pid"),
        (
            {"command": "a", "needs": [{"command": "go", "version": ["{go}", "version"]}]},
            "{go} is not a known placeholder in a version command\nonly {command} is known there",
        ),
        ({"comand": "a"}, "did you mean 'command'"),
        ({"command": "a", "ready": {"timeout": 5}}, "ready.timeout"),
        ({"command": "a", "ready": {"path": "x"}}, "ready.path"),
        ({"command": "a", "variants": {"w": {"about": "no default"}}}, "variants.w.default"),
        ({"command": "a", "needs": [{"comand": "x"}]}, "needs.1"),
    ],
)
def test_mistakes_are_told_with_their_place(table: dict[str, object], told: str) -> None:
    assert told in refused(**table)


def test_a_server_with_a_database() -> None:
    table = {"database": True, "start": {"command": "a {port}", "env": {"DATABASE_URL": "{database_url}"}}}
    assert ContestantFile.of(table, "contestant.mine").start_env() == {"DATABASE_URL": "{database_url}"}


def test_broken_toml_is_told_with_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "contestant.toml").write_text('name = "x"\ncommand = \n')
    with pytest.raises(PlanError, match=r"contestant\.toml.*line 2, column"):
        ContestantFile.load(tmp_path / "contestant.toml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"[Nn]o such file"):
        ContestantFile.load(tmp_path / "contestant.toml")


def test_a_server_of_grpc_has_no_path_to_be_asked_for() -> None:
    table = {"command": "a {port}", "speaks": ["gRPC"], "ready": {"timeout": "5s"}}
    assert not ContestantFile.of(table, "x").takes_http1
    with pytest.raises(PlanError, match=r"ready\.path is asked in HTTP/1\.1, and speaks names gRPC"):
        ContestantFile.of(table | {"ready": {"path": "/health"}}, "x")


@pytest.mark.parametrize("name", roster.names())
def test_roster_files_are_complete_and_read_the_same_again(name: str) -> None:
    file, folder = roster.load(name)
    assert file.name == name
    assert all((file.title, file.runtime, file.discipline, file.start, (folder / "README.md").is_file()))
    assert not file.source or (folder / file.source).is_file()
    assert all(need.install for need in file.needs)
    assert not file.needs or any(need.version for need in file.needs)
    assert ContestantFile.of(file.data(), name) == file


def test_fill_leaves_other_braces_alone() -> None:
    assert fill('{port} {"a": 1} {}', {"port": "80"}) == '80 {"a": 1} {}'
    assert placeholders(["{a} {b-c}", "{a}"]) == {"a", "b-c"}

"""What would be installed, in which commands: decided without touching the machine."""

from pathlib import Path

import pytest

from jostle import roster
from jostle.contestant import Contestant, MissingTool, find
from jostle.contestant.install import Installation, install, what_is_missing
from jostle.plan.servers.contestant import ContestantFile


def lacking(name: str, package: str, install: str) -> Contestant:
    table = {
        "folder": str(Path(__file__).parent),
        "command": ["no-such-program-here", "{port}"],
        "needs": [{"command": "no-such-program-here", "package": package, "install": install, "version": []}],
    }
    return find(name, {name: ContestantFile.of(table, name)})


def no_database_needed() -> MissingTool | None:
    raise AssertionError("none of the contestants uses a database")


def test_each_package_is_installed_once_and_the_rest_is_for_hands() -> None:
    apt = "apt-get install -y --no-install-recommends some-package"
    found = what_is_missing(
        [
            lacking("one", "some-package", apt),
            lacking("two", "some-package", apt),
            lacking("three", "", "build it yourself"),
        ],
        no_database_needed,
    )
    assert found == Installation(["some-package"], ["three: build it yourself"])
    update, brings = found.commands()
    assert update[-1] == "update"
    assert brings[-2:] == ["install", "some-package"]


def test_what_comes_from_another_repository_is_for_hands() -> None:
    """apt-get installs nothing at all if it knows one of the packages not."""
    needs = roster.load("java-virtual-threads")[0].needs
    java = next(need for need in needs if need.package == "temurin-25-jdk")
    found = what_is_missing([lacking("mine", java.package, java.install)], no_database_needed)
    assert found == Installation([], [f"mine: {java.install}"])


def test_nothing_missing_runs_nothing() -> None:
    assert Installation([], []).commands() == []


def test_what_no_package_brings_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    left = install([lacking("three", "", "build it yourself")], no_database_needed, print)
    assert left == ["three: build it yourself"]
    assert capsys.readouterr().out == ""


def test_the_database_of_those_that_use_one_is_installed_too() -> None:
    lacks = MissingTool(
        "postgres", "apt-get install -y postgresql-15", "postgresql-15", "it is not installed"
    )
    assert "postgresql-15" in what_is_missing([find("node")], lambda: lacks).packages

"""A run from its plan to its first trial: what is looked at before anything is measured, and what is not."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

from jostle.errors import ExecutorLost, StartRefused
from jostle.plan import parse_plan
from jostle.runner.experiment import run_experiment
from jostle.runner.observer import RunEvent, Skipped
from support.real import reference_server

PLAN = """
title = "t"
contestants = ["mine"]
workloads = [{chosen}]
rounds = 1

[contestant.mine]
url = "{url}"

[contestant.gone]
folder = "gone"
command = "./server"
build = {{ commands = ["false"] }}
needs = [{{ command = "no-such-command" }}]

[workload.small]
request = {{ get = "/" }}
load = {{ clients = 1, requests = 1 }}

[workload.huge]
request = {{ get = "/{{peer}}" }}
peer = "gone"
load = {{ clients = 1_000_000, requests = 1 }}
"""


class NoRoom:
    """An executor that refuses a million clients, and is lost when anything is started."""

    here = "127.0.0.1"

    def prepare(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        if spec["workloads"][0]["load"]["closed"]["clients"] > 1000:
            raise StartRefused("no room for a million clients")
        return dict(spec)

    def start(self, spec: Mapping[str, Any]) -> NoReturn:
        raise ExecutorLost(f"{spec['workloads'][0]['name']} was started")


class Noting:
    def __init__(self) -> None:
        self.skips: list[str] = []

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, Skipped):
            self.skips.append(event.label)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with reference_server("null") as url:
        yield url


def run(folder: Path, server: str, chosen: str) -> Noting:
    (folder / "gone").mkdir()
    (folder / "plan.toml").touch()
    observer = Noting()
    plan = parse_plan(PLAN.format(url=server, chosen=chosen), "p", base=folder)
    with pytest.raises(ExecutorLost, match="small was started"):
        run_experiment(plan, folder, "t", 1, NoRoom(), observer)
    return observer


def test_a_workload_that_is_not_chosen_needs_neither_room_nor_its_peer(tmp_path: Path, server: str) -> None:
    assert run(tmp_path, server, '"small"').skips == []


def test_a_chosen_workload_without_room_is_refused_before_anything_starts(
    tmp_path: Path, server: str
) -> None:
    (tmp_path / "gone").mkdir()
    plan = parse_plan(PLAN.format(url=server, chosen='"small", "huge"'), "p", base=tmp_path)
    with pytest.raises(StartRefused, match="no room for a million clients"):
        run_experiment(plan, tmp_path, "t", 1, NoRoom(), Noting())
    assert [path.name for path in tmp_path.iterdir()] == ["gone"]

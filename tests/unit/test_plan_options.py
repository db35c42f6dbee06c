"""The options by which `jostle race` and `jostle run` change a plan."""

from pathlib import Path
from typing import Any

import pytest

from jostle.errors import PlanError

CHANGES = [
    *("--contestants", "reference-null:threads=1,go", "--workloads", "hello", "--rounds", "3"),
    *("--set", "clients=4", "--share-cores", "--processes", "2"),
    *("--busy-poll", "always"),
    *("--database", "postgresql://me@here/shop", "--fill-database"),
    *("--cluster", "10.0.0.1:6379", "--allow-target", "10.0.0.2", "--allow-target", "10.0.0.3"),
]
PLAN = """
title = "t"
contestants = ["node"]

[parameters]
clients = 1

[workload.hello]
request = { get = "/hello" }
load = { clients = "{clients}", for = "20s" }

[workload.other]
request = { get = "/other" }
load = { clients = 1, for = "20s" }
"""


def test_every_option_changes_the_plan(plan_of: Any, tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    plan = plan_of("run", str(file), *CHANGES, "-d", "2s")
    assert plan.contestants == ["reference-null:threads=1", "go"]
    assert (plan.workloads, plan.rounds, plan.share_cores, plan.processes) == (["hello"], 3, True, 2)
    assert plan.busy_poll == "always"
    assert plan.workload["hello"].load.clients == 4
    assert plan.workload["hello"].seconds() == 2.0
    assert (plan.database.url, plan.database.fill) == ("postgresql://me@here/shop", True)
    assert (plan.cluster.address, plan.cluster.allow_targets) == ("10.0.0.1:6379", ["10.0.0.2", "10.0.0.3"])
    assert plan_of("run", str(file)).data()["contestants"] == ["node"]


def test_a_race_is_changed_as_a_run_is(plan_of: Any) -> None:
    changes = ["--contestants", "go", "--workloads", "hello", "--rounds", "3", "--set", "clients=4"]
    plan = plan_of("race", "allocation", "--quick", *changes, "--share-cores")
    assert (plan.contestants, plan.workloads, plan.rounds) == (["go"], ["hello"], 3)
    assert (plan.parameters["clients"], plan.share_cores) == (4, True)


@pytest.mark.parametrize(
    "given", [["--contestants", "go"], ["--set", "slow=1"], ["--as-published"], ["--json"]]
)
def test_all_experiments_take_no_changes_of_one(plan_of: Any, given: list[str]) -> None:
    with pytest.raises(
        PlanError, match=f"--all cannot be combined with {given[0]}: it runs each experiment as it is"
    ):
        plan_of("race", "--all", *given)

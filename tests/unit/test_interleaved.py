"""Two plans as one run: contestants in turns, the same load, who is compared with whom."""

from pathlib import Path

import pytest

from jostle.api import compare_plans
from jostle.errors import PlanError
from jostle.plan import Plan
from jostle.plan.interleaved import interleaved
from jostle.plan.loading import parse_plan
from jostle.units import BadValue

LOAD = '[workload.w]\nrequest = { get = "/" }\nload = { clients = 2, for = "1s" }\n'


def plan(contestants: str, tables: str = "", load: str = LOAD, rounds: int = 5) -> Plan:
    return parse_plan(
        f'title = "t"\nrounds = {rounds}\ncontestants = {contestants}\n{tables}\n{load}', "plan.toml"
    )


def server(command: str, name: str = "mine") -> str:
    return f'[contestant.{name}]\ncommand = "{command} {{port}}"\n'


def test_two_versions_of_a_server_take_turns_under_names_of_their_own() -> None:
    both, pairs = interleaved(plan('["mine"]', server("./old")), plan('["mine"]', server("./new")))
    assert pairs == [("mine-first", "mine-second")]
    assert both.contestants == ["mine-first", "mine-second"]
    commands = [both.contestant[name].command for name in both.contestants]
    assert commands[0] != commands[1]
    assert both.rounds == 5


def test_servers_of_different_names_keep_them() -> None:
    both, pairs = interleaved(plan('["a"]', server("./a", "a")), plan('["b"]', server("./b", "b")))
    assert pairs == [("a", "b")]
    assert set(both.contestant) == {"a", "b"}


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (plan('["mine"]', server("./old")), "the same in both plans"),
        (plan('["mine"]', server("./new"), LOAD.replace("1s", "2s")), "the workload 'w' is not the same"),
        (plan('["mine"]', server("./new"), rounds=3), "rounds is not the same"),
        (plan('["mine", "go"]', server("./new")), "1 and 2 contestants"),
        (plan('["mine"]'), "spelled out in one plan only"),
    ],
)
def test_plans_that_differ_in_more_than_contestants_are_refused(second: Plan, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        interleaved(plan('["mine"]', server("./old")), second)


def test_a_mistake_in_a_condition_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    plans = plan('["mine"]', server("./old")), plan('["mine"]', server("./new"))
    with pytest.raises(BadValue, match="much"):
        compare_plans(*plans, into=tmp_path / "runs", fail_if="p99 > much")
    assert not (tmp_path / "runs").exists()


def test_the_command_takes_two_plans(tmp_path: Path) -> None:
    from support.commands import run_command

    with pytest.raises(PlanError, match="--interleaved takes two plans"):
        run_command("compare", "--interleaved", tmp_path / "one.toml")

"""What unit tests of the command line share."""

from collections.abc import Callable
from typing import Any

import pytest

from jostle.cli import execution
from jostle.plan import Plan
from support.commands import run_command


@pytest.fixture
def plan_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Plan]:
    """plan_of("race", "starvation", "--quick"): the plan that a command line would run."""
    plans: list[Plan] = []

    def keep(plan: Plan, *_: Any, **__: Any) -> int:
        plans.append(plan)
        return 0

    monkeypatch.setattr(execution, "run_plan", keep)

    def parse(*arguments: str) -> Plan:
        code, output = run_command(*arguments)
        assert code == 0, output
        return plans.pop()

    return parse

"""What unit tests of the command line share."""

from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from jostle.cli import app, carry_out
from jostle.plan import Plan


@pytest.fixture
def plan_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Plan]:
    """plan_of("race", "starvation", "--quick"): the plan that a command line would run."""
    plans: list[Plan] = []

    def keep(plan: Plan, *_: Any, **__: Any) -> int:
        plans.append(plan)
        return 0

    monkeypatch.setattr(carry_out, "carry_out", keep)

    def parse(*arguments: str) -> Plan:
        result = CliRunner().invoke(app, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return plans.pop()

    return parse

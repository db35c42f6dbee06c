"""The options that change a plan before it is run, as `race` and `run` both have them."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jostle.cli.options import (
    AllowTargets,
    Cluster,
    Contestants,
    DatabaseUrl,
    FillDatabase,
    Processes,
    Rounds,
    Settings,
    ShareCores,
    Workloads,
    split_contestants,
    split_settings,
    split_workloads,
)

if TYPE_CHECKING:
    from jostle.plan import Plan

__all__ = ["PlanOptions", "with_plan_options"]


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Each field is an option of the command line, with its text as it was given."""

    contestants: Contestants = None
    workloads: Workloads = None
    rounds: Rounds = None
    settings: Settings = None
    share_cores: ShareCores = False
    database: DatabaseUrl = None
    fill_database: FillDatabase = False
    processes: Processes = None
    cluster: Cluster = None
    allow_target: AllowTargets = None

    def plan(self, load: "Callable[..., Plan]", duration: str | None = None) -> "Plan":
        """What `load(settings=…, share_cores=…)` gives, tuned for this machine and changed as asked."""
        from jostle.cli.carry_out import tell_on_stderr
        from jostle.runner.tune import tuned

        plan = tuned(
            lambda settings: load(settings=settings, share_cores=self.share_cores),
            split_settings(self.settings),
            tell_on_stderr,
        )
        return plan.with_changes(
            contestants=split_contestants(self.contestants),
            workloads=split_workloads(self.workloads),
            database_url=self.database,
            fill_database=self.fill_database,
            rounds=self.rounds,
            duration=duration,
            processes=self.processes,
            cluster=self.cluster,
            allow_targets=self.allow_target,
        )


def with_plan_options(command: Callable[..., int]) -> Callable[..., int]:
    """`command(…, *, options: PlanOptions, …)` as the command line sees it: each option stands by itself."""
    whole, each = inspect.signature(command), inspect.signature(PlanOptions).parameters

    @functools.wraps(command)
    def apart(*args: Any, **given: Any) -> int:
        options = PlanOptions(**{name: given.pop(name) for name in each if name in given})
        return command(*args, options=options, **given)

    parameters = [
        parameter
        for name, own in whole.parameters.items()
        for parameter in (each.values() if name == "options" else [own])
    ]
    apart.__signature__ = whole.replace(parameters=parameters)  # type: ignore[attr-defined]
    return apart

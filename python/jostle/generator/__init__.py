"""Where the load comes from. A trial knows only `Executor` and `Running`, not which executor it was given."""

from jostle.errors import PlanError
from jostle.generator.api import Executor, Generator, Lost, Running
from jostle.generator.processes import LocalExecutor
from jostle.plan import Plan
from jostle.plan.servers.simulated import Simulated

__all__ = ["Executor", "Generator", "LocalExecutor", "Lost", "Running", "executor_for", "simulated_in"]


def executor_for(plan: Plan) -> Executor:
    """The executor for a plan: a simulation if its servers are simulated, a cluster, or this machine.

    Raises `PlanError` if some servers are simulated and others are not, and `ClusterRefused`.
    """
    if simulated := simulated_in(plan):
        from jostle.generator.simulated import SimulatedExecutor

        return SimulatedExecutor(simulated)
    table = plan.cluster
    if table is None or not table.address:
        return LocalExecutor(plan.processes)
    from jostle.generator.cluster import connect
    from jostle.generator.cluster.lease import LeaseTimes

    return connect(
        table.address,
        threads=plan.threads,
        allow_targets=table.allow_targets,
        when_lost=table.lost,
        lease=LeaseTimes(table.lease),
    )


def simulated_in(plan: Plan) -> dict[str, Simulated]:
    """The plan's contestants that are simulated, by label; empty if they are real.

    Raises `PlanError` if the plan has both: a calculated server has no noise and uses no machine.
    """
    tables = {label: plan.contestant.get(label) for label in plan.contestants}
    simulated = {
        label: table.simulate for label, table in tables.items() if table is not None and table.simulate
    }
    if simulated and len(simulated) < len(tables):
        real = next(label for label in tables if label not in simulated)
        raise PlanError(
            f"{next(iter(simulated))} is simulated and {real} is not",
            "measure and simulate in runs of their own, and compare the two",
        )
    return simulated

"""Where the load comes from. A trial knows only the two protocols here, not which executor it was given."""

from jostle.generator.api import Executor, Generator, Lost, Running
from jostle.generator.processes import LocalExecutor
from jostle.plan import Plan

__all__ = ["Executor", "Generator", "LocalExecutor", "Lost", "Running", "executor_for"]


def executor_for(plan: Plan) -> Executor:
    """A cluster where the plan names one, else processes of this machine. Raises `ClusterRefused`."""
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

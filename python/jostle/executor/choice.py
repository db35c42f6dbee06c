"""Which executor a plan asks for."""

from jostle.executor.base import Executor
from jostle.executor.processes import OnThisMachine
from jostle.plan import Plan

__all__ = ["executor_for"]


def executor_for(plan: Plan) -> Executor:
    """A cluster where the plan names one, else processes of this machine. Raises `ClusterRefused`."""
    table = plan.cluster
    if table is None or not table.address:
        return OnThisMachine(plan.processes)
    from jostle.executor.cluster import connect

    return connect(
        table.address, threads=plan.threads, allow_targets=table.allow_targets, when_lost=table.lost
    )

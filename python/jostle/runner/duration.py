"""How long trials take, as far as it is known before they run."""

from collections.abc import Iterable

from jostle.plan import Plan, Workload
from jostle.runner.schedule import Planned

__all__ = ["expected_s", "trial_s"]

START_S = 2.0
"""Starting and judging a trial."""

UNKNOWN_S = 2.0
"""A load that ends after a number of requests."""


def trial_s(plan: Plan, workload: Workload) -> float:
    """One trial: starting the server, the warm-up, and all of its runs."""
    warm_up = plan.warm_up if workload.warm_up is None else workload.warm_up
    return START_S + warm_up + workload.runs * (workload.seconds() or UNKNOWN_S)


def expected_s(plan: Plan, trials: Iterable[Planned]) -> float:
    """Trials one after another, without builds and extra rounds."""
    return sum(trial_s(plan, plan.workload[planned.workload]) for planned in trials)

"""What a plan would run, without starting anything."""

from dataclasses import dataclass
from pathlib import Path

from jostle import contestant as contestants
from jostle.errors import MissingRoute, MissingRuntime, TooFewFiles
from jostle.generator import executor_for
from jostle.plan import Plan
from jostle.runner.disk_space import free_bytes, least_bytes
from jostle.runner.duration import expected_s
from jostle.runner.experiment import (
    check_fit,
    check_protocols,
    find_room,
    measured,
    with_their_labels,
    workloads_on,
)
from jostle.runner.observer import Silent
from jostle.runner.schedule import Planned, schedule

__all__ = ["Preview", "preview"]


@dataclass(frozen=True)
class Preview:
    """`ready` and `skipped`: contestants by label, with the reason; `unbuilt` are ready but for their build.

    `trials` in the order of the seed, or in no order where there is none. `least_bytes`: what the record
    takes at least, without rows.
    """

    plan: Plan
    ready: list[str]
    unbuilt: list[str]
    skipped: dict[str, str]
    trials: list[Planned]
    seed: int | None
    seconds: float
    least_bytes: int
    free_bytes: int | None


def preview(plan: Plan, base: Path, seed: int | None) -> Preview:
    """What `run_experiment` would do. Raises as that does for mistakes in the plan, and for a load that does
    not fit this machine.
    """
    seed = plan.seed if seed is None else seed
    plan = with_their_labels(plan)
    observer = _Skipped()
    found = [contestants.find(label, plan.contestant) for label in measured(plan, observer)]
    check_protocols(plan, found)
    if plan.cluster is None or not plan.cluster.address:  # a cluster would be started to be asked
        find_room(plan, found, executor_for(plan), ask=False)
    skipped = observer.why
    every = [contestant.label for contestant in found]
    for contestant in found:
        try:
            check_fit(plan, contestant, workloads_on(plan, contestant, every))
            contestant.versions()
        except (MissingRoute, MissingRuntime, TooFewFiles) as error:
            skipped[contestant.label] = error.message
    ready = [contestant for contestant in found if contestant.label not in skipped]
    labels = [contestant.label for contestant in ready]
    trials = schedule(labels, plan, seed or 0)
    return Preview(
        plan,
        labels,
        [contestant.label for contestant in ready if not contestant.is_built()],
        skipped,
        trials,
        seed,
        expected_s(plan, trials),
        least_bytes(plan, trials),
        free_bytes(base),
    )


class _Skipped(Silent):
    """Remembers who is left out."""

    def __init__(self) -> None:
        self.why: dict[str, str] = {}

    def skipped(self, label: str, why: str) -> None:
        self.why[label] = why

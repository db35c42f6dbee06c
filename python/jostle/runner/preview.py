"""What a plan would run, without starting anything."""

from dataclasses import dataclass
from pathlib import Path

from jostle import contestant as contestants
from jostle.contestant.capacity import check_capacity
from jostle.errors import MissingRuntime, TooFewFiles
from jostle.generator import LocalExecutor
from jostle.plan import Plan
from jostle.runner.disk_space import free_bytes, least_bytes
from jostle.runner.duration import expected_s
from jostle.runner.experiment import find_room, measured, with_their_labels
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
    if plan.cluster is None:
        find_room(plan, found, LocalExecutor(plan.processes))
    skipped = observer.why
    for contestant in found:
        needed = [
            w.min_connections
            for w in plan.selected.values()
            if contestant.label in w.measured_on(plan.contestants)
        ]
        try:
            check_capacity(contestant, max(needed, default=0))
            contestant.versions()
        except (MissingRuntime, TooFewFiles) as error:
            skipped[contestant.label] = error.message
    ready = [contestant for contestant in found if contestant.label not in skipped]
    labels = [contestant.label for contestant in ready]
    trials = schedule(labels, plan.selected, plan.first_rounds, seed or 0)
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

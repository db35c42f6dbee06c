"""What a plan would run, without starting anything."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jostle.contestant import Contestant
from jostle.errors import MissingRuntime
from jostle.generator import executor_for
from jostle.plan import Plan
from jostle.runner.disk_space import free_bytes, min_bytes
from jostle.runner.duration import expected_s
from jostle.runner.experiment import find_room
from jostle.runner.participants import Participants, participants, with_their_labels
from jostle.runner.schedule import Planned, schedule

__all__ = ["Preview", "preview"]


@dataclass(frozen=True)
class Preview:
    """What a plan would run."""

    plan: Plan
    taking_part: Participants
    unbuilt: list[str]
    """Labels of the participants that only have to be built."""
    trials: list[Planned]
    """In the order of the seed; the order means nothing if there is no seed."""
    seed: int | None
    seconds: float
    least_bytes: int
    """The least space the record takes, without rows."""
    free_bytes: int | None


def preview(plan: Plan, base: Path, seed: int | None) -> Preview:
    """What `run_experiment` would do. Raises as it does for mistakes in the plan, for a load for which this
    machine has no room, and if none of the contestants can run here.
    """
    seed = plan.seed if seed is None else seed
    plan = with_their_labels(plan)
    able = participants(plan)
    if plan.cluster is None or not plan.cluster.address:  # asking a cluster would start generators on it
        find_room(plan, able.contestants, able.cells, executor_for(plan), ask=False)
    taking_part = able.without(_missing(able.contestants))
    trials = schedule(taking_part.cells, plan, seed or 0)
    return Preview(
        plan,
        taking_part,
        [contestant.label for contestant in taking_part.contestants if not contestant.is_built()],
        trials,
        seed,
        expected_s(plan, trials),
        min_bytes(plan, trials),
        free_bytes(base),
    )


def _missing(able: Iterable[Contestant]) -> dict[str, MissingRuntime]:
    """The contestants that lack a runtime here, by label."""
    missing: dict[str, MissingRuntime] = {}
    for contestant in able:
        try:
            contestant.versions()
        except MissingRuntime as error:
            missing[contestant.label] = error
    return missing

"""Whether there is room for the record of a run, before it begins."""

import os
from collections.abc import Iterable
from pathlib import Path

from jostle.errors import UserError
from jostle.generator.spec import interval_ns
from jostle.plan import Plan, Workload
from jostle.runner.schedule import Planned
from jostle.units import format_bytes

__all__ = ["check_disk_space", "free_bytes", "least_bytes"]

TRIAL_BYTES = 4_000
"""trial.json and outcome.json of any trial."""

INTERVAL_BYTES = 500
"""Of one interval of one load, even without a request in it."""


def least_bytes(plan: Plan, trials: Iterable[Planned]) -> int:
    """What the record of these trials takes at the very least; rows and many requests take more."""
    return sum(_least_bytes(plan.workload[planned.workload]) for planned in trials)


def _least_bytes(workload: Workload) -> int:
    seconds = workload.seconds()
    if seconds is None:
        return workload.runs * TRIAL_BYTES
    loads = 1 if workload.background is None else 2
    intervals = round(seconds * 1e9 / interval_ns(seconds))
    return workload.runs * (TRIAL_BYTES + loads * intervals * INTERVAL_BYTES)


def free_bytes(base: Path) -> int | None:
    """What is free where `base` is, or will be; None where the file system does not say."""
    there = next(folder for folder in (base.absolute(), *base.absolute().parents) if folder.exists())
    found = os.statvfs(there)
    return found.f_bavail * found.f_frsize if found.f_blocks else None


def check_disk_space(base: Path, needed: int) -> None:
    """Raises `UserError` where less is free than a record under `base` takes."""
    free = free_bytes(base)
    if free is not None and free < needed:
        raise UserError(
            f"the record takes at least {format_bytes(needed)}, and {format_bytes(free)} are free in {base}",
            "make room, or choose another place with --into (hit: --save)",
        )

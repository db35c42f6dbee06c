"""Checks before a run whether there is room on disk for its record."""

import os
from collections.abc import Iterable
from pathlib import Path

from jostle.errors import UserError
from jostle.generator.spec.run import interval_ns
from jostle.plan import Plan, Workload
from jostle.runner.schedule import Planned
from jostle.units import format_bytes

__all__ = ["check_disk_space", "free_bytes", "min_bytes"]

TRIAL_BYTES = 4_000
"""The size of any trial's trial.json and outcome.json."""

INTERVAL_BYTES = 500
"""The size of one interval of one load, even without any request."""


def min_bytes(plan: Plan, trials: Iterable[Planned]) -> int:
    """The least space that the record of these trials takes; rows and many requests take more."""
    return sum(_min_bytes_of(plan.workload[planned.workload]) for planned in trials)


def _min_bytes_of(workload: Workload) -> int:
    seconds = workload.seconds()
    if seconds is None:
        return workload.runs * TRIAL_BYTES
    loads = 1 if workload.background is None else 2
    intervals = round(seconds * 1e9 / interval_ns(seconds))
    return workload.runs * (TRIAL_BYTES + loads * intervals * INTERVAL_BYTES)


def free_bytes(base: Path) -> int | None:
    """The free space where `base` is or will be; None if the file system does not tell.

    Raises `UserError` if it can be no folder.
    """
    folders = (base.absolute(), *base.absolute().parents)
    # Path.exists would raise for a name that is too long.
    existing = next(folder for folder in folders if os.path.exists(folder))  # noqa: PTH110
    if not existing.is_dir():
        raise UserError(
            f"cannot make a folder for the record in {base}: {existing} is not a folder",
            "choose another place with --into",
        )
    found = os.statvfs(existing)
    return found.f_bavail * found.f_frsize if found.f_blocks else None


def check_disk_space(base: Path, needed: int) -> None:
    """Raise `UserError` if there is less free space under `base` than the record needs."""
    free = free_bytes(base)
    if free is not None and free < needed:
        raise UserError(
            f"the record takes at least {format_bytes(needed)}, and {format_bytes(free)} are free in {base}",
            "make room, or choose another place with --into",
        )

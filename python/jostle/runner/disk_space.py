"""Checks before a run whether its record can be written, and whether there is room for it on disk."""

import os
from collections.abc import Iterable
from pathlib import Path

from jostle.errors import UserError
from jostle.generator.spec.run import interval_ns
from jostle.plan import Plan, Workload
from jostle.runner.schedule import Planned
from jostle.units import format_bytes

__all__ = ["check_disk_space", "check_folder", "free_bytes", "min_bytes"]

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


def check_folder(base: Path) -> None:
    """Raise `UserError` if the folder of a record can be made neither in `base` nor as it."""
    existing = _existing(base)
    if not os.access(existing, os.W_OK | os.X_OK):
        raise _no_folder(base, f"you may not write in {existing}")


def free_bytes(base: Path) -> int | None:
    """The free space where `base` is or will be; None if the file system does not tell.

    Raises `UserError` if it can be no folder.
    """
    found = os.statvfs(_existing(base))
    return found.f_bavail * found.f_frsize if found.f_blocks else None


def _existing(base: Path) -> Path:
    """`base`, or the nearest folder above it that there is."""
    folders = (base.absolute(), *base.absolute().parents)
    # Path.exists would raise for a name that is too long.
    existing = next(folder for folder in folders if os.path.exists(folder))  # noqa: PTH110
    if not existing.is_dir():
        raise _no_folder(base, f"{existing} is not a folder")
    return existing


def _no_folder(base: Path, why: str) -> UserError:
    return UserError(
        f"cannot make a folder for the record in {base}: {why}", "choose another place with --into"
    )


def check_disk_space(base: Path, needed: int) -> None:
    """Raise `UserError` if there is less free space under `base` than the record needs."""
    free = free_bytes(base)
    if free is not None and free < needed:
        raise UserError(
            f"the record takes at least {format_bytes(needed)}, and {format_bytes(free)} are free in {base}",
            "make room, or choose another place with --into",
        )

"""Installs what contestants need and this machine lacks: Debian packages, then each contestant's build."""

import os
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from jostle.contestant.contestant import Contestant
from jostle.contestant.tools import MissingTool
from jostle.errors import MissingRuntime
from jostle.text import reason

__all__ = ["Installation", "install", "what_is_missing"]

APT = ["apt-get", "-o", "DPkg::Lock::Timeout=300"]


@dataclass(frozen=True)
class Installation:
    """What has to be installed: `packages` of Debian, and `by_hand` how to install the rest."""

    packages: list[str]
    by_hand: list[str]

    def commands(self) -> list[list[str]]:
        """The commands that `install` runs, in order; empty if no package is missing."""
        if not self.packages:
            return []
        privileged = [] if os.geteuid() == 0 else ["sudo"]
        quiet = [*privileged, "env", "DEBIAN_FRONTEND=noninteractive", *APT]
        return [
            [*quiet, "-qq", "update"],
            [*quiet, "-qq", "-y", "--no-install-recommends", "install", *self.packages],
        ]


def what_is_missing(
    contestants: Iterable[Contestant], missing_database: Callable[[], MissingTool | None]
) -> Installation:
    """What all these contestants lack together, each package once.

    `missing_database`: returns what the database lacks; called if one of them uses it.
    """
    packages: set[str] = set()
    by_hand: set[str] = set()
    for label, need in _needs(list(contestants), missing_database):
        if need.install.startswith("apt-get install") and need.package:
            packages.add(need.package)
        else:
            by_hand.add(f"{label}: {need.install or need.command}")
    return Installation(sorted(packages), sorted(by_hand))


def install(
    contestants: list[Contestant],
    missing_database: Callable[[], MissingTool | None],
    notify: Callable[[str], None],
) -> list[str]:
    """Install the packages and build the contestants. Returns what is still missing.

    `notify` is called before each step. Raises `MissingRuntime` if a package could not be installed,
    `BuildFailed`.
    """
    for command in what_is_missing(contestants, missing_database).commands():
        notify("$ " + " ".join(command))
        try:
            failed = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0
        except OSError as error:
            why = f"{command[0]} cannot be run: {reason(error)}"
            raise MissingRuntime(why, f"as root: {' '.join(command)}") from None
        if failed:
            raise MissingRuntime(f"`{' '.join(command)}` failed", "run it by hand to see why")
    for contestant in contestants:
        if not contestant.missing():
            contestant.build(notify)
    return [
        f"{label}: {need.install or need.command}" for label, need in _needs(contestants, missing_database)
    ]


def _needs(
    contestants: list[Contestant], missing_database: Callable[[], MissingTool | None]
) -> list[tuple[str, MissingTool]]:
    """What each contestant lacks, and what the database lacks if one of them uses it."""
    needs = [(contestant.label, need) for contestant in contestants for need in contestant.missing()]
    if any(contestant.file.database for contestant in contestants) and (need := missing_database()):
        needs.append(("database", need))
    return needs

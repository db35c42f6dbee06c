"""The contestants that come with jostle, one folder each."""

from pathlib import Path

from jostle.errors import UnknownName
from jostle.host.cores import available_cores
from jostle.plan.loading import Environment
from jostle.plan.servers.contestant import ContestantFile

__all__ = ["ROSTER", "environment", "load", "names"]

ROSTER = Path(__file__).resolve().parent
"""Contains their folders, and `shared`, from which several of them are built."""


def names() -> list[str]:
    """All contestants, in alphabetical order."""
    return sorted(file.parent.name for file in ROSTER.glob("*/contestant.toml"))


def load(name: str) -> tuple[ContestantFile, Path]:
    """A contestant's file and its folder. Raises `UnknownName` with the nearest names."""
    if name not in names():
        raise UnknownName("contestant", name, names())
    folder = ROSTER / name
    return ContestantFile.load(folder / "contestant.toml"), folder


def environment() -> Environment:
    """The environment in which plans are read: this machine's cores, and jostle's own contestants."""
    return Environment(names(), available_cores())

"""The contestants that travel with jostle: one folder each."""

from pathlib import Path

from jostle.errors import UnknownName
from jostle.host.cores import available_cores
from jostle.plan.contestant import ContestantFile
from jostle.plan.loading import Environment

__all__ = ["ROSTER", "environment", "load", "names"]

ROSTER = Path(__file__).resolve().parent
"""Their folders, and `shared`, which several of them build from."""


def names() -> list[str]:
    """All contestants, in alphabetical order."""
    return sorted(file.parent.name for file in ROSTER.glob("*/contestant.toml"))


def load(name: str) -> tuple[ContestantFile, Path]:
    """A contestant's file and its folder. Raises `UnknownName` with the nearest."""
    if name not in names():
        raise UnknownName("contestant", name, names())
    folder = ROSTER / name
    return ContestantFile.load(folder / "contestant.toml"), folder


def environment() -> Environment:
    """What plans are read in: this machine's cores, and the contestants that travel with jostle."""
    return Environment(names(), available_cores())

"""The folder of runs that the page shows: which there are, and where one of a name is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jostle.errors import NotARun
from jostle.record.folder import is_run, runs_inside

__all__ = ["Runs"]


@dataclass(frozen=True)
class Runs:
    """The runs directly inside `base`; with `only`, that one alone."""

    base: Path
    only: str | None = None

    @classmethod
    def at(cls, folder: Path) -> "Runs":
        """All runs inside a folder, which need not be there yet, or the one run that it is.

        Raises `NotARun` for a file.
        """
        folder = folder.absolute()
        if folder.exists() and not folder.is_dir():
            raise NotARun(f"{str(folder)!r} is not a folder", "give the folder that holds runs, or a run")
        if is_run(folder):
            return cls(folder.parent, folder.name)
        return cls(folder)

    def names(self) -> Sequence[str]:
        """Newest first: their names begin with when they began."""
        return [run.name for run in reversed(runs_inside(self.base)) if self.only in (None, run.name)]

    def existing(self, name: str) -> Path:
        """The folder of the run of that name, which never leads out of `base`. Raises `NotARun`."""
        if name not in self.names():
            raise NotARun(f"there is no run {name!r} in {str(self.base)!r}", "it may have been moved")
        return self.base / name

"""How far a viewer has been told of a run."""

from dataclasses import astuple, dataclass

__all__ = ["Place"]


@dataclass(frozen=True)
class Place:
    """What a viewer knows."""

    known: int = 0
    """Which state of the run, by its number."""
    trial: int = 0
    attempt: int = 0
    each: int = 0
    """Intervals of a column."""
    columns: int = 0
    """Those that are complete."""
    over_ns: int = 0
    """Up to when in the trial."""
    judged: int = 0
    """1 if the verdict is that on the whole trial."""

    def __str__(self) -> str:
        return ".".join(map(str, astuple(self)))

    @classmethod
    def of(cls, text: str) -> "Place":
        """From what a viewer that returns has; the beginning if it makes no sense."""
        parts = text.split(".")
        if len(parts) != 7 or not all(part.isdecimal() and len(part) < 20 for part in parts):
            return cls()
        return cls(*map(int, parts))

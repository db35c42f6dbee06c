"""How far a viewer has been told of a run."""

from dataclasses import dataclass

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

    def __str__(self) -> str:
        numbers = self.known, self.trial, self.attempt, self.each, self.columns, self.over_ns
        return ".".join(map(str, numbers))

    @classmethod
    def of(cls, text: str) -> "Place":
        """From what a viewer that returns has; the beginning if it makes no sense."""
        parts = text.split(".")
        if len(parts) != 6 or not all(part.isdecimal() and len(part) < 20 for part in parts):
            return cls()
        known, trial, attempt, each, columns, over_ns = map(int, parts)
        return cls(known, trial, attempt, each, columns, over_ns)

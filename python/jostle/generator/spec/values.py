"""Times in nanoseconds, and the bytes of files that a plan names."""

from pathlib import Path

from jostle.errors import PlanError
from jostle.text import reason

__all__ = ["bytes_of", "nanoseconds"]


def nanoseconds(seconds: float) -> int:
    """As the engine counts time."""
    return round(seconds * 1e9)


def bytes_of(path: Path) -> bytes:
    """The bytes of a file that the plan names. Raises `PlanError`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {reason(error)}", "the plan names this file") from None

"""The seam between a trial and whatever generates its load."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from jostle.errors import PlanError

if TYPE_CHECKING:
    from jostle._engine import Interval

__all__ = ["Executor", "Running", "StartRefused"]


class StartRefused(PlanError):
    """The engine cannot run this load here; the message is the engine's own."""


class Running(Protocol):
    """Load that is being generated."""

    @property
    def started_unix_ns(self) -> int:
        """Wall clock of the start: zero of every time in the intervals."""

    def next_interval(self, timeout_s: float) -> "Interval | None":
        """The next interval, or None when `timeout_s` passed without one. The last has `last` set."""

    def stop(self) -> None:
        """End cleanly: what was recorded still comes out, up to an interval marked last."""


class Executor(Protocol):
    """Starts load from a specification as `crates/engine/src/spec.rs` defines it."""

    def start(self, spec: Mapping[str, Any]) -> Running:
        """Raises `StartRefused` when the specification cannot run."""

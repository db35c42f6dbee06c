"""The seam between a trial and whatever generates its load."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from jostle.errors import JostleError, PlanError

if TYPE_CHECKING:
    from jostle._engine import Interval

__all__ = ["Executor", "Generator", "GeneratorsLost", "Lost", "Running", "StartRefused"]


class StartRefused(PlanError):
    """This load cannot run here; the message says what is missing."""


class GeneratorsLost(JostleError):
    """No generator is left: what was recorded so far is all there is."""


@dataclass(frozen=True)
class Generator:
    """A process that bears a share of the load. Numbers count from 1; all of `of` bear equal shares."""

    number: int
    of: int
    pid: int
    started_unix_ns: int

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Lost:
    """A generator that ended before its load: from `at_ns` after the start its share is missing."""

    generator: int
    of: int
    at_ns: int
    why: str

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


class Running(Protocol):
    """Load that is being generated."""

    @property
    def started_unix_ns(self) -> int:
        """Wall clock of the start: zero of every time in the intervals."""

    @property
    def generators(self) -> Sequence[Generator]:
        """Who generates it."""

    @property
    def lost(self) -> Sequence[Lost]:
        """Generators that have died so far."""

    def next_interval(self, timeout_s: float) -> "Interval | None":
        """The next interval, or None when `timeout_s` passed without one. The last has `last` set.

        Raises `GeneratorsLost` when nobody is left who could give one.
        """

    def stop(self) -> None:
        """End cleanly: what was recorded still comes out, up to an interval marked last."""


class Executor(Protocol):
    """Starts load from a specification as `crates/engine/src/spec.rs` defines it."""

    def prepare(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The specification as it can run here: with source addresses where ports would run short.

        Raises `StartRefused` when there is no room for the load. Nothing is started.
        """

    def start(self, spec: Mapping[str, Any]) -> Running:
        """Starts what `prepare` gave. Raises `StartRefused` when it cannot run."""

"""The seam between a trial and whatever generates its load."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from jostle.record.layout import GeneratorEntry, LostGenerator

if TYPE_CHECKING:
    from jostle._engine import Interval

__all__ = ["Executor", "Generator", "Lost", "Running"]


@dataclass(frozen=True)
class Generator:
    """A process that bears a share of the load. Numbers count from 1; all of `of` bear equal shares.

    `started_unix_ns`: by the clock of this machine. `host`: where it is, empty for this machine. `offset_ns`:
    its wall clock minus ours before the start, to within `offset_error_ns`.
    """

    number: int
    of: int
    pid: int
    started_unix_ns: int
    host: str = ""
    offset_ns: int = 0
    offset_error_ns: int = 0

    def as_record(self) -> GeneratorEntry:
        entry: Any = asdict(self)
        described: GeneratorEntry = entry
        return described


@dataclass(frozen=True)
class Lost:
    """A generator that ended before its load: from `at_ns` after the start its share is not in the record.

    `until_ns`: when the node `moved_to` took it over; None: nobody did.
    """

    generator: int
    of: int
    at_ns: int
    why: str
    until_ns: int | None = None
    moved_to: str = ""

    def as_record(self) -> LostGenerator:
        entry: Any = asdict(self)
        lost: LostGenerator = entry
        return lost


class Running(Protocol):
    """Load that is being generated: polled for intervals to its last one, and then pulled."""

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

    def keep(self, folder: Path) -> None:
        """Copy what generators on other machines give into `folder` as it comes. Called before all polls."""

    def pull(self) -> None:
        """When it is over: fetch what they have not given, if it can be had, and close the accounts."""


class Executor(Protocol):
    """Starts load from a specification as `crates/engine/src/spec.rs` defines it.

    A trial does not know which one it has: this process, several on this machine, or a cluster. Each places
    a load (`prepare`), sets clocks and starts it (`start`); what runs is polled, pulled and stopped.
    """

    @property
    def here(self) -> str:
        """The address of this machine at which its generators can reach a server."""

    def prepare(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The specification as it can run here: with source addresses where ports would run short, and with
        `attentive` decided.

        Raises `StartRefused` when there is no room for the load. Nothing is started.
        """

    def start(self, spec: Mapping[str, Any]) -> Running:
        """Starts what `prepare` gave. Raises `StartRefused` when it cannot run."""

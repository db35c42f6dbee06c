"""The interface between a trial and whatever generates its load."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from jostle.plan.change import Change
from jostle.record.layout import GeneratorEntry
from jostle.record.lost_generator import LostGenerator

if TYPE_CHECKING:
    from jostle._engine import Interval

__all__ = ["Executor", "Generator", "Lost", "Running", "Steered"]


@dataclass(frozen=True)
class Generator:
    """A process that generates one of `of` equal shares of the load. Numbers count from 1."""

    number: int
    of: int
    pid: int
    started_unix_ns: int
    """By the clock of this machine."""
    host: str = ""
    """Where it runs; empty for this machine."""
    offset_ns: int = 0
    """Its wall clock minus ours before the start, accurate to `offset_error_ns`."""
    offset_error_ns: int = 0

    def as_record(self) -> GeneratorEntry:
        entry: Any = asdict(self)
        described: GeneratorEntry = entry
        return described


@dataclass(frozen=True)
class Lost:
    """A generator that ended too early: from `at_ns` after the start on, its share is not in the record.

    `until_ns`: when the node `moved_to` took it over; None if none did.
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


@dataclass(frozen=True)
class Steered:
    """A load that was changed: from `at_ns` after its start on it does what follows."""

    at_ns: int
    what: Literal["rate", "clients", "phase"]
    value: float
    """Requests per second, the number of clients, or that of the phase, from 0."""
    unreached: Sequence[str] = ()
    """Why a generator's share is not changed, or not at that moment: a sentence for each such generator."""


class Running(Protocol):
    """Load that is being generated: polled up to its last interval, and then pulled."""

    @property
    def started_unix_ns(self) -> int:
        """Wall-clock time of the start, from which all times in the intervals count."""

    @property
    def generators(self) -> Sequence[Generator]:
        """The generators."""

    @property
    def lost(self) -> Sequence[Lost]:
        """Generators that have died so far."""

    def next_interval(self, timeout_s: float) -> "Interval | None":
        """The next interval, or None if `timeout_s` passed without one. The last has `last` set.

        Raises `GeneratorsLost` if no generator is left.
        """

    def steer(self, workload: int, change: Change, at_ns: int | None = None) -> Steered:
        """Change the load of a workload of the specification from `at_ns` after the start on; None: soon.

        Returns once the generators have acknowledged it; another thread may call it. Raises `SteerRefused` if
        nothing is changed.
        """

    def stop(self) -> None:
        """End cleanly: what was recorded is still returned, up to an interval marked last."""

    def save_logs_to(self, folder: Path) -> None:
        """Copy what generators on other machines send into `folder`, as it comes. Called before all polls."""

    def pull(self) -> None:
        """After the end: fetch what generators have not sent yet, if possible, and close the accounts."""


class Executor(Protocol):
    """Starts load from a specification as `crates/engine/src/spec` defines it.

    A trial does not know which executor it has: this process, several on this machine, or a cluster. Each
    places a load (`prepare`), sets clocks and starts it (`start`); the running load is polled, stopped and
    pulled.
    """

    @property
    def here(self) -> str:
        """The address of this machine at which the generators can reach a server."""

    def prepare(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The specification as it can run here: with more source addresses if ports would run short, and with
        `busy_poll` decided.

        Raises `StartRefused` if there is no room for the load. Nothing is started.
        """

    def start(self, spec: Mapping[str, Any]) -> Running:
        """Start what `prepare` returned. Raises `StartRefused` if it cannot run."""

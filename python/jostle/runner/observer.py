"""What happens in a run, as it happens: an observer is a function that is called with each event."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jostle._engine import Interval
    from jostle.analysis.results import Validity
    from jostle.runner.schedule import Planned

__all__ = [
    "Building",
    "IntervalRecorded",
    "Observer",
    "Repeated",
    "RunEvent",
    "RunFolder",
    "Scheduled",
    "Skipped",
    "Tell",
    "TrialEnded",
    "TrialStarted",
    "silent",
    "together",
    "unobserved",
]


@dataclass(frozen=True)
class Building:
    """A contestant is being built; it may take a while."""

    label: str


@dataclass(frozen=True)
class Skipped:
    """A contestant cannot run here."""

    label: str
    why: str


@dataclass(frozen=True)
class Scheduled:
    """The order of all trials is fixed, and the run's folder exists."""

    trials: Sequence["Planned"]
    """All of them, those before included."""

    folder: Path

    why: str = ""
    """Why there are more than before."""


@dataclass(frozen=True)
class TrialStarted:
    """A server is about to be started."""

    planned: "Planned"

    seconds: float
    """About how long its load lasts."""


@dataclass(frozen=True)
class IntervalRecorded:
    """An interval of a trial's load is over."""

    planned: "Planned"

    interval: "Interval"
    """As it was recorded, with its histograms whole."""

    folder: Path
    """Where it was recorded."""


@dataclass(frozen=True)
class TrialEnded:
    """A trial is over."""

    planned: "Planned"

    status: str
    """As in its record: "ended", "failed", …"""

    why: str
    """Why it did not end as it should; else empty."""

    validity: "Validity | None"
    """Its verdict; None if it did not end as it should."""


@dataclass(frozen=True)
class Repeated:
    """A trial does not count, and will be measured again at the end of its round."""

    planned: "Planned"
    why: str


RunEvent = Building | Skipped | Scheduled | TrialStarted | IntervalRecorded | TrialEnded | Repeated

Observer = Callable[[RunEvent], None]

Tell = Callable[[str, bool], None]
"""Called with what is measured and what was found. False: a status that the next text replaces."""


def silent(text: str, stays: bool) -> None:
    """Tells nobody."""


def unobserved(event: RunEvent) -> None:
    """The observer of a run that nobody watches."""


def together(*observers: Observer) -> Observer:
    """An observer that passes each event on to all of these, in this order."""

    def each(event: RunEvent) -> None:
        for observer in observers:
            observer(event)

    return each


class RunFolder:
    """An observer that remembers the run's folder, so that its results can be shown after Ctrl-C."""

    path: Path | None = None
    """None as long as the run has none."""

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, Scheduled):
            self.path = event.folder

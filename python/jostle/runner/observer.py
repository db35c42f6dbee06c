"""Observers of a run: the protocol, one that shows nothing, and one that survives failures to show."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jostle._engine import Interval
    from jostle.analysis.results import Validity
    from jostle.runner.schedule import Planned

__all__ = ["Observer", "Silent", "UntilItFails"]


class Observer(Protocol):
    """Is told what happens in a run as it happens."""

    def building(self, label: str) -> None: ...
    def skipped(self, label: str, why: str) -> None: ...
    def scheduled(self, trials: Sequence["Planned"], folder: Path, why: str = "") -> None: ...
    def trial_started(self, planned: "Planned", seconds: float) -> None: ...
    def interval(self, planned: "Planned", interval: "Interval") -> None: ...
    def trial_ended(self, planned: "Planned", status: str, why: str, validity: "Validity | None") -> None: ...
    def repeated(self, planned: "Planned", why: str) -> None: ...


class Silent:
    """Shows nothing, but remembers the folder, so that the results can be shown after Ctrl-C."""

    folder: Path | None = None

    def building(self, label: str) -> None:
        """A contestant is being built; it may take a while."""

    def skipped(self, label: str, why: str) -> None:
        """A contestant cannot run here."""

    def scheduled(self, trials: Sequence["Planned"], folder: Path, why: str = "") -> None:
        """The order of all trials is fixed and the folder exists. `why`: why there are more than before."""
        self.folder = folder

    def trial_started(self, planned: "Planned", seconds: float) -> None:
        """A server is about to be started; its load lasts about `seconds`, if that is known."""

    def interval(self, planned: "Planned", interval: "Interval") -> None:
        """An interval was recorded."""

    def trial_ended(self, planned: "Planned", status: str, why: str, validity: "Validity | None") -> None:
        """The trial is over, and was judged if it ended as it should."""

    def repeated(self, planned: "Planned", why: str) -> None:
        """The trial does not count, and will be measured again at the end of its round."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class UntilItFails(Silent):
    """Passes everything on until showing fails, so that a closed pipe or terminal does not end the run."""

    def __init__(self, shown: Silent) -> None:
        self._shown = shown
        self._broken = False

    def building(self, label: str) -> None:
        self._show(lambda: self._shown.building(label))

    def skipped(self, label: str, why: str) -> None:
        self._show(lambda: self._shown.skipped(label, why))

    def scheduled(self, trials: Sequence["Planned"], folder: Path, why: str = "") -> None:
        super().scheduled(trials, folder, why)
        self._show(lambda: self._shown.scheduled(trials, folder, why))

    def trial_started(self, planned: "Planned", seconds: float) -> None:
        self._show(lambda: self._shown.trial_started(planned, seconds))

    def interval(self, planned: "Planned", interval: "Interval") -> None:
        self._show(lambda: self._shown.interval(planned, interval))

    def trial_ended(self, planned: "Planned", status: str, why: str, validity: "Validity | None") -> None:
        self._show(lambda: self._shown.trial_ended(planned, status, why, validity))

    def repeated(self, planned: "Planned", why: str) -> None:
        self._show(lambda: self._shown.repeated(planned, why))

    def close(self) -> None:
        self._show(self._shown.close)

    def _show(self, work: Callable[[], None]) -> None:
        if self._broken:
            return
        try:
            work()
        except OSError:
            self._broken = True

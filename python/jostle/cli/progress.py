"""What a person sees while a run goes on: a progress display on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from jostle.record.outcomes import Outcome
from jostle.record.verdict import Verdict
from jostle.runner.observer import Silent

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from jostle._engine import Interval
    from jostle.analysis.results import Validity
    from jostle.runner.schedule import Planned

__all__ = ["Plain", "Progress", "observer_for"]


class Plain(Silent):
    """A line for everything that matters, for logs and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._total = 0

    def _say(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def building(self, label: str) -> None:
        self._say(f"building {label}")

    def skipped(self, label: str, why: str) -> None:
        self._say(f"skipped {label}: {why}")

    def scheduled(self, trials: Sequence["Planned"], folder: Path) -> None:
        super().scheduled(trials, folder)
        self._total = len(trials)
        if self._total > 1:
            self._say(f"{self._total} trials, recorded in {folder}")

    def trial_ended(self, planned: "Planned", status: str, why: str, validity: "Validity | None") -> None:
        if self._total > 1:
            self._say(f"{planned.number}/{self._total} {_name(planned)}: {_verdict(status, why, validity)}")


class Progress(Silent):
    """A display with a bar for the whole run and a line for the trial that is running."""

    def __init__(self) -> None:
        self._bars: RichProgress | None = None
        self._all: TaskID | None = None
        self._now: TaskID | None = None
        self._seconds: float | None = None
        self._failed = 0

    def _display(self) -> "RichProgress":
        if self._bars is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as RichProgress

            self._bars = RichProgress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[said]}"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bars.start()
        return self._bars

    def building(self, label: str) -> None:
        self._display().console.print(f"building {label} …", style="dim", markup=False)

    def skipped(self, label: str, why: str) -> None:
        self._display().console.print(f"skipped {label}: {why}", style="yellow", markup=False)

    def scheduled(self, trials: Sequence["Planned"], folder: Path) -> None:
        super().scheduled(trials, folder)
        if self._all is not None:
            self._display().update(self._all, total=len(trials))
        elif len(trials) > 1:
            self._all = self._display().add_task("all trials", total=len(trials), said=f"0/{len(trials)}")

    def trial_started(self, planned: "Planned", seconds: float | None) -> None:
        self._seconds = seconds
        self._failed = 0
        bars = self._display()
        self._now = bars.add_task(_name(planned, short=self._all is None), total=seconds, said="starting")

    def interval(self, planned: "Planned", interval: "Interval") -> None:
        if self._now is None:
            return
        outcomes = [series["outcomes"] for series in interval["series"] if series["workload"] == 0]
        ok = sum(outcome.get(Outcome.OK, 0) for outcome in outcomes)
        self._failed += sum(sum(outcome.values()) for outcome in outcomes) - ok
        length_s = (interval["end_ns"] - interval["start_ns"]) / 1e9
        said = f"{ok / length_s:,.0f}/s" if length_s > 0 else ""
        if self._failed:
            said += f", {self._failed:,} failed"
        self._display().update(self._now, completed=interval["end_ns"] / 1e9, said=said)

    def trial_ended(self, planned: "Planned", status: str, why: str, validity: "Validity | None") -> None:
        bars = self._display()
        if self._now is not None:
            bars.remove_task(self._now)
            self._now = None
        if self._all is None:
            return
        total = bars.tasks[0].total or 0
        bars.update(self._all, completed=planned.number, said=f"{planned.number}/{total:.0f}")
        if validity is None or validity.verdict is not Verdict.VALID:
            style = validity.verdict.style if validity else "red"
            text = f"{planned.number}/{total:.0f} {_name(planned)}: {_verdict(status, why, validity)}"
            bars.console.print(text, style=style, markup=False, highlight=False)

    def close(self) -> None:
        if self._bars is not None:
            self._bars.stop()


def observer_for(stream: Any = None) -> Silent:
    """The progress display when `stream` (standard error) is a terminal, plain lines when it is not."""
    stream = stream or sys.stderr
    return Progress() if stream.isatty() else Plain(stream)


def _name(planned: "Planned", short: bool = False) -> str:
    return (
        planned.contestant if short else f"{planned.contestant} · {planned.workload} · round {planned.round}"
    )


def _verdict(status: str, why: str, validity: "Validity | None") -> str:
    if validity is None:
        return f"{status}: {why}"
    reasons = "; ".join(validity.reasons)
    return f"{validity.verdict.symbol} {validity.verdict}" + (f": {reasons}" if reasons else "")

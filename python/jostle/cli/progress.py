"""What a user sees during a run: one line with the time left, and what goes wrong."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from jostle.formatting import plural
from jostle.record.outcomes import Outcome
from jostle.runner.observer import Silent

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from jostle._engine import Interval
    from jostle.analysis.results import Validity
    from jostle.runner.schedule import Planned

__all__ = ["Plain", "Progress", "minutes", "observer_for"]

PARTS = 10
"""Without a terminal, a line is printed after each of this many equal parts of the run."""


def minutes(seconds: float) -> str:
    """A rough length of time: "40 s", "12 min"."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


class _Course:
    """How far a run is, and how much time is left, judging by its trials so far.

    `done`: the number of trials that are over, including those before a resumption.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.total = 0
        self.done = 0
        self._began = 0.0
        self._took_s = 0.0
        self._measured = 0

    def begin(self, planned: "Planned") -> None:
        self.done = max(self.done, planned.number - 1)
        self._began = self._now()

    def end(self, planned: "Planned") -> bool:
        """Whether another tenth of the run is over."""
        before = self._part()
        self.done = max(self.done, planned.number)
        self._took_s += self._now() - self._began
        self._measured += 1
        return self._part() > before

    def _part(self) -> int:
        return self.done * PARTS // max(self.total, 1)

    def left(self) -> str:
        """The time left, as text; "" before the first trial is over, and after the last."""
        if not self._measured or self.done >= self.total:
            return ""
        return f"about {minutes(self._took_s / self._measured * (self.total - self.done))} left"


class _Failures:
    """What is reported only once: why trials of a contestant and workload fail, and that trials repeat."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str, str]] = set()
        self._repeated = False

    def new(self, planned: "Planned", status: str, why: str) -> bool:
        """Whether this failure is new. A server that cannot start fails in all of its trials alike."""
        key = (planned.contestant, "" if status == "failed" else planned.workload, why.partition("\n")[0])
        if key in self._told:
            return False
        self._told.add(key)
        return True

    def first_repeat(self) -> bool:
        """Whether this is the first repeated trial; many may follow for the same reason."""
        first, self._repeated = not self._repeated, True
        return first


class Plain(Silent):
    """Prints lines, for logs and pipes: the progress, and each failure once; `verbose`: every trial."""

    def __init__(
        self, stream: TextIO, *, verbose: bool = False, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._verbose = verbose
        self._course = _Course(now)
        self._failures = _Failures()

    def _say(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def building(self, label: str) -> None:
        self._say(f"building {label}")

    def skipped(self, label: str, why: str) -> None:
        self._say(f"skipped {label}: {why}")

    def scheduled(self, trials: Sequence["Planned"], folder: Path, why: str = "") -> None:
        super().scheduled(trials, folder, why)
        before, self._course.total = self._course.total, len(trials)
        if 0 < before < len(trials):
            self._say(_added(len(trials) - before, why))
        elif not before and len(trials) > 1:
            self._say(f"{len(trials)} trials, recorded in {folder}")

    def trial_started(self, planned: "Planned", seconds: float) -> None:
        self._course.begin(planned)

    def trial_ended(self, planned: "Planned", status: str, why: str, validity: "Validity | None") -> None:
        course = self._course
        another_part = course.end(planned)
        if course.total <= 1:
            return
        if self._verbose or (validity is None and self._failures.new(planned, status, why)):
            self._say(f"{planned.number}/{course.total} {_name(planned)}: {_verdict(status, why, validity)}")
        elif another_part and (left := course.left()):
            self._say(f"{course.done} of {course.total} trials done, {left}")

    def repeated(self, planned: "Planned", why: str) -> None:
        if self._verbose or self._failures.first_repeat():
            self._say(_again(planned, why, all_told=self._verbose))


class Progress(Silent):
    """One line at the bottom of the terminal; above it each failure once, or with `verbose` every trial."""

    def __init__(self, *, verbose: bool = False, now: Callable[[], float] = time.monotonic) -> None:
        self._verbose = verbose
        self._course = _Course(now)
        self._failures = _Failures()
        self._bars: RichProgress | None = None
        self._line: TaskID | None = None
        self._seconds = 1.0
        self._failed = 0

    def _display(self) -> "RichProgress":
        if self._bars is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as RichProgress

            self._bars = RichProgress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[said]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._line = self._bars.add_task("", total=None, said="")
            self._bars.start()
        return self._bars

    def _show(self, description: str, said: str, within: float = 0.0) -> None:
        """`within`: the share of the running trial that is over."""
        bars = self._display()
        assert self._line is not None
        course = self._course
        completed = course.done + within
        bars.update(self._line, description=description, completed=completed, total=course.total, said=said)

    def building(self, label: str) -> None:
        self._display().console.print(f"building {label} …", style="dim", markup=False)

    def skipped(self, label: str, why: str) -> None:
        self._display().console.print(f"skipped {label}: {why}", style="yellow", markup=False)

    def scheduled(self, trials: Sequence["Planned"], folder: Path, why: str = "") -> None:
        super().scheduled(trials, folder, why)
        before, self._course.total = self._course.total, len(trials)
        if 0 < before < len(trials):
            text = _added(len(trials) - before, why)
            self._display().console.print(text, style="dim", markup=False, highlight=False)

    def trial_started(self, planned: "Planned", seconds: float) -> None:
        self._course.begin(planned)
        self._seconds = seconds
        self._failed = 0
        self._show(self._where(planned), self._course.left() or "starting")

    def interval(self, planned: "Planned", interval: "Interval") -> None:
        outcomes = [series["outcomes"] for series in interval["series"] if series["workload"] == 0]
        ok = sum(outcome.get(Outcome.OK, 0) for outcome in outcomes)
        self._failed += sum(sum(outcome.values()) for outcome in outcomes) - ok
        length_s = (interval["end_ns"] - interval["start_ns"]) / 1e9
        over_s = interval["end_ns"] / 1e9
        alone = f"{minutes(max(0.0, self._seconds - over_s))} left"
        left = alone if self._course.total == 1 else self._course.left()
        said = [
            f"{ok / length_s:,.0f}/s" if length_s > 0 else "",
            f"{self._failed:,} failed" if self._failed else "",
            left,
        ]
        self._show(self._where(planned), ", ".join(filter(None, said)), min(1.0, over_s / self._seconds))

    def trial_ended(self, planned: "Planned", status: str, why: str, validity: "Validity | None") -> None:
        self._course.end(planned)
        self._show(self._where(planned), self._course.left())
        told = validity is None and self._failures.new(planned, status, why)
        if self._course.total > 1 and (self._verbose or told):
            style = validity.verdict.style if validity else "red"
            text = (
                f"{planned.number}/{self._course.total} {_name(planned)}: {_verdict(status, why, validity)}"
            )
            self._display().console.print(text, style=style, markup=False, highlight=False)

    def repeated(self, planned: "Planned", why: str) -> None:
        if self._verbose or self._failures.first_repeat():
            text = _again(planned, why, all_told=self._verbose)
            self._display().console.print(text, style="yellow", markup=False, highlight=False)

    def _where(self, planned: "Planned") -> str:
        if self._course.total <= 1:
            return planned.contestant
        return f"{planned.number}/{self._course.total} {planned.contestant} {planned.workload}"

    def close(self) -> None:
        if self._bars is not None:
            self._bars.stop()
            self._bars = None


def observer_for(stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> Silent:
    """An observer with one redrawn line if `stream` (standard error) is a terminal, otherwise plain lines."""
    if quiet:
        return Silent()
    return Progress(verbose=verbose) if stream.isatty() else Plain(stream, verbose=verbose)


def _name(planned: "Planned") -> str:
    return f"{planned.contestant}, {planned.workload}, round {planned.round}"


def _added(number: int, why: str) -> str:
    return f"{plural(number, 'trial')} added{f': {why}' if why else ''}"


def _again(planned: "Planned", why: str, *, all_told: bool) -> str:
    others = "" if all_told else " (more may follow; --verbose names all)"
    return f"{_name(planned)} is measured again at the end of its round: {why}{others}"


def _verdict(status: str, why: str, validity: "Validity | None") -> str:
    if validity is None:
        return f"{status}: {why}"
    reasons = "; ".join(validity.reasons)
    return f"{validity.verdict.symbol} {validity.verdict}" + (f": {reasons}" if reasons else "")

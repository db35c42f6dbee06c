"""What a user sees during a run: how far it is, the time left, and what goes wrong."""

import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from jostle.cli.display import Display
from jostle.cli.terminal.view import LiveView
from jostle.formatting import plural
from jostle.runner.observer import (
    Building,
    IntervalRecorded,
    Repeated,
    RunEvent,
    Scheduled,
    Skipped,
    TrialEnded,
    TrialStarted,
)
from jostle.units import format_rough_span

if TYPE_CHECKING:
    from jostle.analysis.results import Validity
    from jostle.runner.schedule import Planned

__all__ = ["RunProgress"]

PARTS = 10
"""Without a terminal, a line is printed after each of this many equal parts of the run."""


class _Course:
    """How far a run is, and how much time is left, judging by its trials so far.

    `done`: the number of trials that are over, including those before a resumption.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.total = 0
        self.rounds = 0
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
        return f"about {format_rough_span(self._took_s / self._measured * (self.total - self.done))} left"


class _Failures:
    """What is reported only once: why trials of a contestant and workload fail, and that trials repeat."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str, str]] = set()
        self._repeated = False

    def new(self, planned: "Planned", status: str, why: str) -> bool:
        """Whether this failure is new. A server that cannot start fails in all of its trials alike."""
        key = (planned.contestant, "" if status == "failed" else planned.workload, why.partition("\n")[0])
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def first_repeat(self) -> bool:
        """Whether this is the first repeated trial; many may follow for the same reason."""
        first, self._repeated = not self._repeated, True
        return first


class RunProgress:
    """An observer: on a terminal what is known of the trial that runs, elsewhere a line per tenth of the run.

    Each failure is said once; with `verbose`, every trial.
    """

    def __init__(
        self, display: Display, *, verbose: bool = False, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._display = display
        self._view = LiveView(display)
        self._verbose = verbose
        self._course = _Course(now)
        self._failures = _Failures()
        self._seconds = 1.0
        self._ends: dict[int, str] = {}

    def __call__(self, event: RunEvent) -> None:
        self._tell(event)
        self._view(event)

    def _tell(self, event: RunEvent) -> None:
        match event:
            case Building(label):
                self._display.say(f"building {label}", "dim")
            case Skipped(label, why):
                self._display.say(f"skipped {label}: {why}", "yellow")
            case Scheduled():
                self._scheduled(event)
            case TrialStarted(planned, seconds):
                self._course.begin(planned)
                self._seconds = seconds
                self._show(planned, self._so_far() or "starting")
            case IntervalRecorded():
                self._interval(event)
            case TrialEnded():
                self._ended(event)
            case Repeated(planned, why):
                if self._verbose or self._failures.first_repeat():
                    self._display.say(_again(planned, why, all_told=self._verbose), "yellow")

    def _scheduled(self, event: Scheduled) -> None:
        total = len(event.trials)
        before, self._course.total = self._course.total, total
        self._course.rounds = max((planned.round for planned in event.trials), default=0)
        if 0 < before < total:
            self._display.say(
                f"{plural(total - before, 'trial')} added{f': {event.why}' if event.why else ''}", "dim"
            )
        elif not before and total > 1 and not self._display.live:
            self._display.say(f"{total} trials, recorded in {event.folder}")

    def _interval(self, event: IntervalRecorded) -> None:
        over_s = event.interval["end_ns"] / 1e9
        of_trial = f"{format_rough_span(max(0.0, self._seconds - over_s))} left"
        details = of_trial if self._course.total == 1 else self._so_far()
        self._show(event.planned, details, min(1.0, over_s / self._seconds))

    def _so_far(self) -> str:
        """The time left, and how the trials ended that are over."""
        ended = [f"{count} {how}" for how, count in Counter(self._ends.values()).items()]
        return ", ".join(filter(None, [self._course.left(), *ended]))

    def _ended(self, event: TrialEnded) -> None:
        course, planned = self._course, event.planned
        another_part = course.end(planned)
        self._ends[planned.number] = event.validity.verdict if event.validity else event.status
        self._show(planned, self._so_far() if course.total > 1 else "")
        if course.total <= 1:
            return
        if self._verbose or (event.validity is None and self._failures.new(planned, event.status, event.why)):
            verdict = _verdict(event.status, event.why, event.validity)
            self._display.say(
                f"{planned.number}/{course.total} {_name(planned)}: {verdict}",
                event.validity.verdict.style if event.validity else "red",
            )
        elif another_part and not self._display.live and (left := course.left()):
            self._display.say(f"{course.done} of {course.total} trials done, {left}")

    def _show(self, planned: "Planned", details: str, share_over: float = 0.0) -> None:
        """`share_over`: the share of the running trial that is over."""
        course = self._course
        which = f"{planned.number}/{course.total} " if course.total > 1 else ""
        round_of = f", round {planned.round} of {course.rounds}" if course.rounds > 1 else ""
        where = f"{which}{planned.contestant}" + (f" {planned.workload}{round_of}" if which else "")
        self._display.show(where, details, done=course.done + share_over, total=course.total)


def _name(planned: "Planned") -> str:
    return f"{planned.contestant}, {planned.workload}, round {planned.round}"


def _again(planned: "Planned", why: str, *, all_told: bool) -> str:
    others = "" if all_told else " (more may follow; --verbose names all)"
    return f"{_name(planned)} is measured again at the end of its round: {why}{others}"


def _verdict(status: str, why: str, validity: "Validity | None") -> str:
    if validity is None:
        return f"{status}: {why}"
    reasons = "; ".join(validity.reasons)
    return f"{validity.verdict.symbol} {validity.verdict}" + (f": {reasons}" if reasons else "")

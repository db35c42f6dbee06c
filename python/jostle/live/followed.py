"""A run that is read while it is written: what its journal says so far, and its trials."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import cast

from jostle.errors import NotARun
from jostle.live.journal import Event, events_of
from jostle.live.span import WHOLE, Span
from jostle.live.trial import RunningTrial
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord, TrialRecord
from jostle.record.folder import folders_inside, is_run
from jostle.record.growing import GrowingIntervals
from jostle.record.journal_line import JournalEntry
from jostle.record.jsonl import parse, read_lines
from jostle.record.layout import JOURNAL
from jostle.record.lost_generator import LostGenerator
from jostle.record.verdict import Verdict

__all__ = ["Attempt", "FollowedRun", "FollowedTrial", "RunState", "TrialPlace"]

MAX_AT_ONCE = 200
"""Intervals that are read before what they say is shown: some tenths of a second of work."""

MAX_EVENTS = 200
"""The latest of a run's journal that are kept to be shown."""


Attempt = tuple[int, int]
"""The number of a trial, and how often it has begun: a spoiled one is measured again."""


@dataclass(frozen=True)
class TrialPlace:
    """A trial in its run."""

    number: int
    contestant: str
    workload: str
    round: int
    status: str = "planned"
    """"running" once it has begun, then as in its record."""
    verdict: Verdict | None = None
    attempt: int = 0
    """How often it has begun: a spoiled trial is measured again."""
    lost: Sequence[LostGenerator] = ()
    """Generators that ended before their load did."""

    @property
    def key(self) -> Attempt:
        return self.number, self.attempt


@dataclass(frozen=True)
class RunState:
    """What the journal of a run says."""

    trials: Sequence[TrialPlace] = ()
    newest: int | None = None
    """The number of the trial that began last."""
    status: str = "running"
    """"ended", "stopped" (by the user, say), "killed" (its journal just ends), "damaged" (it cannot be read
    on) or "gone" (it is not there any more)."""
    why: str = ""
    """Why it stopped, or what is damaged."""
    events: Sequence[Event] = ()
    """What happened in it lately, in order."""


class FollowedRun:
    """Reads on in the journal of a run."""

    def __init__(self, folder: Path) -> None:
        """Raises NotARun."""
        self.record = RunRecord.open(folder)
        self.folder = folder
        self.state = RunState()
        self._trials: dict[int, TrialPlace] = {}
        self._read_bytes = 0

    @cached_property
    def plan(self) -> RecordedPlan:
        """Its plan; one that requires nothing if it cannot be read, as its trials can all the same."""
        try:
            return RecordedPlan.parse(self.record.plan_text)
        except NotARun:
            return RecordedPlan.parse("")

    def read(self) -> bool:
        """Whether the state is another one than before."""
        before = self.state
        path, kind = self.folder / JOURNAL, cast("type[JournalEntry]", JournalEntry)
        entries: list[JournalEntry] = []
        damage = ""
        try:
            for line in read_lines(path, self._read_bytes):
                entries.append(parse(path, line, kind))
                self._read_bytes += len(line) + 1
        except NotARun as error:
            damage = error.message
        for entry in entries:
            self._add(entry)
        if entries:
            events = (*self.state.events, *events_of(entries))[-MAX_EVENTS:]
            self.state = replace(self.state, trials=tuple(self._trials.values()), events=events)
        if damage:
            self.state = replace(self.state, status="damaged", why=damage)
        if not is_run(self.folder):
            self.state = replace(self.state, status="gone")
        elif self.state.status in ("running", "killed"):
            going = self.record.being_written
            self.state = replace(self.state, status="running" if going else "killed")
        return self.state != before

    def _add(self, entry: JournalEntry) -> None:
        match entry["event"]:
            case "trial planned":
                place = TrialPlace(entry["number"], entry["contestant"], entry["workload"], entry["round"])
                self._trials[place.number] = place
            case "trial started":
                self._change(entry["number"], _begun)
                self.state = replace(self.state, newest=entry["number"])
            case "trial ended" | "trial failed" | "trial cut short":
                verdict = Verdict(entry["verdict"]) if entry.get("verdict") in {*Verdict} else None
                status = entry["event"].removeprefix("trial ")
                self._change(entry["number"], lambda place: replace(place, status=status, verdict=verdict))
            case "trial set aside":
                self._change(entry["number"], lambda place: replace(place, status="planned", verdict=None))
            case "generator lost":
                self._change(entry["number"], lambda place: replace(place, lost=(*place.lost, entry)))
            case "run resumed":
                self.state = replace(self.state, status="running", why="")
            case "run stopped":
                self.state = replace(self.state, status="stopped", why=entry.get("why", ""))
            case "run ended":
                self.state = replace(self.state, status="ended")

    def _change(self, number: int, changed: Callable[[TrialPlace], TrialPlace]) -> None:
        if number in self._trials:
            self._trials[number] = changed(self._trials[number])

    def trial(self, number: int, within: Span = WHOLE) -> "FollowedTrial | None":
        """A trial by its number; None if it has not begun. `within`: the part of it that is read."""
        for folder in folders_inside(self.folder / "trials", f"{number:03d}-*"):
            if (folder / "trial.json").is_file():
                return FollowedTrial(folder, within)
        return None


def _begun(place: TrialPlace) -> TrialPlace:
    return replace(place, status="running", verdict=None, lost=(), attempt=place.attempt + 1)


class FollowedTrial:
    """Reads on in the intervals of a trial."""

    def __init__(self, folder: Path, within: Span = WHOLE) -> None:
        self.folder = folder
        self._within = within
        self._intervals = GrowingIntervals(folder)
        self.damage = ""
        """Why no more can be read of it."""
        self.behind = False
        """Whether there is more than was read."""
        self.intervals = 0
        """How many were read."""

    @cached_property
    def running(self) -> RunningTrial:
        """What is known of it."""
        return RunningTrial(TrialRecord(self.folder), self._within)

    def read(self) -> bool:
        """Whether there was anything new."""
        if self.damage:
            return False
        new = 0
        try:
            for interval in self._intervals.read(MAX_AT_ONCE):
                new += 1
                if (part := self._within.of_interval(interval)) is not None:
                    self.running.add(part)
        except NotARun as error:
            self.damage = error.message
        self.intervals += new
        self.behind = new == MAX_AT_ONCE
        return new > 0 or bool(self.damage)

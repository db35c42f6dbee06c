"""Reads one trial of a run, whole or cut short. Nothing in its folder is trusted."""

import math
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jostle.errors import NotARun
from jostle.record.folder import check_format, folders_inside, read_host
from jostle.record.hlog import SeriesKey
from jostle.record.interval_line import IntervalEntry
from jostle.record.intervals import RecordedIntervals, Wanted
from jostle.record.jsonl import check_fingerprint, damaged, read_object, read_objects
from jostle.record.layout import (
    FORMAT,
    STEERED,
    GarbageEntry,
    HostFacts,
    Ledger,
    LedgerEntry,
    MachineEntry,
    OutcomeEntry,
    ResourceSample,
    ServerDescription,
    Status,
    SteeredEntry,
    TrialDescription,
)
from jostle.record.lost_generator import LostGenerator
from jostle.record.rows import is_rows, read_rows

if TYPE_CHECKING:
    from jostle.histogram import Histogram
    from jostle.record.row_columns import Rows

__all__ = ["NO_OUTCOME", "TrialRecord"]

Sample = TypeVar("Sample", ResourceSample, MachineEntry)


class TrialRecord:
    """One trial, read on demand. Times count from the trial's start.

    Everything raises NotARun for a damaged file.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def description(self) -> TrialDescription:
        """trial.json."""
        described = read_object(self.folder / "trial.json", TrialDescription)
        if described is None:
            raise NotARun(f"{self.folder} is not a trial of a run", "it has no readable trial.json")
        check_format(described.get("format", 1), self.folder)
        return described

    @cached_property
    def host(self) -> HostFacts:
        """host.json of its run; only a format if there is none."""
        found = map(read_host, self.folder.parents[:3])
        unknown: HostFacts = {"format": FORMAT}
        return next((host for host in found if host), unknown)

    @property
    def number(self) -> int:
        return self.description["number"]

    @property
    def contestant(self) -> str:
        return self.description["contestant"]

    @property
    def workload(self) -> str:
        return self.description["workload"]

    @property
    def round(self) -> int:
        return self.description["round"]

    @property
    def earlier(self) -> "list[TrialRecord]":
        """Runs of the load on the same server before the measured one, in order; usually none."""
        return [
            TrialRecord(folder) for folder in sorted(folders_inside(self.folder, "run-*"), key=_run_number)
        ]

    @property
    def server(self) -> ServerDescription:
        """What was measured; only its label if that is all that is known."""
        return self.description.get("server") or {"label": self.contestant}

    @property
    def simulated(self) -> bool:
        """Whether load and server were calculated, so that nothing was measured."""
        return "simulated" in self.server

    @cached_property
    def _outcome(self) -> OutcomeEntry:
        return read_object(self.folder / "outcome.json", OutcomeEntry) or NO_OUTCOME

    @property
    def status(self) -> Status:
        """How it ended: "cut short" if it was stopped, or has no outcome because its writer was killed."""
        return self._outcome["status"]

    @property
    def why(self) -> str:
        """Why it did not end well; empty if it did."""
        return self._outcome.get("why", "")

    @property
    def server_away(self) -> bool:
        """Whether no load was sent because the server was not there; False in older records."""
        return self._outcome.get("server_away", False)

    @property
    def server_output_tail(self) -> str:
        """The server's last output, if it failed."""
        return self._outcome.get("server_output_tail", "")

    @property
    def generators_lost(self) -> list[LostGenerator]:
        """Generators that died before the end."""
        return self._outcome.get("generators_lost", [])

    @property
    def garbage(self) -> GarbageEntry | None:
        """What the server's runtime reported about garbage collection during the load; None if nothing."""
        return self._outcome.get("garbage")

    @property
    def suspended_s(self) -> float:
        """How long the machine was suspended during the load."""
        return self._outcome.get("suspended_ns", 0) / 1e9

    @property
    def clock_set_s(self) -> float:
        """By how much the wall clock was set during the load; negative: back."""
        return self._outcome.get("clock_set_ns", 0) / 1e9

    def check(self) -> None:
        """Raises NotARun if a file is not as it was when the trial ended.

        Rows are checked when they are read. Trials of format 1 have no checksums: of these, and of one that
        was cut short, only the form of each file is checked.
        """
        _ = self.description, self.status
        for name, expected in self._outcome.get("files", {}).items():
            if not _is_inside(name):
                raise damaged(self.folder / "outcome.json", f"it names the file {name!r}")
            if not is_rows(name):
                check_fingerprint(self.folder / name, expected)
        for earlier in self.earlier:
            earlier.check()
        self._intervals.check()

    @cached_property
    def _intervals(self) -> RecordedIntervals:
        return RecordedIntervals(self.folder, whole=self.status == "ended")

    @property
    def intervals(self) -> Iterator[IntervalEntry]:
        """The intervals one at a time, as the engine recorded them, histograms reduced to count and maximum.

        They are read again each time; what has been written since the first time is left out.
        """
        return iter(self._intervals)

    def histogram(
        self,
        measure: str,
        workload: int | None = 0,
        start_s: float = 0,
        end_s: float = math.inf,
    ) -> "Histogram":
        """Everything recorded of `measure` (µs), merged; None stands for all.

        Only intervals that begin in `start_s..end_s` count. A phase of the load is defined by its intervals
        alone (`TrialData.within`); the phases that series name are merged.
        """
        return self._intervals.merged(_of_workload(measure, workload), start_s, end_s)

    def interval_histograms(self, measure: str, workload: int | None = 0) -> "Iterator[Histogram | None]":
        """One histogram (µs) for each of `intervals`, read and decoded as it is asked for.

        None if nothing was recorded in it. As arguments, None stands for all.
        """
        return self._intervals.histogram_of_each(_of_workload(measure, workload))

    def histograms_by_request(self, measure: str, workload: int) -> "Iterator[tuple[int, int, Histogram]]":
        """Every recorded histogram of `measure` (µs): number of the interval and of the request or journey.

        They are read once, in the order of the record, and decoded as they are asked for: all requests
        together cost one pass.
        """
        wanted = _of_workload(measure, workload)
        for interval, (_, request, _), histogram in self._intervals.histograms(wanted):
            yield interval, request, histogram

    def generator_service(self, number: int) -> "Histogram":
        """Service times (µs) of the measured workload as generator `number` of several saw them."""
        return self._intervals.merged(lambda s, m: s == (-1, number, -1) and m == "service")

    @property
    def generator_accounts(self) -> list[LedgerEntry]:
        """For each generator on another machine what it streamed and what is in its spool only."""
        folder = self.folder / "generators"
        if folder.is_symlink():
            raise damaged(folder, "it is a link")
        ledger = read_object(folder / "accounts.json", Ledger)
        return ledger["accounts"] if ledger is not None else []

    def rows(self, columns: list[str] | None = None, at_most: int | None = None) -> "Rows | None":
        """A row per request, or those of the middle of the trial; None if the plan asked for none."""
        return read_rows(self.folder, columns, at_most, self._outcome.get("files"))

    def server_usage(self) -> Iterator[ResourceSample]:
        """Samples of what the server's process tree used; none if it is not ours to watch."""
        return self._samples("server.ndjson", ResourceSample)

    def database_usage(self) -> Iterator[ResourceSample]:
        """The same as `server_usage` for the private database; none if there was none."""
        return self._samples("database.ndjson", ResourceSample)

    def machine(self) -> Iterator[MachineEntry]:
        """Samples of what the machine did during the trial; none in older records."""
        return self._samples("machine.ndjson", MachineEntry)

    @property
    def steered(self) -> list[SteeredEntry]:
        """How its load was changed so far, in order; almost always not at all."""
        kind: Any = SteeredEntry  # a union
        return list(read_objects(self.folder / STEERED, kind))

    def _samples(self, name: str, kind: type[Sample]) -> Iterator[Sample]:
        try:
            yield from read_objects(self.folder / name, kind)
        except NotARun:
            if self.status == "ended":
                raise


NO_OUTCOME: OutcomeEntry = {
    "status": "cut short",
    "why": "the trial has no outcome: jostle was killed or could write no more, or it still runs",
}


def _of_workload(measure: str, wanted: int | None) -> Wanted:
    """A function that says whether a series is wanted: of one workload; None stands for all."""

    def matches(series: SeriesKey, of: str) -> bool:
        workload = series[0]
        return of == measure and workload >= 0 and wanted in (None, workload)

    return matches


def _run_number(folder: Path) -> int:
    digits = folder.name.removeprefix("run-")
    return int(digits) if digits.isdecimal() else 0


def _is_inside(name: str) -> bool:
    """Whether it is the path of a file in a trial's folder, or in that of an earlier run within it."""
    parts = name.split("/")
    return len(parts) <= 2 and all(part not in ("", ".", "..") and "\0" not in part for part in parts)

"""Reads a run folder, whole or cut short: what was written can be read after any interruption."""

import itertools
import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jostle.errors import NotARun
from jostle.record.hlog import GENERATOR, Entry, Series, empty_histogram, merge, read_entries
from jostle.record.jsonl import read_json, read_objects
from jostle.record.rows import read_rows
from jostle.record.writer import FORMAT

if TYPE_CHECKING:
    import polars
    from hdrh.histogram import HdrHistogram

__all__ = ["RunRecord", "TrialRecord"]

Status = Literal["ended", "failed", "cut short"]


class TrialRecord:
    """One trial, read when asked for. Times count from the trial's start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def description(self) -> dict[str, Any]:
        """trial.json. Raises NotARun where it cannot be read."""
        described = read_json(self.folder / "trial.json")
        if described is None:
            raise NotARun(f"{self.folder} is not a trial of a run", "it has no readable trial.json")
        return described

    @cached_property
    def host(self) -> dict[str, Any]:
        """host.json of its run; empty where there is none."""
        found = (read_json(folder / "host.json") for folder in self.folder.parents[:3])
        return next((host for host in found if host), {})

    @property
    def number(self) -> int:
        return int(self.description["number"])

    @property
    def contestant(self) -> str:
        return str(self.description["contestant"])

    @property
    def workload(self) -> str:
        return str(self.description["workload"])

    @property
    def round(self) -> int:
        return int(self.description["round"])

    @property
    def earlier(self) -> "list[TrialRecord]":
        """Runs of the load on the same server before the measured one, in their order; mostly none."""
        return [TrialRecord(folder) for folder in sorted(self.folder.glob("run-*"), key=_run_number)]

    @cached_property
    def _outcome(self) -> dict[str, Any] | None:
        return read_json(self.folder / "outcome.json")

    @property
    def status(self) -> Status:
        """ "cut short" where the trial was stopped, or has no outcome: its writer was killed."""
        status = (self._outcome or {}).get("status")
        return status if status in ("ended", "failed") else "cut short"

    @property
    def why(self) -> str:
        """Why it did not end well; empty where it did."""
        if self._outcome is None:
            return "the trial has no outcome: jostle was killed, or still runs"
        return str(self._outcome.get("why", ""))

    @property
    def server_output_tail(self) -> str:
        """The server's last words, where it failed."""
        return str((self._outcome or {}).get("server_output_tail", ""))

    @property
    def generators_lost(self) -> list[dict[str, Any]]:
        """Generators that died before the end: {"generator", "of", "at_ns", "why"}; from then on an equal
        share of the load is missing for each.
        """
        return list((self._outcome or {}).get("generators_lost", []))

    @cached_property
    def _starts_ns(self) -> "array[int]":
        """Of the intervals that are there whole, ascending."""
        return array(
            "q", (interval["start_ns"] for interval in read_objects(self.folder / "intervals.ndjson"))
        )

    @property
    def intervals(self) -> Iterator[dict[str, Any]]:
        """One at a time, as the engine gave them, histograms reduced to count and maximum.

        They are read anew each time; what has been written since the first time is left out.
        """
        return itertools.islice(read_objects(self.folder / "intervals.ndjson"), len(self._starts_ns))

    def _entries(
        self, measure: str, series: tuple[int | None, int | None, int | None]
    ) -> Iterator[tuple[int, Entry]]:
        """Of workloads, with the number of the interval; None stands for all.

        Of whole intervals only: the line in intervals.ndjson is written last.
        """
        return self._wanted(lambda s, m: m == measure and s[0] >= 0 and _matches(s, series))

    def _wanted(self, wanted: Callable[[Series, str], bool]) -> Iterator[tuple[int, Entry]]:
        starts = self._starts_ns
        for entry in read_entries(self.folder / "intervals.hlog", wanted):
            number = bisect_left(starts, entry.start_ns)
            if number < len(starts) and starts[number] == entry.start_ns:
                yield number, entry

    def histogram(
        self,
        measure: str,
        workload: int | None = 0,
        request: int | None = None,
        phase: int | None = None,
        start_s: float = 0,
        end_s: float = math.inf,
    ) -> "HdrHistogram":
        """Everything recorded of `measure` (µs), merged; None stands for all.

        Of the intervals, those that begin in `start_s..end_s`.
        """
        entries = self._entries(measure, (workload, request, phase))
        return _merged(entry for _, entry in entries if start_s <= entry.start_s < end_s)

    def interval_histograms(self, measure: str, workload: int | None = 0) -> "Iterator[HdrHistogram | None]":
        """One histogram (µs) for each of `intervals`, read and decoded as it is asked for.

        None where nothing was recorded.
        """
        there = 0
        for number, entries in itertools.groupby(
            self._entries(measure, (workload, None, None)), itemgetter(0)
        ):
            yield from itertools.repeat(None, number - there)
            yield _sum([entry.decode() for _, entry in entries])
            there = number + 1
        yield from itertools.repeat(None, len(self._starts_ns) - there)

    def loop_lag(self) -> "HdrHistogram":
        """How late the generator's own timers fired (µs), over all of its threads."""
        return _merged(e for _, e in self._wanted(lambda s, m: s == GENERATOR and m == "loop_lag"))

    def generator_service(self, number: int) -> "HdrHistogram":
        """Service times (µs) of the measured workload as generator `number` of several saw them."""
        return _merged(e for _, e in self._wanted(lambda s, m: s == (-1, number, -1) and m == "service"))

    @property
    def generator_accounts(self) -> list[dict[str, Any]]:
        """For each generator on another machine what it streamed and what is in its spool only."""
        return list((read_json(self.folder / "generators" / "accounts.json") or {}).get("accounts", []))

    def rows(self, columns: list[str] | None = None, at_most: int | None = None) -> "polars.DataFrame | None":
        """A row per request, or those of the middle of the trial; None where the plan asked for none."""
        return read_rows(self.folder, columns, at_most)

    def server_vitals(self) -> Iterator[dict[str, Any]]:
        """What the server's process tree used, a sample each; none where it is not ours to watch."""
        return read_objects(self.folder / "server.ndjson")

    def database_vitals(self) -> Iterator[dict[str, Any]]:
        """As `server_vitals`, of the private database; none where there was none."""
        return read_objects(self.folder / "database.ndjson")


class RunRecord:
    """One run. Open it with `RunRecord.open`."""

    def __init__(self, folder: Path, host: dict[str, Any]) -> None:
        self.folder = folder
        self.host = host

    @classmethod
    def open(cls, folder: Path | str) -> "RunRecord":
        """Raises NotARun for a folder that is no run, or of another format."""
        folder = Path(folder)
        if not folder.exists():
            raise NotARun(
                f"there is no folder {str(folder)!r}", "give the folder of a run, for example one under runs/"
            )
        if not (folder / "journal.ndjson").is_file():
            raise NotARun(
                f"{str(folder)!r} is not a run of jostle: it has no journal.ndjson", _runs_inside(folder)
            )
        host = read_json(folder / "host.json")
        if host is None:
            raise NotARun(f"{str(folder)!r} is not a run of jostle: its host.json is missing or broken")
        if host.get("format") != FORMAT:
            raise NotARun(
                f"{str(folder)!r} is a run of format {host.get('format')!r}; this jostle reads {FORMAT}",
                f"read it with jostle {host['jostle']}, which wrote it" if host.get("jostle") else "",
            )
        return cls(folder, host)

    @cached_property
    def plan_text(self) -> str:
        """The plan as it ran (TOML)."""
        try:
            return (self.folder / "plan.toml").read_text(encoding="utf-8")
        except OSError:
            return ""

    @cached_property
    def journal(self) -> list[dict[str, Any]]:
        """What happened, in order: "at" (Unix ns), "event", and the event's own fields."""
        return list(read_objects(self.folder / "journal.ndjson"))

    @cached_property
    def trials(self) -> list[TrialRecord]:
        """All trials that began, by number."""
        folders = (f for f in (self.folder / "trials").glob("*") if read_json(f / "trial.json") is not None)
        return sorted(map(TrialRecord, folders), key=lambda trial: trial.number)

    @property
    def complete(self) -> bool:
        """The run came to its own end."""
        return any(entry["event"] == "run ended" for entry in self.journal)

    @property
    def resumed(self) -> list[dict[str, Any]]:
        """When and where the run went on: "at" (Unix ns), "done", "left", "host" (facts of the machine)."""
        return [entry for entry in self.journal if entry["event"] == "run resumed"]

    @property
    def incomplete_why(self) -> str:
        """Empty for a complete run; else what is missing and why."""
        if self.complete:
            return ""
        planned = sum(entry["event"] == "trial planned" for entry in self.journal)
        over = sum(trial.status != "cut short" for trial in self.trials)
        last = next((e for e in reversed(self.journal) if e["event"] in ("run stopped", "run resumed")), None)
        stopped = last if last is not None and last["event"] == "run stopped" else None
        why = (
            stopped.get("why") or "stopped"
            if stopped
            else "its journal just ends: jostle was killed, or still runs"
        )
        return f"{over} of {planned} trials are whole; {why}"


def _merged(entries: Iterable[Entry]) -> "HdrHistogram":
    merged = empty_histogram()
    for entry in entries:
        merge(merged, entry.decode())
    return merged


def _sum(histograms: "list[HdrHistogram]") -> "HdrHistogram | None":
    """As recorded, histograms are as wide as their values: none need hold another one."""
    if len(histograms) <= 1:
        return histograms[0] if histograms else None
    merged = empty_histogram()
    for histogram in histograms:
        merge(merged, histogram)
    return merged


def _run_number(folder: Path) -> int:
    return int(folder.name.removeprefix("run-"))


def _matches(series: Series, wanted: tuple[int | None, int | None, int | None]) -> bool:
    return all(want is None or have == want for have, want in zip(series, wanted, strict=True))


def _runs_inside(folder: Path) -> str:
    """Where someone gave the folder of all runs, the name of the newest one."""
    runs = sorted(path.parent for path in folder.glob("*/journal.ndjson")) if folder.is_dir() else []
    return f"it holds {len(runs)} runs, the newest is {str(runs[-1])!r}" if runs else ""

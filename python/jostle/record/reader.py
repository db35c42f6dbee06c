"""Reads a run folder, whole or cut short: what was written can be read after any interruption.

Nothing in the folder is trusted. A file that cannot be read as what it should be is `NotARun`, with its name;
a trial with such a file is left out of `RunRecord.trials` and named in `RunRecord.damage`.
"""

import fcntl
import itertools
import math
import operator
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jostle.errors import NotARun
from jostle.host.files import open_regular
from jostle.record.hlog import GENERATOR, Entry, Series, empty_histogram, merge, read_entries
from jostle.record.journal import read_journal
from jostle.record.jsonl import (
    check_fingerprint,
    damaged,
    is_as_before,
    read_bytes,
    read_object,
    read_objects,
)
from jostle.record.layout import (
    EXPLAINED,
    FORMAT,
    NUMBERED_BY,
    Explained,
    Fingerprint,
    GarbageEntry,
    HostFacts,
    IntervalEntry,
    JournalEntry,
    Ledger,
    LedgerEntry,
    LostGenerator,
    MachineEntry,
    OutcomeEntry,
    ResourceSample,
    ServerDescription,
    Status,
    TrialDescription,
)
from jostle.record.rows import is_rows, read_rows
from jostle.text import redact_command

if TYPE_CHECKING:
    import polars
    from hdrh.histogram import HdrHistogram

__all__ = ["RunRecord", "TrialRecord"]

Measure = tuple[Series, str]
Sample = TypeVar("Sample", ResourceSample, MachineEntry)


class TrialRecord:
    """One trial, read when asked for. Times count from the trial's start.

    Everything raises NotARun for a file that is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def description(self) -> TrialDescription:
        """trial.json."""
        described = read_object(self.folder / "trial.json", TrialDescription)
        if described is None:
            raise NotARun(f"{self.folder} is not a trial of a run", "it has no readable trial.json")
        _check_format(described.get("format", 1), self.folder)
        return described

    @cached_property
    def host(self) -> HostFacts:
        """host.json of its run; empty where there is none."""
        found = map(_read_host, self.folder.parents[:3])
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
        """Runs of the load on the same server before the measured one, in their order; mostly none."""
        return [TrialRecord(folder) for folder in sorted(_folders(self.folder, "run-*"), key=_run_number)]

    @property
    def server(self) -> ServerDescription:
        """What was measured; only its label where that is all that is known."""
        return self.description.get("server") or {"label": self.contestant}

    @cached_property
    def _outcome(self) -> OutcomeEntry:
        return read_object(self.folder / "outcome.json", OutcomeEntry) or NO_OUTCOME

    @property
    def status(self) -> Status:
        """ "cut short" where the trial was stopped, or has no outcome: its writer was killed."""
        return self._outcome["status"]

    @property
    def why(self) -> str:
        """Why it did not end well; empty where it did."""
        return self._outcome.get("why", "")

    @property
    def server_output_tail(self) -> str:
        """The server's last words, where it failed."""
        return self._outcome.get("server_output_tail", "")

    @property
    def generators_lost(self) -> list[LostGenerator]:
        """Generators that died before the end."""
        return self._outcome.get("generators_lost", [])

    @property
    def garbage(self) -> GarbageEntry | None:
        """What the server's runtime said of its garbage collection during the load; None: it did not."""
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
        """Raises NotARun where a file is not as it was when the trial ended.

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
        _ = self._index

    @cached_property
    def _index(self) -> "_Index":
        return _Index.of(self._read_intervals())

    def _read_intervals(self) -> Iterator[IntervalEntry]:
        """Of a trial that did not end as it should, up to the first line or histogram that cannot be read."""
        path = self.folder / "intervals.ndjson"
        whole = self.status == "ended"
        before, last = -1, False
        entries = iter(()) if whole else read_entries(self.folder / "intervals.hlog", lambda *_: True)
        try:
            for number, interval in enumerate(read_objects(path, IntervalEntry)):
                if last or interval["index"] != number or interval["start_ns"] <= before:
                    raise damaged(path, f"line {number + 1} does not follow the one before it")
                if not whole and not _are_there(interval, entries):
                    return
                before, last = interval["start_ns"], interval["last"]
                yield interval
            if whole and not last:
                raise damaged(path, "the last interval is missing")
        except NotARun:
            if whole:
                raise

    @property
    def intervals(self) -> Iterator[IntervalEntry]:
        """One at a time, as the engine gave them, histograms reduced to count and maximum.

        They are read anew each time; what has been written since the first time is left out.
        """
        return itertools.islice(self._read_intervals(), len(self._index.starts_ns))

    def _histograms(
        self, wanted: Callable[[Series, str], bool], start_s: float = 0, end_s: float = math.inf
    ) -> "Iterator[tuple[int, HdrHistogram]]":
        """Those of the intervals that begin in `start_s..end_s`, with the number of the interval.

        Of whole intervals only: the line in intervals.ndjson is written last. Each holds as many values as
        that line says.
        """
        path, index = self.folder / "intervals.hlog", self._index
        seen: dict[Measure, int] = defaultdict(int)
        for entry in read_entries(path, wanted):
            number = index.number_of(entry.start_ns)
            if number is None:
                if index.starts_ns and entry.start_ns <= index.starts_ns[-1]:
                    raise damaged(path, f"{entry} belongs to no interval")
                continue
            key = entry.series, entry.measure
            expected = index.expected(key, seen[key])
            seen[key] += 1
            if expected is None or expected[0] != number:
                raise damaged(path, f"{entry} is there twice, or one before it is missing")
            if start_s <= entry.start_s < end_s:
                histogram = _decoded(path, entry)
                if histogram.get_total_count() != expected[1]:
                    found = histogram.get_total_count()
                    raise damaged(path, f"{entry} has {found:,} values instead of {expected[1]:,}")
                yield number, histogram
        if self.status == "ended":
            for key, numbers in index.numbers.items():
                if wanted(*key) and seen[key] != len(numbers):
                    raise damaged(path, f"{len(numbers) - seen[key]} histograms of {key[1]} are missing")

    def histogram(
        self,
        measure: str,
        workload: int | None = 0,
        request: int | None = None,
        start_s: float = 0,
        end_s: float = math.inf,
    ) -> "HdrHistogram":
        """Everything recorded of `measure` (µs), merged; None stands for all.

        Of the intervals, those that begin in `start_s..end_s`. A phase of the load is its intervals
        (`TrialData.within`): that is its one definition, and the phase that a series names is only merged.
        """
        wanted = _of_workloads(measure, (workload, request))
        return _merged(histogram for _, histogram in self._histograms(wanted, start_s, end_s))

    def interval_histograms(
        self, measure: str, workload: int | None = 0, request: int | None = None
    ) -> "Iterator[HdrHistogram | None]":
        """One histogram (µs) for each of `intervals`, read and decoded as it is asked for; None: of all.

        None where nothing was recorded.
        """
        there = 0
        found = self._histograms(_of_workloads(measure, (workload, request)))
        for number, group in itertools.groupby(found, operator.itemgetter(0)):
            yield from itertools.repeat(None, number - there)
            yield _sum([histogram for _, histogram in group])
            there = number + 1
        yield from itertools.repeat(None, len(self._index.starts_ns) - there)

    def loop_lag(self) -> "HdrHistogram":
        """How late the generator's own timers fired (µs), over all of its threads."""
        return _merged(h for _, h in self._histograms(lambda s, m: s == GENERATOR and m == "loop_lag"))

    def generator_service(self, number: int) -> "HdrHistogram":
        """Service times (µs) of the measured workload as generator `number` of several saw them."""
        return _merged(h for _, h in self._histograms(lambda s, m: s == (-1, number, -1) and m == "service"))

    @property
    def generator_accounts(self) -> list[LedgerEntry]:
        """For each generator on another machine what it streamed and what is in its spool only."""
        folder = self.folder / "generators"
        if folder.is_symlink():
            raise damaged(folder, "it is a link")
        ledger = read_object(folder / "accounts.json", Ledger)
        return ledger["accounts"] if ledger is not None else []

    def rows(self, columns: list[str] | None = None, at_most: int | None = None) -> "polars.DataFrame | None":
        """A row per request, or those of the middle of the trial; None where the plan asked for none."""
        return read_rows(self.folder, columns, at_most, self._outcome.get("files"))

    def server_vitals(self) -> Iterator[ResourceSample]:
        """What the server's process tree used, a sample each; none where it is not ours to watch."""
        return self._samples("server.ndjson", ResourceSample)

    def database_vitals(self) -> Iterator[ResourceSample]:
        """As `server_vitals`, of the private database; none where there was none."""
        return self._samples("database.ndjson", ResourceSample)

    def machine(self) -> Iterator[MachineEntry]:
        """What the machine did meanwhile; none in records of before."""
        return self._samples("machine.ndjson", MachineEntry)

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


class _Index:
    """Where the intervals of a trial begin, and how many values each of their histograms has."""

    def __init__(self) -> None:
        self.starts_ns = array("q")
        self.numbers: defaultdict[Measure, array[int]] = defaultdict(lambda: array("q"))
        self._counts: defaultdict[Measure, array[int]] = defaultdict(lambda: array("q"))

    @classmethod
    def of(cls, intervals: Iterable[IntervalEntry]) -> "_Index":
        index = cls()
        for number, interval in enumerate(intervals):
            index.starts_ns.append(interval["start_ns"])
            for key, count in _histogram_counts(interval):
                index.numbers[key].append(number)
                index._counts[key].append(count)
        return index

    def number_of(self, start_ns: int) -> int | None:
        """Of the interval that begins then; None where none does."""
        number = bisect_left(self.starts_ns, start_ns)
        there = number < len(self.starts_ns) and self.starts_ns[number] == start_ns
        return number if there else None

    def expected(self, key: Measure, place: int) -> tuple[int, int] | None:
        """Number of the interval and of values in the histogram at `place` among those of `key`."""
        if key not in self.numbers or place >= len(self.numbers[key]):
            return None
        return self.numbers[key][place], self._counts[key][place]


def _histogram_counts(interval: Mapping[str, Any]) -> Iterator[tuple[Measure, int]]:
    """Of each histogram that intervals.hlog holds for it, in the order in which they stand there."""
    if lag := interval.get("loop_lag"):
        yield (GENERATOR, "loop_lag"), lag["count"]
    for generator in interval.get("generators", ()):
        if service := generator.get("service"):
            yield ((-1, generator["generator"], -1), "service"), service["count"]
    for name, number in NUMBERED_BY.items():
        for entry in interval.get(name, ()):
            for measure, histogram in entry["histograms"].items():
                yield ((entry["workload"], entry[number], 0), measure), histogram["count"]
    for series in interval["series"]:
        key = series["workload"], series["request"], series["phase"]
        for measure, histogram in series["histograms"].items():
            yield (key, measure), histogram["count"]


def _are_there(interval: IntervalEntry, entries: Iterator[Entry]) -> bool:
    """Whether the next histograms of intervals.hlog are those of the interval.

    They are written before its line, but a power cut may lose either.
    """
    needed = sum(1 for _ in _histogram_counts(interval))
    found = list(itertools.islice(entries, needed))
    return len(found) == needed and all(entry.start_ns == interval["start_ns"] for entry in found)


class RunRecord:
    """One run. Open it with `RunRecord.open`."""

    def __init__(self, folder: Path, host: HostFacts) -> None:
        self.folder = folder
        self.host = host

    @classmethod
    def open(cls, folder: Path | str) -> "RunRecord":
        """Raises NotARun for a folder that is no run, or of a newer format."""
        folder = Path(folder)
        if not folder.exists():
            raise NotARun(
                f"there is no folder {str(folder)!r}", "give the folder of a run, for example one under runs/"
            )
        if not (folder / "journal.ndjson").is_file():
            raise NotARun(
                f"{str(folder)!r} is not a run of jostle: it has no journal.ndjson", _runs_inside(folder)
            )
        try:
            host = _read_host(folder)
        except NotARun as error:
            raise NotARun(f"{str(folder)!r} is not a run of jostle: {error.message}") from None
        if host is None:
            raise NotARun(f"{str(folder)!r} is not a run of jostle: its host.json is missing")
        _check_format(host["format"], folder, host.get("jostle", ""))
        return cls(folder, host)

    @cached_property
    def plan_text(self) -> str:
        """The plan as it ran (TOML). Raises NotARun where it cannot be read."""
        path = self.folder / "plan.toml"
        try:
            return (read_bytes(path, PLAN_BYTES_AT_MOST) or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise damaged(path, f"it is not UTF-8: {error.reason}") from None

    @cached_property
    def explained(self) -> dict[str, str]:
        """Contestant → the paragraph that says how it behaves, where the run was asked to explain them."""
        found: dict[str, str] = {}
        for path in sorted((self.folder / EXPLAINED).glob("*.json")):
            try:
                known = read_object(path, Explained)
            except NotARun as error:
                known = {
                    "target": path.stem,
                    "paragraph": f"Its explanation cannot be read: {error.message}.",
                }
            if known is not None:
                found[known["target"]] = known["paragraph"]
        return found

    @property
    def journal(self) -> list[JournalEntry]:
        """What happened, in order. Raises NotARun where there is no journal to be read."""
        return self._journal[0]

    @cached_property
    def _journal(self) -> tuple[list[JournalEntry], list[str]]:
        return read_journal(self.folder / "journal.ndjson", checked=self.host["format"] >= 2)

    @property
    def trials(self) -> list[TrialRecord]:
        """All trials that began and can be read, by number."""
        return self._trials[0]

    @property
    def damage(self) -> list[str]:
        """A sentence for each damaged file, and for each trial that is missing; empty for a sound folder."""
        return [*self._journal[1], *self._changed_files(), *self._trials[1], *self._missing()]

    @cached_property
    def _trials(self) -> tuple[list[TrialRecord], list[str]]:
        """Those that are sound, and why the others are not."""
        sound: dict[int, TrialRecord] = {}
        damage: list[str] = []
        outcomes = {number: e["outcome"] for number, e in self._over().items() if "outcome" in e}
        for folder in sorted(_folders(self.folder / "trials", "*")):
            trial = TrialRecord(folder)
            try:
                if read_bytes(folder / "trial.json") is None:
                    continue  # nothing was written yet when jostle was killed; `_missing` tells of others
                if (expected := outcomes.get(trial.number)) is not None:
                    check_fingerprint(folder / "outcome.json", expected)
                trial.check()
                if trial.number in sound:
                    raise NotARun(f"{folder.name} has the number of another trial")
            except NotARun as error:
                damage.append(error.message)
            else:
                sound[trial.number] = trial
        return [sound[number] for number in sorted(sound)], damage

    def _changed_files(self) -> Iterator[str]:
        """A plan that grew is the last one of those that the journal knows, or the one before it, where
        jostle was killed in between.
        """
        stated: dict[str, list[Fingerprint]] = {}
        for entry in self.journal:
            if entry["event"] in ("run started", "plan extended"):
                for name, expected in entry.get("files", {}).items():
                    stated.setdefault(name, []).append(expected)
        for name, known in stated.items():
            if name not in ("plan.toml", "host.json"):
                continue
            try:
                check_fingerprint(self.folder / name, known[-1])
            except NotARun as error:
                if len(known) < 2 or not is_as_before(self.folder / name, known[-2]):
                    yield error.message

    def _missing(self) -> Iterator[str]:
        """Trials that came to an end by the journal, or should have, and have no readable record."""
        over = set(self._over())
        if self.ended:
            over |= {planned["number"] for planned in self.planned}
        missing = sorted(over - {trial.number for trial in self.trials})
        if missing:
            numbers = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
            yield f"no readable record of trial {numbers} ({len(missing)} of {len(self.planned)} planned)"

    def _over(self) -> dict[int, JournalEntry]:
        """How trials came to an end, by number; not of those that were set aside since then."""
        found: dict[int, JournalEntry] = {}
        for entry in self.journal:
            if entry["event"] in OVER and "number" in entry:
                found[entry["number"]] = entry
            elif entry["event"] == "trial set aside":
                found.pop(entry.get("number", 0), None)
        return found

    @property
    def repeated(self) -> list[JournalEntry]:
        """The events "trial set aside" of trials that were spoiled: number, folder, why."""
        return [e for e in self.journal if e["event"] == "trial set aside" and e.get("why")]

    @property
    def planned(self) -> list[JournalEntry]:
        """The events "trial planned", with number, contestant, workload and round."""
        return [entry for entry in self.journal if entry["event"] == "trial planned" and "number" in entry]

    @property
    def ended(self) -> bool:
        """The run came to its own end."""
        return any(entry["event"] == "run ended" for entry in self.journal)

    @property
    def being_written(self) -> bool:
        """Whether a jostle on this machine holds the folder now, as `RunWriter` does."""
        try:
            with open_regular(self.folder / "journal.ndjson") as journal:
                fcntl.flock(journal, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # a file system without locks
            return False
        return False

    @property
    def complete(self) -> bool:
        """The run came to its own end, and its record is whole."""
        return self.ended and not self.damage

    @property
    def resumed(self) -> list[JournalEntry]:
        """When and where the run went on: "at" (Unix ns), "done", "left", "host" (facts of the machine)."""
        return [entry for entry in self.journal if entry["event"] == "run resumed"]

    @property
    def incomplete_why(self) -> str:
        """Empty for a complete run; else what is missing and why."""
        return "; ".join([*self._unfinished(), *self.damage])

    def _unfinished(self) -> Iterator[str]:
        if self.ended:
            return
        over = sum(trial.status != "cut short" for trial in self.trials)
        last = next((e for e in reversed(self.journal) if e["event"] in ("run stopped", "run resumed")), None)
        stopped = last if last is not None and last["event"] == "run stopped" else None
        why = (
            stopped.get("why") or "stopped"
            if stopped
            else "it is still being written"
            if self.being_written
            else "its journal just ends: jostle was killed, or could write no more"
        )
        yield f"{over} of {len(self.planned)} trials are complete; {why}"


PLAN_BYTES_AT_MOST = 4 << 20

OVER = ("trial ended", "trial failed", "trial cut short")


def _check_format(found: int, folder: Path, version: str = "") -> None:
    if not 1 <= found <= FORMAT:
        hint = f"read it with jostle {version}, which wrote it, or a later one" if version else ""
        raise NotARun(f"{str(folder)!r} is a run of format {found}; this jostle reads 1 to {FORMAT}", hint)


def _read_host(folder: Path) -> HostFacts | None:
    """host.json, its command line without secrets: older versions of jostle kept them."""
    host = read_object(folder / "host.json", HostFacts)
    if host is not None and "argv" in host:
        host["argv"] = redact_command(host["argv"])
    return host


def _decoded(path: Path, entry: Entry) -> "HdrHistogram":
    try:
        return entry.decode()
    except NotARun as error:
        raise damaged(path, error.message) from None


def _merged(histograms: "Iterable[HdrHistogram]") -> "HdrHistogram":
    merged = empty_histogram()
    for histogram in histograms:
        merge(merged, histogram)
    return merged


def _sum(histograms: "list[HdrHistogram]") -> "HdrHistogram":
    """As recorded, histograms are as wide as their values: none need hold another one."""
    return histograms[0] if len(histograms) == 1 else _merged(histograms)


def _of_workloads(measure: str, wanted: tuple[int | None, int | None]) -> Callable[[Series, str], bool]:
    """Whether a series of a workload is wanted; None stands for all."""

    def matches(series: Series, of: str) -> bool:
        return (
            of == measure
            and series[0] >= 0
            and all(want is None or have == want for have, want in zip(series[:2], wanted, strict=True))
        )

    return matches


def _folders(base: Path, pattern: str) -> Iterator[Path]:
    """Inside `base` itself: a link may lead out of the run."""
    if base.is_symlink():
        return
    yield from (path for path in base.glob(pattern) if path.is_dir() and not path.is_symlink())


def _run_number(folder: Path) -> int:
    digits = folder.name.removeprefix("run-")
    return int(digits) if digits.isdecimal() else 0


def _is_inside(name: str) -> bool:
    """The path of a file in a trial's folder, or in that of an earlier run within it."""
    parts = name.split("/")
    return len(parts) <= 2 and all(part not in ("", ".", "..") and "\0" not in part for part in parts)


def _runs_inside(folder: Path) -> str:
    """Where someone gave the folder of all runs, the name of the newest one."""
    runs = sorted(path.parent for path in folder.glob("*/journal.ndjson")) if folder.is_dir() else []
    return f"it holds {len(runs)} runs, the newest is {str(runs[-1])!r}" if runs else ""

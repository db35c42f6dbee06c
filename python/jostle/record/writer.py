"""Writes a run folder as the run happens: append-only, flushed at every interval, never overwritten."""

import contextlib
import errno
import fcntl
import itertools
import os
import re
import shutil
import time
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from jostle.errors import RecordLost, UserError
from jostle.host.clocks import Clocks
from jostle.host.files import open_to_append, write_json, write_whole
from jostle.record.hlog import header, interval_lines
from jostle.record.interval_line import NUMBERED_BY, HistogramSummary, IntervalEntry
from jostle.record.journal import append_event
from jostle.record.jsonl import (
    append_line,
    fingerprint,
    fingerprint_of,
    mend_last_line,
    read_object,
    to_line,
)
from jostle.record.layout import (
    FORMAT,
    JOURNAL,
    STEERED,
    Event,
    Fingerprint,
    GarbageEntry,
    HostFacts,
    LostTime,
    OutcomeEntry,
    Status,
    SteeredEntry,
    TrialDescription,
)
from jostle.record.lost_generator import LostGenerator
from jostle.record.rows import RowWriter
from jostle.redaction.data import redact, replace_secrets, secrets_in
from jostle.redaction.names import names_a_secret
from jostle.text import reason

__all__ = ["RunWriter", "TrialWriter", "written"]


T = TypeVar("T", bound=Mapping[str, Any])


class RunWriter:
    """One run, locked by its writer until the writer is gone, even after `kill -9`."""

    def __init__(self, folder: Path, version: str, secrets: Collection[str] = ()) -> None:
        self.folder = folder
        self._version = version
        self._secrets = secrets
        self._lost: set[tuple[int, int, int, str]] = set()
        held = os.open(folder / JOURNAL, os.O_RDONLY)
        weakref.finalize(self, os.close, held)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{folder} is being written by another jostle", "wait until that has ended"
            ) from None

    @classmethod
    def create(
        cls, base: Path, slug: str, plan_text: str, host: Mapping[str, Any], secrets: Collection[str] = ()
    ) -> "RunWriter":
        """Create a new folder `base/<local time>-<slug>`: no run ever overwrites another one.

        `host`: all of HostFacts but the format. `secrets`: what must not stand in any of the run's files,
        besides what `jostle.redaction` hides anyway. Raises `UserError` if the folder cannot be created.
        """
        folder = None
        try:
            folder = _fresh_folder(base, f"{time.strftime('%Y-%m-%dT%H-%M-%S')}-{safe_name(slug)}")
            (folder / "trials").mkdir()
            write_whole(folder / "plan.toml", plan_text, sync=True)
            write_json(folder / "host.json", {"format": FORMAT, **_fit(host, secrets)})
            (folder / JOURNAL).touch(exist_ok=False)
        except OSError as error:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            raise UserError(
                f"cannot make a folder for the record in {base}: {reason(error)}",
                "choose another place with --into",
            ) from None
        return cls(folder, str(host.get("jostle", "")), secrets)

    @classmethod
    def resume(cls, folder: Path) -> "RunWriter":
        """Continue the run that was begun in `folder`. Raises `UserError` while somebody else writes it."""
        host = read_object(folder / "host.json", HostFacts)
        writer = cls(folder, host.get("jostle", "") if host else "")
        with written(folder):
            mend_last_line(folder / JOURNAL)
        return writer

    def set_aside(self, number: int, where: str) -> str:
        """Move what there is of a trial out of the way, where it can be looked at but does not count.

        `where`: a folder of the run.
        Returns the trial's new folder, relative to the run; "" if there was none.
        """
        for folder in (self.folder / "trials").glob(f"{number:03d}-*"):
            with written(self.folder):
                place = _fresh_folder(self.folder / where, folder.name)
                folder.replace(place)  # replaces the empty folder
            return str(place.relative_to(self.folder))
        return ""

    def trial_folder(self, number: int) -> Path:
        """The folder of a trial that has begun. Raises FileNotFoundError."""
        for folder in (self.folder / "trials").glob(f"{number:03d}-*"):
            return folder
        raise FileNotFoundError(errno.ENOENT, "no such trial", str(self.folder / "trials"))

    def journal(self, event: Event, **fields: Any) -> None:
        """Append what happened, with the time; on disk when this returns. Fields as in JournalEntry."""
        with written(self.folder):
            append_event(self.folder / JOURNAL, event, **_fit(fields, self._secrets))

    def steered(self, number: int, trial: Path, steered: SteeredEntry) -> None:
        """Append a change of a trial's load to the journal, and to the trial, whose folder is `trial`."""
        self.journal("load steered", number=number, steered=steered)
        with written(self.folder), open_to_append(trial / STEERED) as file:
            append_line(file, to_line(_fit(steered, self._secrets)), sync=True)

    def generators_lost(self, number: int, lost: Iterable[LostGenerator]) -> None:
        """Append to the journal those generators of a trial that it does not have yet, or not with their
        successor.
        """
        for one in lost:
            told = (number, one["generator"], one["at_ns"], one.get("moved_to", ""))
            if told not in self._lost:
                self._lost.add(told)
                self.journal("generator lost", number=number, **one)

    def journal_start(self, **fields: Any) -> None:
        """Append the event "run started", with the checksums of the files that say what is run, and where."""
        with written(self.folder):
            files = {name: fingerprint(self.folder / name) for name in ("plan.toml", "host.json")}
        self.journal("run started", **fields, files=files)

    def extend_plan(self, plan_text: str) -> None:
        """Replace the plan by an extended one, for trials that follow from what was measured.

        The journal has both checksums, as the folder may hold either if jostle is killed in between.
        """
        encoded = plan_text.encode("utf-8", "replace")
        self.journal("plan extended", files={"plan.toml": fingerprint_of(encoded)})
        with written(self.folder):
            write_whole(self.folder / "plan.toml", encoded, sync=True)

    def journal_outcome(self, event: Event, trial: Path, **fields: Any) -> None:
        """Append the end of a trial, with the checksum of its outcome.json."""
        with written(self.folder):
            outcome = fingerprint(trial / "outcome.json")
        self.journal(event, **fields, outcome=outcome)

    def trial(self, description: TrialDescription, run: int = 0) -> "TrialWriter":
        """Begin a trial. `description` becomes trial.json; number, contestant, workload name the folder.

        `run`: the number of a run of the load that comes before the measured one on the same server, each in
        a folder of its own within the trial's; 0 for the measured one.
        """
        names = f"{safe_name(description['contestant'])}-{safe_name(description['workload'])}"
        folder = self.folder / "trials" / f"{description['number']:03d}-{names}"
        if run:
            folder = folder / f"run-{run}"
        secrets = {*self._secrets, *secrets_in(description)}
        description = _fit(description, secrets)
        with written(self.folder):
            folder.mkdir(parents=run > 0, exist_ok=(folder / "run-1").exists())
            write_json(folder / "trial.json", {**description, "format": FORMAT})
            return TrialWriter(folder, self.folder, description, self._version, secrets)


class TrialWriter:
    """One trial: `write_interval` for each interval of the engine, then `finish`.

    Both raise `RecordLost` if the file system takes no more; what was written before can be read.
    """

    def __init__(
        self,
        folder: Path,
        run: Path,
        description: TrialDescription,
        version: str,
        secrets: Collection[str] = (),
    ) -> None:
        self.folder = folder
        self._run = run
        self._secrets = secrets
        self._began = Clocks.now()
        self._files = contextlib.ExitStack()
        self._hlog = self._files.enter_context((folder / "intervals.hlog").open("x", encoding="ascii"))
        self._intervals = self._files.enter_context((folder / "intervals.ndjson").open("x", encoding="utf-8"))
        self._rows = RowWriter(folder, description.get("engine"))
        self._shown = _shown(description.get("engine") or {})
        append_line(self._hlog, header(version, description.get("started_unix_ns", time.time_ns())))

    def write_interval(self, interval: T) -> T:
        """Append one interval of the engine and hand it to the operating system. Returns what of it may be
        recorded, with its histograms whole.

        Histograms are written first, so an interval with a line in intervals.ndjson is complete.
        """
        fit: Any = {**interval, "series": [self._fit_series(series) for series in interval["series"]]}
        with written(self._run):
            if lines := list(interval_lines(fit)):
                append_line(self._hlog, "\n".join(lines))
            append_line(self._intervals, to_line(_summarised(fit), separators=(",", ":")))
            if interval.get("rows"):
                self._rows.add(interval["rows"], interval["start_ns"], interval["end_ns"])
        recorded: T = fit
        return recorded

    def _fit_series(self, series: Mapping[str, Any]) -> dict[str, Any]:
        """A series without what may hold a secret."""
        fit = dict(series)
        if failures := fit.get("failures"):
            fit["failures"] = _without_secrets(failures, self._secrets)
        refused = fit.pop("refused", None)
        if refused and (fit["workload"], fit["request"]) in self._shown:
            fit["refused"] = _fit(refused, self._secrets)
        return fit

    def finish(
        self,
        status: Status,
        why: str = "",
        server_output_tail: str = "",
        generators_lost: Sequence[LostGenerator] = (),
        garbage: GarbageEntry | None = None,
        *,
        server_away: bool = False,
    ) -> None:
        """Close the trial, after all others that write into its folder. `why` is "" if it ended well."""
        with written(self._run):
            self._rows.flush()
            self._files.close()
            outcome: OutcomeEntry = {
                "status": status,
                "why": _fit(why, self._secrets),
                "ended_unix_ns": time.time_ns(),
                "server_output_tail": _fit(server_output_tail, self._secrets),
                "server_away": server_away,
                "generators_lost": _fit(list(generators_lost), self._secrets),
                **_lost_time(self._began, Clocks.now()),
                "garbage": garbage,
                "files": _fingerprints(self.folder),
            }
            write_json(self.folder / "outcome.json", outcome)

    def abandon(self) -> None:
        """Close the files as far as they can be written, and leave the trial without an outcome."""
        with contextlib.suppress(OSError):
            self._files.close()


def _fit(data: Any, secrets: Collection[str]) -> Any:
    """The data, fit for a record: without the known secrets, and without what looks like one."""
    return redact(replace_secrets(data, secrets))


def _without_secrets(
    failures: Mapping[str, Mapping[str, int]], secrets: Collection[str]
) -> dict[str, dict[str, int]]:
    """How often each outcome had each reason; reasons that differ only in a secret become one."""
    fit: dict[str, dict[str, int]] = {}
    for outcome, reasons in failures.items():
        counts = fit.setdefault(outcome, {})
        for why, count in reasons.items():
            text = _fit(why, secrets)
            counts[text] = counts.get(text, 0) + count
    return fit


@contextlib.contextmanager
def written(run: Path) -> Iterator[None]:
    """Turn an OSError inside into `RecordLost`: the folder `run` takes no more, and how to continue."""
    try:
        yield
    except OSError as error:
        raise _record_lost(run, error) from None


def _record_lost(run: Path, error: OSError) -> RecordLost:
    if not run.is_dir():
        return RecordLost(f"{run} is gone: nothing more can be recorded", "run the plan again")
    full = {
        errno.ENOSPC: f"the disk of {run} is full",
        errno.EDQUOT: f"the disk quota of {run} is used up",
        errno.EFBIG: f"a file in {run} has reached the greatest size that this process may write (ulimit -f)",
    }
    return RecordLost(
        full.get(error.errno or 0, f"{run} cannot be written: {reason(error)}"),
        f"what was recorded is kept: jostle report {run}\n"
        f"when it can be written again: jostle run --resume {run}, or run the plan --into another folder",
    )


def safe_name(text: str) -> str:
    """`text` made fit for a file name: letters, digits, dot, dash and underscore, at most 60 of them."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:60] or "unnamed"


def _fresh_folder(base: Path, name: str) -> Path:
    base.mkdir(parents=True, exist_ok=True)
    for attempt in itertools.count(1):
        folder = base / (name if attempt == 1 else f"{name}-{attempt}")
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise AssertionError("unreachable")


def _lost_time(before: Clocks, after: Clocks) -> LostTime:
    found: LostTime = {}
    if suspended := after.suspended_ns(before):
        found["suspended_ns"] = suspended
    if by := after.set_ns(before):
        found["clock_set_ns"] = by
    return found


def _fingerprints(folder: Path) -> dict[str, Fingerprint]:
    """The fingerprints of all files of a trial, and of its earlier runs' outcomes, which hold their own.

    Subfolders are not included: what generators on other machines recorded may still arrive later.
    """
    files = [path for path in folder.iterdir() if path.is_file()] + list(folder.glob("run-*/outcome.json"))
    return {str(path.relative_to(folder)): fingerprint(path) for path in sorted(files)}


def _shown(engine: Mapping[str, Any]) -> set[tuple[int, int]]:
    """The numbers of workloads and requests into whose paths no secret is filled."""
    return {
        (workload, request)
        for workload, each in enumerate(engine.get("workloads", ()))
        for request, spec in enumerate(each["requests"])
        if not any(names_a_secret(name) for name in spec.get("params", ()) if f"{{{name}}}" in spec["path"])
    }


def _summarised(interval: Mapping[str, Any]) -> IntervalEntry:
    """The interval without rows, and with histograms reduced to their count and maximum."""
    kept: Any = {key: value for key, value in interval.items() if key != "rows"}
    kept["loop_lag"] = _summary(interval.get("loop_lag"))
    if "generators" in interval:
        kept["generators"] = [{**g, "service": _summary(g["service"])} for g in interval["generators"]]
    kept.pop("traces", None)
    if not kept.get("head_of_line"):
        kept.pop("head_of_line", None)
    kept["series"] = _series(interval["series"])
    for name in NUMBERED_BY:
        if name in kept:
            kept[name] = _series(kept[name])
            if not kept[name]:
                del kept[name]
    entry: IntervalEntry = kept
    return entry


def _series(each: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**series, "histograms": {name: _summary(h) for name, h in series["histograms"].items()}}
        for series in each
    ]


def _summary(histogram: Mapping[str, Any] | None) -> HistogramSummary | None:
    return None if histogram is None else {"count": histogram["count"], "max_us": histogram["max_us"]}

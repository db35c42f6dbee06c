"""The runs in a folder over time: an index of each run's main figures, updated for runs that have changed.

The index (`index.ndjson` beside the runs) is only a cache and may be deleted at any time.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from jostle.analysis.results import Estimate
from jostle.errors import NotARun
from jostle.host.files import write_whole
from jostle.plan.labels import resolve_label
from jostle.record import RunRecord
from jostle.record.folder import runs_inside
from jostle.record.layout import JOURNAL
from jostle.record.setting import setting_of
from jostle.record.verdict import Verdict

__all__ = [
    "INDEX",
    "METRICS",
    "IndexedFigures",
    "IndexedRun",
    "UnreadableRun",
    "history",
    "indexed",
    "only",
]

INDEX = "index.ndjson"

METRICS = ("throughput", "p50", "p90", "p99")
"""The figures that are kept of each run."""

VERSION = 3
"""Format of the lines in the index; lines of any other version are ignored."""


@dataclass(frozen=True)
class IndexedFigures:
    """One workload on one contestant in one run."""

    contestant: str
    workload: str
    verdict: Verdict
    rounds: int
    throughput: Estimate
    p50: Estimate
    p90: Estimate
    p99: Estimate
    error_share: float
    commit: str = ""
    """That of its folder, else of where jostle began: eight digits, and "+" if tracked files differed."""


@dataclass(frozen=True)
class IndexedRun:
    """One run. `stamp` changes when its record does."""

    folder: str
    stamp: str
    started: str
    title: str
    verdict: Verdict
    complete: bool
    figures: list[IndexedFigures]
    setting: str = ""
    """A checksum of the plan and the machine: runs with the same one measured the same."""


def only(entries: Sequence[IndexedRun], contestants: Sequence[str]) -> list[IndexedRun]:
    """The runs that measured one of these contestants or its variants, with their figures alone."""
    labels = [figures.contestant for entry in entries for figures in entry.figures]
    whom = {label for name in contestants for label in resolve_label(name, labels)}
    kept = [
        replace(entry, figures=[figures for figures in entry.figures if figures.contestant in whom])
        for entry in entries
    ]
    return [entry for entry in kept if entry.figures]


@dataclass(frozen=True)
class UnreadableRun:
    """A folder that looks like a run but cannot be read."""

    folder: str
    why: str


def history(base: Path) -> tuple[list[IndexedRun], list[UnreadableRun]]:
    """All runs under `base`, oldest first, from the index where it is up to date.

    Raises NotARun if `base` is not a folder.
    """
    if not base.is_dir():
        raise NotARun(
            f"there is no folder {str(base)!r}", "give the folder that holds runs, for example runs"
        )
    known = dict(_read(base / INDEX))
    folders = runs_inside(base)
    entries, unreadable = _up_to_date(folders, known)
    if entries != list(known.values()):
        _write(base / INDEX, entries)
    return sorted(entries, key=lambda e: (e.started, e.folder)), unreadable


def indexed(base: Path, folders: Sequence[Path]) -> list[IndexedRun]:
    """Those of these runs under `base` that can be read, from the index where it is up to date."""
    known = dict(_read(base / INDEX))
    entries, _ = _up_to_date(folders, known)
    now = known | {entry.folder: entry for entry in entries}
    if now != known:
        _write(base / INDEX, sorted(now.values(), key=lambda entry: entry.folder))
    return entries


def _up_to_date(
    folders: Sequence[Path], known: Mapping[str, IndexedRun]
) -> tuple[list[IndexedRun], list[UnreadableRun]]:
    """The runs in `folders`; what `known` does not have, or not as it is now, is analysed."""
    entries, unreadable = list[IndexedRun](), list[UnreadableRun]()
    for folder in folders:
        entry = known.get(folder.name)
        if entry is None or entry.stamp != _stamp(folder):
            try:
                entry = _entry(folder)
            except NotARun as error:
                unreadable.append(UnreadableRun(folder.name, error.message))
                continue
        entries.append(entry)
    return entries, unreadable


def _stamp(folder: Path) -> str:
    """Size and time of the journal, which grows until the run ends, and the number of trials."""
    journal = (folder / JOURNAL).stat()
    return f"{journal.st_size}.{journal.st_mtime_ns}.{sum(1 for _ in (folder / 'trials').glob('*'))}"


def _entry(folder: Path) -> IndexedRun:
    from jostle.analysis.run import analyse  # imported late: an index that is up to date needs no analysis

    stamp = _stamp(folder)
    result = analyse(RunRecord.open(folder), distributions=False)
    figures = [
        IndexedFigures(
            c.contestant,
            c.workload,
            c.verdict,
            c.rounds,
            c.throughput,
            c.response["p50"],
            c.response["p90"],
            c.response["p99"],
            c.error_share,
            _commit(result.host, c.contestant),
        )
        for c in result.summaries
    ]
    title = result.title or folder.name
    verdict, setting = result.verdict, setting_of(result.plan_text, result.host)
    return IndexedRun(folder.name, stamp, result.started, title, verdict, result.complete, figures, setting)


def _commit(host: Mapping[str, Any], contestant: str) -> str:
    found = (host.get("revisions") or {}).get(contestant) or host.get("revision") or {}
    return f"{str(found.get('commit', ''))[:8]}{'+' if found.get('changed') else ''}"


def _read(path: Path) -> Iterator[tuple[str, IndexedRun]]:
    """Entries from intact lines of this version; all others are computed again."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        try:
            table: dict[str, Any] = json.loads(line)
            if table.pop("version") != VERSION:
                continue
            figures = [_figures(f) for f in table.pop("figures")]
            entry = IndexedRun(figures=figures, verdict=Verdict(table.pop("verdict")), **table)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        yield entry.folder, entry


def _figures(table: dict[str, Any]) -> IndexedFigures:
    estimates: dict[str, Any] = {name: _estimate(table.pop(name)) for name in METRICS}
    return IndexedFigures(verdict=Verdict(table.pop("verdict")), **table, **estimates)


def _estimate(table: dict[str, Any]) -> Estimate:
    return Estimate(**table | {"rounds": tuple(table.get("rounds", ()))})


def _write(path: Path, entries: list[IndexedRun]) -> None:
    """Replace the index atomically; a folder without write permission has no index."""
    lines = [json.dumps({"version": VERSION, **asdict(entry)}) for entry in entries]
    with contextlib.suppress(OSError):
        write_whole(path, "".join(line + "\n" for line in lines))

"""The rows of the library: what is known of each run in a line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jostle.analysis.history import METRICS, IndexedRun
from jostle.errors import NotARun
from jostle.formatting import formatted, percent
from jostle.record import RunRecord
from jostle.record.layout import EXPLAINED
from jostle.record.verdict import Verdict
from jostle.report.history import started
from jostle.report.sections.verdict_marks import verdict_mark
from jostle.text import one_line
from jostle.web.documents import pages_in

__all__ = ["Figure", "Listed", "listed"]


@dataclass(frozen=True)
class Figure:
    """A cell: as it is read, and as it is sorted."""

    text: str
    interval: str = ""
    value: float | None = None


@dataclass(frozen=True)
class Listed:
    """A run."""

    name: str
    """Of its folder."""
    started: str
    title: str = ""
    contestants: Sequence[str] = ()
    commit: str = ""
    mark: str = ""
    """Symbol and word of its verdict."""
    tone: str = "plain"
    going: bool = False
    part: bool = False
    """Whether it was cut short."""
    figures: Sequence[Figure] = ()
    """Those of `METRICS`, then the share that failed: of the first contestant's first workload."""
    explained: Sequence[str] = ()
    """The contestants whose explanations are kept in it, as their pages are called."""
    damage: str = ""
    """Why it cannot be read."""


def listed(folders: Sequence[Path], entries: Sequence[IndexedRun]) -> list[Listed]:
    """A row for each folder, in their order."""
    known = {entry.folder: entry for entry in entries}
    return [
        _row(folder, known[folder.name]) if folder.name in known else _unreadable(folder)
        for folder in folders
    ]


def _row(folder: Path, entry: IndexedRun) -> Listed:
    going = not entry.complete and RunRecord.open(folder).being_written
    figures: list[Figure] = []
    if entry.figures:
        first = entry.figures[0]
        for metric in METRICS:
            estimate = getattr(first, metric)
            written = formatted(estimate)
            figures.append(Figure(written.value, written.interval, estimate.value))
        figures.append(Figure(percent(first.error_share), "", first.error_share))
    symbol, word, tone = verdict_mark(entry.verdict) if entry.figures else ("", "", "plain")
    return Listed(
        name=entry.folder,
        started=started(entry),
        title=one_line(entry.title),
        contestants=list(dict.fromkeys(one_line(f.contestant) for f in entry.figures)),
        commit=next((f.commit for f in entry.figures if f.commit), ""),
        mark=f"{symbol} {word}".strip(),
        tone=tone,
        going=going,
        part=not entry.complete and not going,
        figures=figures,
        explained=[name.removesuffix(".html") for name in pages_in(folder / EXPLAINED)],
    )


def _unreadable(folder: Path) -> Listed:
    try:
        RunRecord.open(folder)
        why = "its record is damaged"
    except NotARun as error:
        why = error.message
    return Listed(folder.name, "", mark=str(Verdict.INVALID.symbol), tone="bad", damage=one_line(why))

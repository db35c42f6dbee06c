"""Runs over time as tables: one per plan, workload and contestant, oldest first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jostle.analysis.history import IndexedFigures, IndexedRun, Unreadable
from jostle.formatting import formatted, percent
from jostle.report.workload import moment
from jostle.text import one_line

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["render_history"]

HEADER = ("started", "", "rounds", "throughput", "p50", "p99", "failed")


def render_history(
    entries: Sequence[IndexedRun],
    unreadable: Sequence[Unreadable],
    console: "Console",
    nothing: str,
) -> None:
    """Print the runs, or `nothing` if there are none. Fits into 80 columns."""
    from rich.text import Text

    series: dict[tuple[str, str, str], list[tuple[IndexedRun, IndexedFigures]]] = {}
    for entry in entries:
        for f in entry.figures:
            series.setdefault((entry.title, f.workload, f.contestant), []).append((entry, f))
    tables = {key: [_row(entry, f) for entry, f in found] for key, found in series.items()}
    rows = [HEADER, *(row for table in tables.values() for row in table)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    title = None
    for (plan, workload, contestant), table in tables.items():
        if plan != title:
            console.out(f"\n{one_line(plan)}", style="bold", highlight=False)
            title = plan
        console.out(f"\n{one_line(contestant)}, {one_line(workload)}", highlight=False)
        console.out(_line(HEADER, widths), style="dim", highlight=False)
        console.out("\n".join(_line(row, widths) for row in table), highlight=False)
    if not all(entry.complete for found in series.values() for entry, _ in found):
        console.print("\npart: the run was cut short, or is still going")
    if not series:
        console.print(nothing)
    for broken in unreadable:
        console.print(
            Text(f"{one_line(broken.folder)} cannot be read: {one_line(broken.why)}", style="yellow")
        )


def _row(entry: IndexedRun, figures: IndexedFigures) -> Sequence[str]:
    times = [formatted(e).value for e in (figures.throughput, figures.p50, figures.p99)]
    mark = figures.verdict.symbol + ("" if entry.complete else " part")
    return (moment(entry.started), mark, str(figures.rounds), *times, percent(figures.error_share))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """A row of a table as plain text, since a row of a `rich` table takes 3 ms and there may be thousands."""
    padded = [
        cell.ljust(width) if number < 2 else cell.rjust(width)
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded)

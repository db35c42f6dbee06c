"""Runs over time as tables: one per plan, workload and contestant, oldest first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jostle.analysis.history import Entry, Figures, Unreadable
from jostle.formatting import formatted, percent
from jostle.plan.labels import meant
from jostle.report.workload import moment
from jostle.text import one_line

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["render_history"]


def render_history(
    entries: Sequence[Entry],
    unreadable: Sequence[Unreadable],
    contestants: Sequence[str] | None,
    console: "Console",
) -> None:
    """Print all runs; only those of `contestants`, or of their variants, where some are named.

    Fits 80 columns.
    """
    from rich.table import Table
    from rich.text import Text

    labels = [f.contestant for entry in entries for f in entry.figures]
    whom = {label for name in contestants or () for label in meant(name, labels)}
    series: dict[tuple[str, str, str], list[tuple[Entry, Figures]]] = {}
    for entry in entries:
        for f in entry.figures:
            if contestants is None or f.contestant in whom:
                series.setdefault((entry.title, f.workload, f.contestant), []).append((entry, f))
    title = None
    for (plan, workload, contestant), found in series.items():
        if plan != title:
            console.print(Text(f"\n{one_line(plan)}", style="bold"))
            title = plan
        console.print(Text(f"\n{one_line(contestant)}, {one_line(workload)}"))
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for i, name in enumerate(("started", "", "rounds", "throughput", "p50", "p99", "failed")):
            table.add_column(name, justify="left" if i < 2 else "right", no_wrap=True)
        for entry, f in found:
            times = [formatted(e).value for e in (f.throughput, f.p50, f.p99)]
            mark = f.verdict.symbol + ("" if entry.complete else " part")
            table.add_row(moment(entry.started), mark, str(f.rounds), *times, percent(f.error_share))
        console.print(table)
    if not all(entry.complete for found in series.values() for entry, _ in found):
        console.print("\npart: the run was cut short, or is still going")
    if not series:
        console.print("no run was found" if not entries else "none of these contestants was measured")
    for broken in unreadable:
        console.print(
            Text(f"{one_line(broken.folder)} cannot be read: {one_line(broken.why)}", style="yellow")
        )

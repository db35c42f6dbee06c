"""What a run says, for people and machines: terminal, page, pictures, Markdown, CSV, JSON.

Each of these takes a `RunResult` and nothing else; charts and templates are imported only by what draws them.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.analysis.results import CompareResult, RunResult
from jostle.record import RunRecord

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "compare_to_json",
    "compare_to_junit",
    "compare_to_markdown",
    "figures",
    "page",
    "render_comparison",
    "render_hit",
    "render_terminal",
    "to_csv",
    "to_json",
    "to_junit",
    "to_markdown",
    "write_hgrms",
    "write_page",
    "write_pngs",
]


def page(result: RunResult) -> str:
    """The self-contained page as text."""
    from jostle.report.render.html import page

    return page(result)


def write_page(result: RunResult, path: Path | str) -> None:
    """Write the self-contained page to `path`."""
    from jostle.report.render.html import write_page

    write_page(result, path)


def write_pngs(result: RunResult, folder: Path | str) -> list[Path]:
    """Write the main pictures as PNG and SVG into `folder`; the paths written."""
    from jostle.report.png import write_pngs

    return write_pngs(result, folder)


def write_hgrms(record: RunRecord, folder: Path | str) -> list[Path]:
    """Write HdrHistogram percentile files into `folder`, one per contestant and workload; the paths."""
    from jostle.report.hgrm import write_hgrms

    return write_hgrms(record, folder)


def render_terminal(result: RunResult, console: "Console") -> None:
    """Print the verdict, the comparison and what it means; fits 80 columns."""
    from jostle.report.render.terminal import render_terminal

    render_terminal(result, console)


def render_hit(result: RunResult, console: "Console") -> None:
    """Print what one workload did to one server; fits 80 columns."""
    from jostle.report.render.terminal import render_hit

    render_hit(result, console)


def to_json(result: RunResult) -> dict[str, Any]:
    """Plain data for `json.dumps`, with the version of its form under "format"."""
    from jostle.report.render.csv_json import to_json

    return to_json(result)


def to_markdown(result: RunResult) -> str:
    """Verdict, comparison and tables as GitHub Markdown."""
    from jostle.report.render.csv_json import to_markdown

    return to_markdown(result)


def to_csv(result: RunResult) -> str:
    """Every figure in long form: one row per quantity."""
    from jostle.report.render.csv_json import to_csv

    return to_csv(result)


def figures(result: RunResult) -> list[dict[str, Any]]:
    """A row per figure, as `to_csv` writes them."""
    from jostle.report.render.csv_json import figures

    return figures(result)


def to_junit(result: RunResult) -> str:
    """Requirements and the validity of every workload as JUnit XML."""
    from jostle.report.render.junit import to_junit

    return to_junit(result)


def render_comparison(result: CompareResult, console: "Console") -> None:
    """Print conditions, findings and tables; fits 80 columns."""
    from jostle.report.render.comparison import render_comparison

    render_comparison(result, console)


def compare_to_markdown(result: CompareResult) -> str:
    """Conditions, tables and findings as GitHub Markdown."""
    from jostle.report.render.comparison import compare_to_markdown

    return compare_to_markdown(result)


def compare_to_json(result: CompareResult) -> dict[str, Any]:
    """Plain data for `json.dumps`."""
    from jostle.report.render.comparison import compare_to_json

    return compare_to_json(result)


def compare_to_junit(result: CompareResult) -> str:
    """Conditions and comparisons as JUnit XML."""
    from jostle.report.render.junit import compare_to_junit

    return compare_to_junit(result)

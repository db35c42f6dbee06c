"""Reports for people and programs: terminal, page, pictures, notebook, Markdown, CSV, JSON and JUnit.

`build` creates the document of a run or a comparison, and `render` turns it into an output format. Functions
import what they need themselves, so that `jostle hit` does not have to load templates and charts.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.analysis.results import CapacityResult, CompareResult, RunResult, Sizing, WhatIf

if TYPE_CHECKING:
    from rich.console import Console

    from jostle.report.document import Document

__all__ = [
    "capacity_page",
    "capacity_to_json",
    "capacity_to_markdown",
    "compare_to_json",
    "compare_to_junit",
    "compare_to_markdown",
    "figures",
    "page",
    "render_capacity",
    "render_comparison",
    "render_terminal",
    "to_csv",
    "to_json",
    "to_junit",
    "to_markdown",
    "write_page",
    "write_pictures",
]


def page(result: RunResult, record: str | None = None) -> str:
    """The self-contained page as text. `record`: path of the run folder relative to the page, for links."""
    from jostle.report.build import run_document
    from jostle.report.render.html import page

    return page(run_document(result, record))


def write_page(result: RunResult, path: Path | str) -> None:
    """Writes the self-contained page to `path`; an existing one is only replaced by a complete new one."""
    from jostle.host.files import write_whole

    there = Path(result.folder).is_dir()
    record = os.path.relpath(result.folder, Path(path).parent) if there else None
    write_whole(Path(path), page(result, record))


def write_pictures(result: RunResult, folder: Path | str) -> list[Path]:
    """Writes the main pictures as PNG and SVG into `folder`; returns the paths."""
    from jostle.report.files import write_pictures

    return write_pictures(result, Path(folder))


def render_terminal(result: RunResult, console: "Console", *, full: bool = False) -> None:
    """Prints the verdict, its meaning and the answer; with `full`, all tables. Fits into 80 columns."""
    from jostle.report.build import run_document
    from jostle.report.render.terminal import render

    render(run_document(result), console, full=full)


def to_json(result: RunResult) -> dict[str, Any]:
    """Plain data for `json.dumps`; "format" is the version of its form."""
    from jostle.report.render.data import to_json

    return to_json(result)


def to_markdown(result: RunResult) -> str:
    """Verdict, answer and tables as GitHub Markdown."""
    from jostle.report.build import run_document
    from jostle.report.render.markdown import render

    return render(run_document(result))


def to_csv(result: RunResult) -> str:
    """Every figure in long form: one row per quantity."""
    from jostle.report.render.data import to_csv

    return to_csv(result)


def figures(result: RunResult) -> list[dict[str, Any]]:
    """One row per figure, as written by `to_csv`."""
    from jostle.report.render.data import figures

    return figures(result)


def to_junit(result: RunResult) -> str:
    """Requirements and the validity of every workload as JUnit XML."""
    from jostle.report.render.junit import to_junit

    return to_junit(result)


def render_comparison(result: CompareResult, console: "Console") -> None:
    """Prints conditions, findings and tables. Fits into 80 columns."""
    from jostle.report.build import comparison_document
    from jostle.report.render.terminal import render

    render(comparison_document(result), console)


def compare_to_markdown(result: CompareResult) -> str:
    """Conditions, tables and findings as GitHub Markdown."""
    from jostle.report.build import comparison_document
    from jostle.report.render.markdown import render

    return render(comparison_document(result))


def compare_to_json(result: CompareResult) -> dict[str, Any]:
    """Plain data for `json.dumps`."""
    from jostle.report.render.data import compare_to_json

    return compare_to_json(result)


def compare_to_junit(result: CompareResult) -> str:
    """Conditions and comparisons as JUnit XML."""
    from jostle.report.render.junit import compare_to_junit

    return compare_to_junit(result)


def render_capacity(
    result: CapacityResult | WhatIf | Sizing, console: "Console", *, full: bool = False
) -> None:
    """Prints the answer and the curve; with `full`, the model as well. Fits into 80 columns."""
    from jostle.report.render.terminal import render

    render(_capacity_document(result), console, full=full)


def capacity_page(result: CapacityResult | WhatIf | Sizing) -> str:
    """The self-contained page as text."""
    from jostle.report.render.html import page

    return page(_capacity_document(result))


def capacity_to_markdown(result: CapacityResult | WhatIf | Sizing) -> str:
    """Answer, curve and model as GitHub Markdown."""
    from jostle.report.render.markdown import render

    return render(_capacity_document(result))


def capacity_to_json(result: CapacityResult | WhatIf | Sizing) -> dict[str, Any]:
    """Plain data for `json.dumps`."""
    from jostle.report.render.data import capacity_to_json

    return capacity_to_json(result)


def _capacity_document(result: CapacityResult | WhatIf | Sizing) -> "Document":
    from jostle.report.sections import capacity

    if isinstance(result, CapacityResult):
        return capacity.document(result)
    return (
        capacity.what_if_document(result) if isinstance(result, WhatIf) else capacity.sizing_document(result)
    )

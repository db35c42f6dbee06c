"""A comparison as text: for the terminal, as Markdown, as JSON."""

from typing import TYPE_CHECKING, Any

from jostle.analysis.results import CompareResult
from jostle.formatting import Formatted
from jostle.report import tables
from jostle.report.render.csv_json import finite, inline, markdown_table
from jostle.report.tables import OUTCOME_SYMBOL
from jostle.text import one_line

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["compare_to_json", "compare_to_markdown", "render_comparison"]

STYLE = {"pass": "green", "cannot tell": "yellow", "fail": "bold red"}


def render_comparison(result: CompareResult, console: "Console") -> None:
    """Conditions first, then a sentence for every finding, and the table; fits 80 columns."""
    from rich.table import Table
    from rich.text import Text

    console.print(Text(one_line(result.title), style="bold"))
    for c in result.conditions:
        console.print(
            Text(f"{OUTCOME_SYMBOL[c.verdict]} {c.verdict}  {one_line(c.condition)}", style=STYLE[c.verdict])
        )
        console.print(Text(f"  {one_line(c.workload)}: {one_line(c.message)}"))
    for found in result.comparisons:
        console.print(Text(f"\n{one_line(found.title)}: {one_line(found.sentence)}", style="bold"))
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for i, column in enumerate(("", "a", "b", "difference", "b / a")):
            table.add_column(column, justify="left" if i == 0 else "right")
        for quantity, _, a, b, difference, ratio in tables.differences(found).rows:
            table.add_row(str(quantity), *(_value(v) for v in (a, b, difference)), str(ratio))
        console.print(table)
        console.print(Text(f"a: {one_line(found.a)}   b: {one_line(found.b)}", style="dim"))
        for d in found.differences:
            console.print(Text(f"  {one_line(d.sentence)}"))
    for note in result.notes:
        console.print(Text(one_line(note), style="yellow"))


def _value(value: str | Formatted) -> str:
    return value if isinstance(value, str) else value.value


def compare_to_markdown(result: CompareResult) -> str:
    """Conditions, tables and findings as GitHub Markdown, for a pull request or a job summary."""
    parts = [f"# {inline(result.title)}"]
    for c in result.conditions:
        about = f"{inline(c.condition)}, {inline(c.workload)}: {inline(c.message)}"
        parts.append(f"- {OUTCOME_SYMBOL[c.verdict]} **{c.verdict}**: {about}")
    for compared in result.comparisons:
        parts.append(markdown_table(tables.differences(compared)))
        sentences = (compared.sentence, *(d.sentence for d in compared.differences))
        parts.append("\n".join(f"- {inline(text)}" for text in sentences))
    parts.append("\n".join(f"- {inline(note)}" for note in result.notes))
    return "\n\n".join(part for part in parts if part) + "\n"


def compare_to_json(result: CompareResult) -> dict[str, Any]:
    """Plain data, "format" its version."""
    found: dict[str, Any] = finite(result.as_json())
    return {"kind": "jostle comparison", "format": found.pop("format"), **found}

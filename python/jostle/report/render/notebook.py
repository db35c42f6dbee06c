"""What a notebook shows of a run and of a comparison: a short piece of HTML, and altair charts."""

from html import escape
from typing import Any

import altair

from jostle.analysis.results import CompareResult, Comparison, RunResult
from jostle.formatting import Formatted
from jostle.report import charts, tables
from jostle.report.charts import Picture
from jostle.report.charts.shift import shift
from jostle.report.png import titled
from jostle.report.tables import OUTCOME_SYMBOL, Table
from jostle.report.views import views

__all__ = ["as_chart", "comparison_html", "run_charts", "run_html", "shift_chart"]


def run_html(result: RunResult) -> str:
    """Verdict with its reasons, findings, and the table of all cells."""
    verdict = f"<strong>{result.verdict.symbol} {result.verdict}</strong>"
    parts = [
        f"<h3>{escape(result.title)}</h3>",
        f"<p>{verdict} {escape(result.verdict.meaning)}</p>",
        _list(result.reasons),
        _list([s.sentence for s in result.starvation]),
        _table(tables.summaries(result)),
    ]
    return "".join(parts)


def run_charts(result: RunResult) -> dict[str, Any]:
    """The pictures of the report as altair charts, by their keys."""
    found: list[Picture | None] = [*charts.shifts(result)]
    for view in views(result):
        found += [
            charts.overview(result, view),
            *charts.distributions(result, view),
            *charts.over_time(result, view),
        ]
    return {picture.key: as_chart(picture) for picture in found if picture is not None}


def comparison_html(result: CompareResult) -> str:
    """Conditions, and for every workload a sentence and the table of differences."""
    parts = [
        f"<h3>{escape(result.title)}</h3>",
        _list(
            [
                f"{OUTCOME_SYMBOL[c.verdict]} {c.condition}, {c.workload}: {c.message}"
                for c in result.conditions
            ]
        ),
    ]
    for c in result.comparisons:
        parts.append(f"<p><strong>{escape(c.title)}</strong>: {escape(c.sentence)}</p>")
        parts.append(_table(tables.differences(c)))
    parts.append(_list(result.notes))
    return "".join(parts)


def shift_chart(comparison: Comparison) -> Any:
    """The shift function of one comparison as an altair chart; None where it has no bands (one round)."""
    picture = shift(1, comparison)
    return None if picture is None else as_chart(picture)


def as_chart(picture: Picture) -> Any:
    """A picture of the report as an altair chart that holds its own rows, in light colours."""
    return altair.Chart.from_dict(titled(picture))


def _list(texts: list[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts if text)
    return f"<ul>{items}</ul>" if items else ""


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows)
    caption = f"<caption>{escape(table.caption)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(value: str | Formatted) -> str:
    if isinstance(value, Formatted):
        return f"<td>{escape(value.value)} <small>{escape(value.interval)}</small></td>"
    return f"<td>{escape(value)}</td>"

"""What a notebook shows of a run or a comparison: an HTML fragment, and altair charts."""

from typing import Any

from jostle.analysis.results import CompareResult, Comparison, RunResult
from jostle.report.build import comparison_document, run_document
from jostle.report.charts import Picture, shift
from jostle.report.document import figures_in
from jostle.report.render.html import fragment
from jostle.report.render.vega import standalone

__all__ = ["comparison_html", "run_charts", "run_html", "shift_chart"]


def run_html(result: RunResult) -> str:
    """The answer of a run as HTML."""
    return fragment(run_document(result))


def comparison_html(result: CompareResult) -> str:
    """Conditions, and for every workload a sentence and the table of differences, as HTML."""
    return fragment(comparison_document(result))


def run_charts(result: RunResult) -> dict[str, Any]:
    """The pictures of the report as altair charts, by their keys."""
    drawn = ((figure.key, figure.draw()) for figure in figures_in(run_document(result).sections))
    return {key: _as_chart(picture) for key, picture in drawn if picture is not None}


def shift_chart(comparison: Comparison) -> Any:
    """The quantile ratios of one comparison as an altair chart; None without intervals (one round)."""
    picture = shift(comparison)
    return None if picture is None else _as_chart(picture)


def _as_chart(picture: Picture) -> Any:
    """An altair chart that contains its data, in light colours."""
    import altair

    return altair.Chart.from_dict(standalone(picture))

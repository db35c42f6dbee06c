"""The pictures of a run or a comparison as altair charts, for a notebook."""

from typing import Any

from jostle.analysis.results import Comparison
from jostle.report.charts import Picture, shift
from jostle.report.document import Document, figures_in
from jostle.report.export.vega import standalone

__all__ = ["charts", "shift_chart"]


def charts(document: Document) -> dict[str, Any]:
    """The pictures of the report as altair charts, by their keys."""
    drawn = ((figure.key, figure.draw()) for figure in figures_in(document.sections))
    return {key: _as_chart(picture) for key, picture in drawn if picture is not None}


def shift_chart(comparison: Comparison) -> Any:
    """The quantile ratios of one comparison as an altair chart; None without intervals (one round)."""
    picture = shift(comparison)
    return None if picture is None else _as_chart(picture)


def _as_chart(picture: Picture) -> Any:
    """An altair chart that contains its data, in light colours."""
    import altair

    return altair.Chart.from_dict(standalone(picture))

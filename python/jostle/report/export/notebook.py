"""The pictures of a run or a comparison, for a notebook."""

from dataclasses import dataclass, field
from typing import Any

from jostle.analysis.results import Comparison
from jostle.extras import install_command, is_installed
from jostle.report.charts import Picture, shift
from jostle.report.document import Document, figures_in
from jostle.report.export.vega import VEGA_LITE, as_png, as_svg, standalone

__all__ = ["Chart", "charts", "shift_chart"]

VEGA_LITE_TYPE = f"application/vnd.vegalite.v{VEGA_LITE.partition('.')[0]}+json"


@dataclass(frozen=True)
class Chart:
    """A picture that a notebook displays: as SVG with the extra `pictures`, else by its own Vega-Lite."""

    title: str
    spec: dict[str, Any] = field(repr=False)
    """Vega-Lite with its data, in light colours: `altair.Chart.from_dict(chart.spec)` changes it."""

    def png(self) -> bytes:
        """The picture as a PNG file. Raises MissingExtra."""
        return as_png(self.spec)

    def svg(self) -> str:
        """The picture as an SVG file. Raises MissingExtra."""
        return as_svg(self.spec)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """What Jupyter displays, by type."""
        if is_installed("pictures"):
            return {"image/svg+xml": self.svg(), "text/plain": self.title}
        hint = f"{self.title}\nIf nothing is drawn here: {install_command('pictures')}"
        return {VEGA_LITE_TYPE: self.spec, "text/plain": hint}


def charts(document: Document) -> dict[str, Chart]:
    """The pictures of the report by their keys."""
    drawn = ((figure.key, figure.draw()) for figure in figures_in(document.sections))
    return {key: _as_chart(picture) for key, picture in drawn if picture is not None}


def shift_chart(comparison: Comparison) -> Chart | None:
    """The quantile ratios of one comparison; None without intervals (one round)."""
    picture = shift(comparison)
    return None if picture is None else _as_chart(picture)


def _as_chart(picture: Picture) -> Chart:
    return Chart(picture.title, standalone(picture))

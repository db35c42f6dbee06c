"""Self-contained pictures in light colours: specifications, and PNG and SVG files rendered from them."""

import json
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from jostle.extras import require
from jostle.report.charts import CONFIG, Picture

__all__ = ["VEGA_LITE", "as_png", "as_svg", "standalone"]

VEGA_LITE = "6.4"
"""The Vega-Lite version of the specifications: that of the page's library, which vl-convert includes, too."""

HUES = ["#0072b2", "#c04a00", "#00805e", "#9c4f96", "#8a6d00", "#2d5aa8", "#b02a5b", "#50702a"]

LIGHT = {
    **{f"hue{i}": colour for i, colour in enumerate(HUES, 1)},
    "ink": "#1b1f23",
    "muted": "#59626b",
    "grid": "#e1e5e8",
    "surface": "#ffffff",
}
SCALE = 2.0  # pixels of the file per pixel of the specification
TITLE_WIDTH = 88  # characters per line
WITHIN_FIGURE = re.compile(r"(?<=\d) (?=(?:ns|µs|ms|s|min|h|%|[kMG]?B)(?!\w))|(?<=[≥≤]) (?=\d)")
"""The spaces within a figure, where it must not be broken: before its unit, and after the sign of a bound."""

FONT = "Liberation Sans, sans-serif"
"""The font that vl-convert includes, so that text looks the same on all machines, even without fonts."""


def as_png(spec: Mapping[str, Any]) -> bytes:
    """A standalone specification as PNG, rendered without a browser. Raises MissingExtra."""
    require("pictures", "a picture as a PNG file")
    import vl_convert

    found: bytes = vl_convert.vegalite_to_png(
        _for_file(spec), vl_version=VEGA_LITE, scale=SCALE, allowed_base_urls=[]
    )
    return found


def as_svg(spec: Mapping[str, Any]) -> str:
    """A standalone specification as SVG, rendered without a browser. Raises MissingExtra."""
    require("pictures", "a picture as an SVG file")
    import vl_convert

    found: str = vl_convert.vegalite_to_svg(_for_file(spec), vl_version=VEGA_LITE, allowed_base_urls=[])
    return found


def _for_file(spec: Mapping[str, Any]) -> str:
    return json.dumps({**spec, "padding": 16, "config": {**spec["config"], "font": FONT}})


def standalone(picture: Picture) -> dict[str, Any]:
    """The picture's specification in light colours, with its title and explanation above the chart."""
    spec = _in_light_colours({**picture.spec(), "config": CONFIG})
    spec["$schema"] = f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE.partition('.')[0]}.json"
    spec["background"] = LIGHT["surface"]
    spec["title"] = {
        "text": _wrapped(picture.title, TITLE_WIDTH),
        "subtitle": _wrapped(picture.reading, TITLE_WIDTH + 22),
        "anchor": "start",
        "fontSize": 15,
        "subtitleFontSize": 11,
        "subtitlePadding": 6,
        "offset": 14,
    }
    return spec


def _in_light_colours(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification with the page's CSS variables replaced; the rows are not touched."""
    rows = spec.pop("datasets", {})
    text = re.sub(r"var\(--(\w+)\)", lambda found: LIGHT[found[1]], json.dumps(spec))
    coloured: dict[str, Any] = json.loads(text)
    return coloured | {"datasets": rows}


def _wrapped(text: str, width: int) -> list[str]:
    """The text in lines that do not break within figures."""
    joined = WITHIN_FIGURE.sub("\N{NO-BREAK SPACE}", text)
    lines = textwrap.wrap(joined, width, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]

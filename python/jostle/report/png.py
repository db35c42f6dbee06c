"""The two main pictures as PNG and SVG files, drawn by vl-convert without a browser."""

import json
import re
from pathlib import Path
from typing import Any

from jostle.analysis.results import RunResult
from jostle.host.files import write_whole
from jostle.report import charts
from jostle.report.charts import Picture
from jostle.report.views import View, views

__all__ = ["render", "titled", "write_pngs"]

LIGHT = {
    "first": "#0072b2",
    "second": "#c04a00",
    "ink": "#1b1f23",
    "muted": "#59626b",
    "grid": "#e1e5e8",
    "surface": "#ffffff",
}
SCALE = 2.0  # pixels of the file per pixel of the specification
TITLE_WIDTH = 88  # characters per line


def write_pngs(result: RunResult, folder: Path | str) -> list[Path]:
    """Write `throughput` and `density` of the comparison that shows most, and `crowd-1`, … where loads have
    phases, each as .png and .svg; the paths.

    A run with nothing to draw gives no files.
    """
    folder = Path(folder)
    found = views(result)
    if not found:
        return []
    view = max(found, key=_weight)
    pictures = {
        "throughput": charts.overview(result, found[0]),
        "density": charts.distributions(result, view)[0],
        **{p.key: p for p in (*charts.cost_pictures(result), *charts.crowd_pictures(result))},
    }
    for shown in found:
        if names := _published_shape(result, shown):
            density, boxes, *_ = charts.distributions(result, shown)
            pictures |= {f"density-{names}": density, f"boxes-{names}": boxes}
    paths = []
    for name, picture in pictures.items():
        if picture is None:
            continue
        png, svg = render(picture)
        for path, content in ((folder / f"{name}.png", png), (folder / f"{name}.svg", svg.encode())):
            write_whole(path, content)
            paths.append(path)
    return paths


def _published_shape(result: RunResult, view: View) -> str:
    """The workload's name, fit for a file, where its quartiles were published; else empty."""
    workloads = {s.workload for p in view.panels for s in p.series}
    quartiles = [f for f in result.published if f.quantity in ("p25", "p75") and f.workload in workloads]
    return re.sub(r"[^\w-]+", "-", quartiles[0].workload) if quartiles else ""


def _weight(view: View) -> tuple[bool, float]:
    """Pairs before others; of these the one in which some contestant's median wait is longest."""
    medians = [s.response["p50"].value or 0.0 for p in view.panels for s in p.series if "p50" in s.response]
    return view.paired, max(medians, default=0.0)


def render(picture: Picture) -> tuple[bytes, str]:
    """(PNG, SVG) of a picture in light colours, with its sentence above it."""
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    spec = titled(picture)
    spec["padding"] = 16
    # the face that vl-convert brings, so that text is there on a machine without fonts and alike on all
    spec["config"]["font"] = "Liberation Sans, sans-serif"
    text = json.dumps(spec)
    png: bytes = vl_convert.vegalite_to_png(text, vl_version=version, scale=SCALE, allowed_base_urls=[])
    svg: str = vl_convert.vegalite_to_svg(text, vl_version=version, allowed_base_urls=[])
    return png, svg


def titled(picture: Picture) -> dict[str, Any]:
    """The specification of a picture that stands by itself: light colours, its sentence above it."""
    spec = in_light_colours(picture.spec())
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


def in_light_colours(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification with the page's CSS variables replaced; its rows are left as they are."""
    rows = spec.pop("datasets", {})
    text = re.sub(r"var\(--(\w+)\)", lambda found: LIGHT[found[1]], json.dumps(spec))
    coloured: dict[str, Any] = json.loads(text)
    return coloured | {"datasets": rows}


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width, break_on_hyphens=False)

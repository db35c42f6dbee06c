"""The page of a run and its main pictures, as files."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from jostle.analysis.results import RunResult
from jostle.errors import NotARun
from jostle.host.files import write_whole
from jostle.record import RunRecord, TrialRecord
from jostle.report.build import run_document
from jostle.report.charts import Picture, density, points_per_curve
from jostle.report.document import figures_in
from jostle.report.export import PICTURES, Form, render
from jostle.report.export.vega import as_png, as_svg, standalone
from jostle.report.views import View, views

__all__ = ["write_page", "write_pictures"]

ALWAYS = re.compile(r"ratio-\d+|threads-\d+|phased-\d+")


def write_page(result: RunResult, path: Path) -> None:
    """Writes the page, with links to the record; an existing one is only replaced by a complete new one."""
    with_record = Path(result.folder).is_dir()
    record = os.path.relpath(result.folder, path.parent) if with_record else None
    write_whole(path, render(run_document(result, record, _trials(result.folder)), Form.html))


def _trials(folder: str) -> Sequence[TrialRecord]:
    """Those of the run; none if its record is gone."""
    try:
        return RunRecord.open(folder).trials if folder else ()
    except NotARun:
        return ()


def write_pictures(result: RunResult, folder: Path, forms: Sequence[Form] = PICTURES) -> list[Path]:
    """Writes the main pictures in each of the forms; returns their paths.

    These are `throughput` of the first comparison, `strips` and `density` of the one with the longest waits,
    those of ratios, threads and phases, and the density of every comparison whose quartiles were published.

    A run with nothing to draw results in no files. Raises MissingExtra.
    """
    paths = []
    for name, picture in _chosen(result).items():
        spec = standalone(picture)
        for form in forms:
            paths.append(folder / f"{name}{form.suffix}")
            write_whole(paths[-1], as_png(spec) if form is Form.png else as_svg(spec))
    return paths


def _chosen(result: RunResult) -> dict[str, Picture]:
    found = views(result)
    if not found:
        return {}
    longest = max(found, key=_weight)
    strips = "strips-forms" if longest.paired else f"strips-{longest.key}"
    wanted = {f"throughput-{found[0].key}": "throughput", strips: "strips"}
    wanted |= {f"density-{longest.key}": "density"}
    chosen = {}
    for figure in figures_in(run_document(result).sections):
        name = figure.key if ALWAYS.fullmatch(figure.key) else wanted.get(figure.key)
        picture = figure.draw() if name else None
        if name and picture is not None:
            chosen[name] = picture
    for view in found:
        if name := _published_shape(result, view):
            chosen[f"density-{name}"] = density(view, points_per_curve(1))
    return chosen


def _published_shape(result: RunResult, view: View) -> str:
    """The workload's name, safe for a file name, if its quartiles were published; otherwise ""."""
    workloads = {s.workload for p in view.panels for s in p.series}
    quartiles = [f for f in result.published if f.metric in ("p25", "p75") and f.workload in workloads]
    return re.sub(r"[^\w-]+", "-", quartiles[0].workload) if quartiles else ""


def _weight(view: View) -> tuple[bool, float]:
    """Sort key for the comparison to draw: pairs are preferred, then the longest median of any contestant."""
    medians = [s.response["p50"].value or 0.0 for p in view.panels for s in p.series if "p50" in s.response]
    return view.paired, max(medians, default=0.0)

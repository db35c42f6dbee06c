"""The page: one file that opens offline, verdicts first.

Nothing of a server, an address or a plan can run in it: text is escaped by the template, data stands in a
script element that is not code, with every "<" written as an escape, and the page's own policy lets nothing
run but the two scripts whose hashes it names, and nothing be loaded at all.
"""

import base64
import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from jostle.analysis.results import RunResult, Starvation
from jostle.errors import UserError
from jostle.formatting import Formatted, amount, formatted
from jostle.host.cache import cache_folder
from jostle.host.files import write_whole
from jostle.report import charts, tables
from jostle.report.charts import Picture
from jostle.report.sections import costs, phased
from jostle.report.sections import goodput as within
from jostle.report.sections import published as beside
from jostle.report.tables import Table
from jostle.report.text import published, published_per_s, when
from jostle.report.views import View, find_summary, views

__all__ = ["page", "rendered", "write_page"]

MOST_REASONS = 6


@dataclass(frozen=True)
class Section:
    """One comparison on the page: its table, its findings, its pictures."""

    view: View
    starvation: list[Starvation]
    summaries: Table
    times: Table
    five: Table
    overview: Picture | None
    distributions: list[Picture]
    timelines: list[Picture]

    @property
    def pictures(self) -> Iterator[Picture]:
        """In the order in which they stand on the page."""
        if self.overview:
            yield self.overview
        yield from self.distributions
        yield from self.timelines


def write_page(result: RunResult, path: Path | str) -> None:
    """Write the page to `path`; a page that was there stays whole until the new one is."""
    write_whole(Path(path), page(result))


def page(result: RunResult) -> str:
    """The whole page as text."""
    sections = [_section(result, view) for view in views(result)]
    shifts = charts.shifts(result)
    pairs = list(zip(result.comparisons, map(tables.differences, result.comparisons), shifts, strict=True))
    cost_pictures = charts.cost_pictures(result)
    phased_loads = charts.crowd_pictures(result)
    pictures = [p for s in sections for p in s.pictures] + [p for p in shifts if p is not None] + phased_loads
    pictures += cost_pictures
    return rendered(
        "page.html.j2",
        pictures,
        result=result,
        sections=sections,
        pairs=pairs,
        phased_loads=phased_loads,
        cost_tables=costs.tables_of(result),
        cost_pictures=cost_pictures,
        tables={
            "claims": beside.claims(result),
            "parts": beside.parts(result),
            "figures": beside.figures(result),
            "setup": beside.setup(result),
            "hits": within.hits(result),
            "goodput": within.goodput(result),
            "earlier": costs.earlier(result),
            "held": phased.held(result),
            "phases": phased.phases(result),
            "traffic": phased.traffic(result),
            "requirements": tables.requirements(result),
            "failed": tables.failed_checks(result),
            "checks": tables.checks(result),
            "summaries": tables.summaries(result),
            "trials": tables.trials(result),
            "outcomes": tables.outcomes(result),
            "requests": tables.requests(result),
            "host": tables.host(result),
        },
        reasons=result.reasons[:MOST_REASONS],
        more_reasons=max(0, len(result.reasons) - MOST_REASONS),
        shown=formatted,
        when=when,
        amount=amount,
        published=published,
        index_as_published=_index_as_published,
        summary=lambda s, workload: find_summary(result, s.contestant, workload),
    )


def rendered(template: str, pictures: Iterable[Picture], **values: Any) -> str:
    """A page from its template, with the specifications of its pictures and all that draws them."""
    import jinja2

    library, script = _library(), _asset("page.js")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(template).render(
        specs=json_for_script({p.key: p.spec() for p in pictures}),
        library=Markup(library),
        script=Markup(script),
        style=Markup(_asset("page.css")),
        hashes=[_hash(library), _hash(script)],
        claim_symbol=beside.CLAIM_SYMBOL,
        is_shown=lambda value: isinstance(value, Formatted),
        **values,
    )


def _section(result: RunResult, view: View) -> Section:
    forms = {p.starvation.form for p in view.panels if p.starvation}
    workloads = {s.workload for p in view.panels for s in p.series}
    summaries = [c for c in result.summaries if c.workload in workloads]
    return Section(
        view=view,
        starvation=[s for s in result.starvation if s.form in forms],
        summaries=tables.summaries(result, summaries),
        times=tables.times(summaries),
        five=beside.five_numbers(result, summaries),
        overview=charts.overview(result, view),
        distributions=charts.distributions(result, view),
        timelines=charts.over_time(result, view),
    )


def _index_as_published(s: Starvation) -> float | None:
    """The published starvation index; None where the two figures are not both rates."""
    alone, beside = published_per_s(s.published_alone), published_per_s(s.published_with)
    return 1 - beside / alone if alone and beside is not None else None


def json_for_script(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in, nor break a line of JavaScript."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


@cache
def _library() -> str:
    """Vega, Vega-Lite and their embedding, as vl-convert carries them: no network, no node.

    Putting them together takes seconds, so it is done once for each version.
    """
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    file: Path | None = None
    with contextlib.suppress(UserError, OSError):
        of = metadata.version("vl-convert-python")
        file = cache_folder("pages") / f"vega-lite-{version}-of-vl-convert-{of}.js"
        return file.read_text(encoding="utf-8")
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    safe = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    if file is not None:
        with contextlib.suppress(OSError):
            write_whole(file, safe)
    return safe


def _asset(name: str) -> str:
    return (resources.files("jostle.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

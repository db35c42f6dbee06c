"""Several experiments on one page: all claims, then a chapter per article; as page, Markdown and JSON."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from jostle.analysis.results import RunResult
from jostle.analysis.stats.enough import REQUESTS_FOR_A_SHAPE
from jostle.host.files import write_whole
from jostle.report import charts, tables
from jostle.report.charts import Picture
from jostle.report.png import render
from jostle.report.render.csv_json import inline, markdown_table, to_json
from jostle.report.render.html import rendered
from jostle.report.sections import costs, phased
from jostle.report.sections import goodput as within
from jostle.report.sections import published as beside
from jostle.report.tables import Table, columns
from jostle.report.text import when
from jostle.report.views import View, views
from jostle.units import format_duration

__all__ = ["Article", "Chapter", "Together"]

FORMAT = 1
"""Version of the JSON form."""

VERDICTS = ("reproduced", "not reproduced", "cannot tell")
MOST_PICTURES = 6
"""Of one experiment: its full report has all."""


@dataclass(frozen=True)
class Chapter:
    """One experiment. `result` None: it was not measured, and `why` says why.

    `report`: its own page, relative to this one. `took_s`: how long it was measured, 0 where not known.
    """

    name: str
    title: str
    source: str
    result: RunResult | None = None
    why: str = ""
    report: str = ""
    took_s: float = 0.0

    @cached_property
    def tables(self) -> list[Table]:
        """The main ones."""
        r = self.result
        if r is None:
            return []
        found = [tables.comparison(r, form) for form in dict.fromkeys(s.form for s in r.starvation)]
        found += costs.tables_of(r)
        found += [phased.held(r), phased.phases(r)] if r.phased_loads else []
        found += [within.hits(r), within.goodput(r)] if r.goodputs else []
        compared = {w for s in r.starvation for w in (s.alone_workload, s.with_workload)}
        others = [
            c
            for c in r.summaries
            if c.workload not in compared and c.response_distribution.n >= REQUESTS_FOR_A_SHAPE
        ]
        if others and not (r.phased_loads or r.goodputs):
            found.append(beside.five_numbers(r, others))
        return found or [tables.summaries(r)]

    @cached_property
    def more(self) -> list[Table]:
        """Those that are folded up."""
        r = self.result
        if r is None:
            return []
        found = [tables.summaries(r), costs.earlier(r), beside.figures(r), beside.parts(r), beside.setup(r)]
        return [table for table in [*found, tables.failed_checks(r)] if table.rows]

    @cached_property
    def pictures(self) -> list[Picture]:
        """The main ones, with keys that no other chapter has."""
        if self.result is None:
            return []
        found = _pictures(self.result)[:MOST_PICTURES]
        return [replace(picture, key=f"{self.name}-{picture.key}") for picture in found]

    def check(self) -> None:
        """Raises whatever showing it would raise."""
        _ = self.tables, self.more, self.findings, [picture.spec() for picture in self.pictures]

    @property
    def findings(self) -> list[str]:
        """Sentences that say what was seen."""
        if self.result is None:
            return []
        found = [s.sentence for s in self.result.starvation if s.sentence]
        return [*found, *([phased.sentence(self.result.phased_loads)] if self.result.phased_loads else [])]


def _pictures(r: RunResult) -> list[Picture]:
    """What shows the experiment's own question first; then response times where the waits are longest."""
    found = [*charts.crowd_pictures(r), *charts.cost_pictures(r)]
    shown = views(r)
    if not r.phased_loads:
        for view in (_longest(shown, paired=False), _longest(shown, paired=True)):
            found += charts.distributions(r, view)[:2] if view is not None else []
    if not r.ratios and not r.threads:
        compared = [charts.overview(r, view) for view in shown if view.paired or not r.starvation]
        found = [picture for picture in compared if picture is not None][:2] + found
    return found


def _longest(shown: Sequence[View], *, paired: bool) -> View | None:
    """Of the views with enough requests for a shape, the one with the longest median wait."""
    found = [
        view
        for view in shown
        if view.paired == paired
        and any(s.distribution.n >= REQUESTS_FOR_A_SHAPE for p in view.panels for s in p.series)
    ]
    return max(found, key=_median_s, default=None)


def _median_s(view: View) -> float:
    medians = [s.response["p50"].value or 0.0 for p in view.panels for s in p.series if "p50" in s.response]
    return max(medians, default=0.0)


@dataclass(frozen=True)
class Article:
    """The experiments of one source."""

    title: str
    chapters: list[Chapter]

    @property
    def key(self) -> str:
        """Safe as an HTML id."""
        return "article-" + (re.sub(r"[^a-z0-9]+", "-", self.short.lower()).strip("-") or "own")

    @property
    def short(self) -> str:
        """For the contents: up to the second comma, who and what."""
        return ", ".join(self.title.split(", ")[:2])

    @property
    def claimed(self) -> bool:
        return any(chapter.result and chapter.result.claims for chapter in self.chapters)

    @property
    def about(self) -> str:
        """What the article used."""
        setups = (c.result.published_setup for c in self.chapters if c.result and c.result.published_setup)
        lines = dict.fromkeys(line.strip() for setup in setups for line in setup.splitlines())
        return "The article used: " + "; ".join(filter(None, lines)) + "." if lines else ""


@dataclass(frozen=True)
class Together:
    """All experiments of one `jostle race --all`, in the order in which they stand on the page."""

    chapters: Sequence[Chapter]
    rerun: str
    title: str = "The published experiments, run again"

    @property
    def articles(self) -> list[Article]:
        """By source, in the order of their first experiments."""
        sources = dict.fromkeys(chapter.source for chapter in self.chapters)
        return [
            Article(
                source[:1].upper() + source[1:] or "Without a source",
                [c for c in self.chapters if c.source == source],
            )
            for source in sources
        ]

    @property
    def counts(self) -> dict[str, int]:
        """Claims by verdict."""
        found: list[str] = [claim.verdict for r in self._results() for claim in r.claims]
        return {verdict: found.count(verdict) for verdict in VERDICTS}

    def _results(self) -> list[RunResult]:
        return [chapter.result for chapter in self.chapters if chapter.result is not None]

    @property
    def facts(self) -> str:
        """When, where, how long, in one line."""
        results = self._results()
        if not results:
            return "Nothing was measured."
        first = min(results, key=lambda r: r.started)
        took = sum(chapter.took_s for chapter in self.chapters)
        host = first.host
        known = [
            when(first.started),
            f"{sum(len(r.trials) for r in results)} trials"
            + (f" in {format_duration(took)}" if took else ""),
            f"{host.get('cpu_model', '')}, {host.get('cores', '?')} cores",
            f"jostle {host.get('jostle', '')}",
        ]
        return " · ".join(filter(None, known))

    def overview(self) -> Table:
        """A row per experiment."""
        names = columns("experiment | question | verdict | trials | contestants | claims | took")
        table = Table("The experiments", names, words=3)
        for c in self.chapters:
            r = c.result
            if r is None:
                table.add(c.name, c.title, "✗\N{NO-BREAK SPACE}not measured", "", "", "", "")
                continue
            counts = (str(len(r.trials)), str(len(r.contestants)), _tally(r))
            took = format_duration(c.took_s) if c.took_s else ""
            table.add(c.name, c.title, tables.mark(r.verdict), *counts, took)
        return table

    def page(self) -> str:
        """The self-contained page as text."""
        results = self._results()
        return rendered(
            "together.html.j2",
            [picture for chapter in self.chapters for picture in chapter.pictures],
            title=self.title,
            facts=self.facts,
            articles=self.articles,
            counts=self.counts,
            total=sum(self.counts.values()),
            overview=self.overview(),
            host=tables.host(results[0]) if results else Table("Host", ["fact", "value"], words=2),
            rerun=self.rerun,
        )

    def markdown(self) -> str:
        """The same tables and findings as GitHub Markdown."""
        parts = [f"# {inline(self.title)}", inline(self.facts), _all_claims(self.chapters)]
        parts.append(markdown_table(self.overview()))
        for article in self.articles:
            parts += [f"## {inline(article.title)}", inline(article.about)]
            for chapter in article.chapters:
                parts += _markdown(chapter)
        return "\n\n".join(part for part in [*parts, f"Again: `{self.rerun}`"] if part) + "\n"

    def as_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`: every result without its trials and what only a picture needs."""
        chapters = [
            {
                **{key: getattr(c, key) for key in ("name", "title", "source", "why", "report", "took_s")},
                "result": _brief(to_json(c.result)) if c.result else None,
            }
            for c in self.chapters
        ]
        return {"format": FORMAT, "title": self.title, "claims": self.counts, "experiments": chapters}

    def write(self, folder: Path, *, pngs: bool = True) -> list[Path]:
        """Write index.html, results.md, results.json, and, with `pngs`, the pictures; the paths."""
        import json

        folder.mkdir(parents=True, exist_ok=True)
        texts = {
            "index.html": self.page(),
            "results.md": self.markdown(),
            "results.json": json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n",
        }
        for name, text in texts.items():
            write_whole(folder / name, text)
        drawn = [p for chapter in self.chapters for p in chapter.pictures] if pngs else []
        for picture in drawn:
            path = folder / "pictures" / f"{picture.key}.png"
            path.parent.mkdir(exist_ok=True)
            write_whole(path, render(picture)[0])
        return [*(folder / name for name in texts), *(folder / "pictures" / f"{p.key}.png" for p in drawn)]


def _tally(r: RunResult) -> str:
    marks = [beside.CLAIM_SYMBOL[claim.verdict] for claim in r.claims]
    return " ".join(f"{marks.count(symbol)}\N{NO-BREAK SPACE}{symbol}" for symbol in dict.fromkeys(marks))


def _all_claims(chapters: Iterable[Chapter]) -> str:
    table = Table("All claims", columns("verdict | experiment | claim"), words=3)
    for c in chapters:
        for claim in c.result.claims if c.result else []:
            table.add(f"{beside.CLAIM_SYMBOL[claim.verdict]} {claim.verdict}", c.name, claim.statement)
    return markdown_table(table) if table.rows else ""


def _markdown(c: Chapter) -> list[str]:
    parts = [f"### {c.name}: {inline(c.title)}", f"**Not measured:** {inline(c.why)}" if c.why else ""]
    if c.result is None:
        return parts
    parts.append(markdown_table(beside.claims(c.result)) if c.result.claims else "")
    parts.append("\n".join(f"- {inline(sentence)}" for sentence in c.findings))
    parts += [markdown_table(table) for table in c.tables]
    parts += [f"![{inline(p.title)}](pictures/{p.key}.png)" for p in c.pictures]
    return [*parts, f"[The full report]({c.report})" if c.report else ""]


def _brief(result: Mapping[str, Any]) -> dict[str, Any]:
    left_out = {"trials", "plan_text", "phased_loads", "comparisons"}
    kept = {key: value for key, value in result.items() if key not in left_out}
    kept["summaries"] = [
        {key: value for key, value in summary.items() if not key.endswith("_distribution")}
        for summary in result.get("summaries", [])
    ]
    return kept

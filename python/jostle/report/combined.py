"""Several experiments in one report, as page, Markdown and JSON: all claims, then a chapter per article."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from jostle.analysis.results import ARTICLE_VERDICTS, OWN_VERDICTS, ClaimVerdict, RunResult
from jostle.formatting import plural
from jostle.host.files import write_whole
from jostle.report.document import (
    Block,
    Depth,
    Document,
    Figure,
    Link,
    Mark,
    Paragraph,
    Preformatted,
    Section,
    Statements,
    Table,
    columns,
    figures_in,
    upto,
)
from jostle.report.export import html, md
from jostle.report.export.vega import as_png, standalone
from jostle.report.sections import (
    answer,
    costs,
    distributions,
    goodput,
    phased,
    provenance,
    published,
    published_pictures,
    validity,
)
from jostle.report.sections.verdict_marks import verdict_mark
from jostle.report.workload import moment
from jostle.units import format_span

__all__ = ["Chapter", "CombinedReport"]

FORMAT = 1
"""Version of the JSON format."""

MAX_FIGURES = 6
"""The most figures of one experiment; its full report has all of them."""

HOW_CLAIMS = (
    "Each claim has a rule that was fixed in its plan before anything was measured. It is reproduced when "
    "the whole 95 % interval over the rounds satisfies the rule, not reproduced when the whole interval "
    "violates it, and otherwise undecided. If the article gives a number, its size is judged too. Our own "
    "checks, which no article makes, hold or do not hold. Machines, versions and scale differ from those of "
    "the articles."
)
HOW_VERDICTS = "The verdict says whether the figures can be trusted, not whether a claim holds."


@dataclass(frozen=True)
class Chapter:
    """One experiment."""

    name: str
    title: str
    source: str
    result: RunResult | None = None
    """None if it was not measured."""
    why: str = ""
    """Why not, or why it stopped early."""
    report: str = ""
    """Its own page, relative to the combined one."""
    took_s: float = 0.0
    """How long it took to measure, 0 if unknown."""

    @cached_property
    def section(self) -> Section:
        """The experiment's section in the combined report."""
        blocks: list[Block] = []
        if self.why:
            says = "Not measured" if self.result is None else "Stopped early"
            blocks.append(Paragraph(f"{says}: {self.why}", "warning"))
        if self.result is not None:
            blocks += [*self._verdict(self.result), *_main(self.result, self.name), _more(self.result)]
        if self.report:
            blocks.append(Link("The full report", self.report))
        return Section(f"{self.title} ({self.name})", blocks, key=self.name)

    def _verdict(self, result: RunResult) -> Iterable[Block]:
        found = validity.reasons(result)
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        reason = f": {found[0].contestant} {found[0].text}{more}" if found else ""
        text = f"{verdict_mark(result.verdict)}, {plural(len(result.trials), 'trial')}{reason}."
        yield Paragraph(text, verdict_mark(result.verdict).tone)
        if why := validity.incomplete(result):
            yield Paragraph(f"Cut short: {why}", "warning")
        for name, why in result.not_measured():
            yield Paragraph(f"Not measured: {name} ({why})", "warning")
        yield published.claims(result.claims)

    def check(self) -> None:
        """Raises whatever error showing the chapter would raise."""
        for figure in figures_in([self.section]):
            figure.draw()


def _main(result: RunResult, name: str) -> Iterable[Block]:
    """The answer and the main pictures, with keys that are unique among all chapters."""
    sections = [
        published_pictures.section(result),
        phased.section(result),
        goodput.section(result),
        costs.section(result),
        answer.section(result),
    ]
    left = MAX_FIGURES
    for section in sections:
        kept, left = _own(section, name, left)
        if not kept.empty:
            yield replace(kept, key="")


def _own(section: Section, name: str, left: int) -> tuple[Section, int]:
    """The section with at most `left` of its figures, whose keys are prefixed with the chapter's `name`; and
    how many figures may follow.
    """
    blocks: list[Block] = []
    for block in section.blocks:
        if isinstance(block, Section):
            inner, left = _own(block, name, left)
            blocks.append(inner)
        elif not isinstance(block, Figure):
            blocks.append(block)
        elif left > 0:
            left -= 1
            blocks.append(replace(block, key=f"{name}-{block.key}"))
    return replace(section, blocks=blocks), left


def _more(result: RunResult) -> Section:
    """Folded tables with further figures."""
    found = [
        distributions.five_numbers(result, result.summaries),
        published.figures(result),
        published.parts(result),
        published.setup(result),
    ]
    folded = [Section(table.caption, [table], Depth.DETAIL, folded=True) for table in found if table.rows]
    return Section("", folded, Depth.DETAIL)


@dataclass(frozen=True)
class CombinedReport:
    """All experiments of one `jostle race --all`, in the order of the page."""

    chapters: Sequence[Chapter]
    rerun: str
    title: str = "The published experiments, run again"

    @property
    def counts(self) -> dict[str, int]:
        """Claims of the articles by verdict."""
        return self._counts(ARTICLE_VERDICTS, ours=False)

    @property
    def checks(self) -> dict[str, int]:
        """Checks of our own by verdict."""
        return self._counts(OWN_VERDICTS, ours=True)

    def _counts(self, verdicts: Sequence[ClaimVerdict], *, ours: bool) -> dict[str, int]:
        found = Counter(claim.verdict for r in self._results() for claim in r.claims if claim.ours is ours)
        return {verdict: found[verdict] for verdict in verdicts}

    @cached_property
    def document(self) -> Document:
        """The whole report."""
        results = self._results()
        host = (
            [Section("Host", [provenance.host(results[0])], Depth.DETAIL, key="host", folded=True)]
            if results
            else []
        )
        again = Section("Run it again", [Preformatted("command", (self.rerun,))], Depth.MAIN, key="rerun")
        return Document(
            title=self.title,
            mark=None,
            meaning="",
            facts=self._facts(),
            reasons=[],
            cut_short="",
            sections=[self._claims(), self._overview(), *self._articles(), *host, again],
        )

    def _results(self) -> list[RunResult]:
        return [chapter.result for chapter in self.chapters if chapter.result is not None]

    def _facts(self) -> list[str]:
        """When, where and for how long it was measured."""
        results = self._results()
        if not results:
            return ["Nothing was measured."]
        first = min(results, key=lambda r: r.started)
        took = sum(chapter.took_s for chapter in self.chapters)
        trials = plural(sum(len(r.trials) for r in results), "trial") + (
            f" in {format_span(took)}" if took else ""
        )
        machine, version = provenance.processor(first.host), f"jostle {first.host.get('jostle', '')}"
        return [moment(first.started), trials, machine, version]

    def _claims(self) -> Section:
        """All claims by article, each with a link to its chapter."""
        blocks: list[Block] = []
        every = [claim for r in self._results() for claim in r.claims]
        if every:
            blocks += [Paragraph(published.tally(every)), Paragraph(HOW_CLAIMS, small=True)]
        for source, chapters in self._by_source():
            items = [
                replace(finding, details=())
                for chapter in chapters
                if chapter.result
                for finding in published.claims(chapter.result.claims, href=chapter.name).items
            ]
            if items:
                blocks.append(Section(source, [Statements(items)]))
        return Section(
            "What was claimed, and what reproduces here",
            blocks or [Paragraph("No claim was judged.")],
            key="claims",
            short="Claims",
        )

    def _overview(self) -> Section:
        """A row per experiment."""
        names = columns("experiment | question | verdict", "trials | contestants | claims | took")
        table = Table("The experiments", names)
        for c in self.chapters:
            if c.result is None:
                table.add(c.name, c.title, Mark("✗", "not measured", "bad"), "", "", "", "")
                continue
            counts = (
                str(len(c.result.trials)),
                str(len(c.result.contestants)),
                published.tally(c.result.claims),
            )
            took = format_span(c.took_s) if c.took_s else ""
            table.add(c.name, c.title, verdict_mark(c.result.verdict), *counts, took)
        blocks: list[Block] = [table, Paragraph(HOW_VERDICTS, small=True)]
        return Section("The experiments", blocks, key="experiments", short="Experiments")

    def _by_source(self) -> list[tuple[str, list[Chapter]]]:
        """Chapters by their article, in the order of their first experiments."""
        sources = dict.fromkeys(chapter.source for chapter in self.chapters)
        return [
            (
                source[:1].upper() + source[1:] or "Our own",
                [c for c in self.chapters if c.source == source],
            )
            for source in sources
        ]

    def _articles(self) -> Iterable[Section]:
        for source, chapters in self._by_source():
            short = ", ".join(source.split(", ")[:2])  # author and title
            key = "article-" + (re.sub(r"[^a-z0-9]+", "-", short.lower()).strip("-") or "own")
            about = _used(chapters)
            blocks: list[Block] = [*([Paragraph(about, small=True)] if about else [])]
            yield Section(source, [*blocks, *(c.section for c in chapters)], key=key, short=short)

    def page(self) -> str:
        """The self-contained page as text."""
        return html.render(self.document)

    def markdown(self) -> str:
        """The same tables and findings as GitHub Markdown."""
        return md.render(self.document, pictures="pictures")

    def as_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`: every result, without trials and data that only pictures need."""
        chapters = [
            {
                **{key: getattr(c, key) for key in ("name", "title", "source", "why", "report", "took_s")},
                "result": _brief(c.result.as_json()) if c.result else None,
            }
            for c in self.chapters
        ]
        return {
            "format": FORMAT,
            "title": self.title,
            "claims": self.counts,
            "checks": self.checks,
            "experiments": chapters,
        }

    def write(self, folder: Path, *, pictures: bool = True) -> list[Path]:
        """Writes index.html, results.md, results.json and, if wanted, the pictures; returns the paths."""
        folder.mkdir(parents=True, exist_ok=True)
        texts = {
            "index.html": self.page(),
            "results.md": self.markdown(),
            "results.json": json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n",
        }
        paths = []
        for name, text in texts.items():
            paths.append(folder / name)
            write_whole(paths[-1], text)
        for figure in figures_in(upto(self.document, Depth.MAIN).sections) if pictures else ():
            picture = figure.draw()
            if picture is not None:
                paths.append(folder / "pictures" / f"{figure.key}.png")
                paths[-1].parent.mkdir(exist_ok=True)
                write_whole(paths[-1], as_png(standalone(picture)))
        return paths


def _used(chapters: Sequence[Chapter]) -> str:
    """The set-up that the article used, as a sentence; "" if it is not known."""
    setups = (c.result.published_setup for c in chapters if c.result and c.result.published_setup)
    lines = dict.fromkeys(line.strip() for setup in setups for line in setup.splitlines())
    return "The article used: " + "; ".join(filter(None, lines)) + "." if lines else ""


def _brief(result: Mapping[str, Any]) -> dict[str, Any]:
    left_out = {"trials", "plan_text", "phased_loads", "comparisons"}
    kept = {key: value for key, value in result.items() if key not in left_out}
    kept["summaries"] = [
        {key: value for key, value in cell.items() if not key.endswith("_distribution")}
        for cell in result.get("summaries", [])
    ]
    return kept

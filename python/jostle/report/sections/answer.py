"""The answer: a sentence for each contestant, one picture, one table; of one server, its times."""

import tomllib
from collections.abc import Iterable, Sequence
from functools import partial

from jostle.analysis.results import Estimate, PublishedFigure, RunResult, Starvation, WorkloadSummary
from jostle.analysis.stats.enough import REQUESTS_FOR_A_SHAPE
from jostle.formatting import amount, formatted, percent
from jostle.report import charts
from jostle.report.document import (
    NOTHING,
    Block,
    Column,
    Depth,
    Figure,
    Finding,
    Findings,
    Histogram,
    Paragraph,
    Section,
    Shape,
    Table,
    Value,
    columns,
)
from jostle.report.sections.marks import verdict_mark
from jostle.report.views import ALONE, WITH_SLOW, View, find_summary, views
from jostle.report.workload import (
    as_published,
    describe_load,
    describe_outcomes,
    not_answered,
    quantiles,
    span,
    unanswered,
)

__all__ = ["comparison", "section", "workloads"]

HOW_STARVATION = (
    "Starvation index: 1 − throughput with the slow request / throughput alone, for closed loops: 0 is "
    "unharmed, 1 is starved. Blocking index: by how much of the slow request’s own time the p99 of fast "
    "requests grows, for open loops. Figures in brackets are 95 % intervals; “not answered” counts the "
    "requests that were still waiting when they were given up or the run ended."
)
HOW_TIMES = (
    "Response time counts from the moment a request was due, service time from the moment it was sent. "
    "Figures in brackets are 95 % intervals; “≥” where the sample is too small to bound a quantile from "
    "above."
)


def section(result: RunResult) -> Section:
    """What the run says, workload by workload."""
    if len(result.summaries) == 1:
        blocks = _single(result, result.summaries[0])
    else:
        blocks = [*_forms(result), *_others(result)]
    if not result.summaries:
        blocks = [Paragraph("Nothing was measured: no trial has a completed request.")]
    return Section("Results", blocks, key="results")


def _forms(result: RunResult) -> Iterable[Block]:
    for view in (view for view in views(result) if view.paired):
        chosen = [p.starvation for p in view.panels if p.starvation]
        yield Section(
            view.title,
            [
                Findings([Finding(s.sentence) for s in chosen if s.sentence]),
                Figure(f"strips-{view.key}", partial(charts.strips, view)),
                comparison(result, chosen),
                Section(
                    "",
                    [
                        Figure(f"throughput-{view.key}", partial(charts.throughput, view)),
                        Paragraph(HOW_STARVATION, small=True),
                    ],
                    Depth.DETAIL,
                ),
            ],
        )


def comparison(result: RunResult, chosen: Sequence[Starvation]) -> Table:
    """Two rows per contestant of one form: alone, and with the slow request."""
    is_open = any(_is_open(result, s.alone_workload) for s in chosen)
    index = "blocking index" if is_open else "starvation index"
    told = any(s.published_alone or s.published_with for s in chosen)
    names = columns(
        "contestant = | load = ",
        f"throughput = per s | p50 = | p99 = | longest = | not answered = no answer | {index}"
        + (" | published" if told else ""),
    )
    table = Table(chosen[0].title or chosen[0].form, [*names, Column("verdict", "word", "")])
    for s in chosen:
        found = formatted(s.blocking if is_open else s.index)
        for row in (
            (ALONE, s.alone_workload, s.alone, s.alone_response, s.published_alone, ""),
            (WITH_SLOW, s.with_workload, s.with_slow, s.with_response, s.published_with, found),
        ):
            table.add(*_side(result, s.contestant, *row, published=told))
    return table


def _side(
    result: RunResult,
    contestant: str,
    name: str,
    workload: str,
    throughput: Estimate,
    response: dict[str, Estimate],
    figure: PublishedFigure | None,
    index: Value,
    *,
    published: bool,
) -> list[Value]:
    summary = find_summary(result, contestant, workload)
    missing = percent(not_answered(summary.outcomes)) if summary else NOTHING
    times = quantiles(response, ("p50", "p99", "max"))
    told: list[Value] = [as_published(figure)] if published else []
    verdict: Value = verdict_mark(summary.verdict) if summary else ""
    return [contestant, name, formatted(throughput), *times, missing, index, *told, verdict]


def _is_open(result: RunResult, workload: str) -> bool:
    return any(t.offered_per_s is not None for t in result.trials if t.workload == workload)


def _others(result: RunResult) -> Iterable[Block]:
    """Workloads that no form of the starvation experiment compares."""
    compared = {w for s in result.starvation for w in (s.alone_workload, s.with_workload)}
    drawn = {s.workload: view for view in views(result) for p in view.panels for s in p.series}
    for workload in dict.fromkeys(c.workload for c in result.summaries if c.workload not in compared):
        chosen = [c for c in result.summaries if c.workload == workload]
        view = drawn.get(workload)
        figures = _figures(view, chosen) if view is not None else []
        sentences = [Finding(c.sentence) for c in result.comparisons if c.workload == workload and c.sentence]
        title = chosen[0].title or workload
        few = result.starvation and all(c.response_distribution.n < REQUESTS_FOR_A_SHAPE for c in chosen)
        blocks = [Findings(sentences), *figures[:1], workloads(chosen, title), *figures[1:]]
        yield Section(title, blocks, Depth.MAIN if few else Depth.ANSWER)
    if any(c.workload not in compared for c in result.summaries):
        yield Section("", [Paragraph(HOW_TIMES, small=True)], Depth.DETAIL)


def _figures(view: View, chosen: Sequence[WorkloadSummary]) -> list[Block]:
    return [
        Figure(f"strips-{view.key}", partial(charts.strips, view)),
        Section(
            "",
            [Figure(f"throughput-{view.key}", partial(charts.completed, view.title, chosen))],
            Depth.DETAIL,
        ),
    ]


def workloads(chosen: Sequence[WorkloadSummary], caption: str) -> Table:
    """A row per workload and contestant, over all rounds."""
    known = [c.response_distribution for c in chosen if c.response_distribution.quantile_s]
    low, high = span(known) if known else (0.0, 0.0)
    several = len({c.workload for c in chosen}) > 1
    names = columns(
        "workload = | contestant =" if several else "contestant =",
        "throughput = per s | p50 = | p90 | p99 = | p99.9 | longest = | failed = | not answered = no answer"
        " | CPU per request | memory",
    )
    shape = Column("response times", "shape", "response times")
    table = Table(caption, [*names, Column("verdict", "word", ""), shape])
    for c in chosen:
        about = (c.workload, c.contestant) if several else (c.contestant,)
        ends = (percent(c.error_share), percent(not_answered(c.outcomes)))
        cpu, memory = (
            formatted(c.server_cpu_s_per_request, fine=True),
            amount(c.server_rss_max_bytes, "bytes"),
        )
        drawn = Shape(c.response_distribution, low, high, unanswered(c.outcomes))
        table.add(
            *about,
            formatted(c.throughput),
            *quantiles(c.response),
            *ends,
            cpu,
            memory,
            verdict_mark(c.verdict),
            drawn,
        )
    return table


def _single(result: RunResult, summary: WorkloadSummary) -> list[Block]:
    """One workload on one server: load, throughput, outcomes, times, and their shape."""
    offered = next((t.offered_per_s for t in result.trials if t.number in summary.trials), None)
    asked = f" of {amount(offered, '/s')} offered" if offered is not None else ""
    load = _load(result.plan_text, summary.workload)
    failed = f"; {percent(summary.error_share)} failed"
    missing = not_answered(summary.outcomes)
    failed += f", {percent(missing)} not answered" if missing else ""
    view = next(iter(views(result)), None)
    return [
        *([Paragraph(load, label="load")] if load else []),
        Paragraph(f"{formatted(summary.throughput)}{asked}", label="throughput"),
        Paragraph(describe_outcomes(summary) + failed, label="outcomes"),
        _times(summary),
        *_unknown(summary),
        *_medians(summary),
        Histogram(summary.response_distribution, unanswered(summary.outcomes)),
        *([Figure(f"strips-{view.key}", partial(charts.strips, view))] if view else []),
        Section(
            "", [workloads([summary], "Over all rounds"), Paragraph(HOW_TIMES, small=True)], Depth.DETAIL
        ),
    ]


def _load(plan_text: str, workload: str) -> str:
    """What was sent, in words; "" for the plan of another version."""
    try:
        return describe_load(tomllib.loads(plan_text)["workload"][workload]["load"])
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        return ""


def _times(summary: WorkloadSummary) -> Table:
    """Response and service times, one quantile a row; without those of which too few are known."""
    times = [Column(f"{kind} time", short=f"{kind} time", intervals=True) for kind in ("response", "service")]
    table = Table("Response and service times", [Column("", "word", ""), *times])
    for name in dict.fromkeys([*summary.response, *summary.service]):
        response, service = (quantiles(found, [name])[0] for found in (summary.response, summary.service))
        if response.value != NOTHING.value or service.value != NOTHING.value:
            table.add(name, response, service)
    return table


def _unknown(summary: WorkloadSummary) -> Iterable[Paragraph]:
    """Why quantiles are missing, all in one line: each needs more requests than there were."""
    missing: dict[str, list[str]] = {}
    for name, estimate in summary.response.items():
        if estimate.value is None and estimate.note:
            missing.setdefault(estimate.note, []).append(name)
    if missing:
        text = "; ".join(f"{', '.join(names)}: {note}" for note, names in missing.items())
        yield Paragraph(text, small=True)


def _medians(summary: WorkloadSummary) -> Iterable[Paragraph]:
    """Where the time of a request went, at the median."""
    names = [name for name in summary.parts if name != "tcp" or {"dns", "tls"} & summary.parts.keys()]
    medians = [f"{name} {quantiles(summary.parts[name], ['p50'])[0].value}" for name in names]
    if medians:
        yield Paragraph(", ".join(medians), label="medians")

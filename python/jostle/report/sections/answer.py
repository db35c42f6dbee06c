"""The answer: a sentence for each contestant, one picture and one table; for a single server, its times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from jostle.analysis.results import RunResult, StarvationResult, TrialResult, WorkloadSummary
from jostle.formatting import amount, formatted, percent, plural
from jostle.plan.files.toml import TOMLDecodeError, read_toml
from jostle.report import charts
from jostle.report.document import (
    NOTHING,
    Block,
    Column,
    Depth,
    DistributionShape,
    Figure,
    Histogram,
    Paragraph,
    Section,
    Statement,
    Statements,
    Table,
    Value,
    columns,
)
from jostle.report.sections.timelines import first_timeline
from jostle.report.sections.verdict_marks import verdict_mark
from jostle.report.views import ALONE, WITH_SLOW, View, find_summary, views
from jostle.report.workload import (
    describe_load,
    describe_outcomes,
    not_answered,
    quantiles,
    span,
    unanswered,
)
from jostle.units import format_bytes

__all__ = ["comparison", "section", "workloads"]

MAX_SENTENCES = 6

PARTS = {"headers": "until headers", "body": "then body"}
"""Parts of a request's time, in words: until the headers, counted from the send, and then until the end."""

HOW_STARVATION = (
    "Throughput, p50 and p99 are those of a typical round (the geometric mean over the rounds), with 95 % "
    "confidence intervals in brackets, which may reach beyond the longest time that was seen. The longest "
    "time and the share not answered cover all rounds.",
    "Alone: fast requests by themselves. With slow: fast requests at the same rate, or from as many clients, "
    "beside slow ones; the figures cover the whole trial.",
    "Not answered: given up at the timeout, or still waiting when the trial ended. “≥” marks what is known "
    "only from such requests.",
)
HOW_STARVED = "Starvation index: the share of the throughput that is lost beside a slow request."
HOW_BLOCKED = (
    "Blocking index: the p99 beside slow requests, less the p99 alone, ÷ the mean time of a slow request by "
    "itself. Above 1, some requests wait for more than one."
)
"""The `HOW_…` texts explain the words of the table."""

HOW_TIMES = (
    "Response times count from the moment a request was due, service times from the moment it was sent. "
    "Figures in brackets are 95 % confidence intervals; of several rounds, those of a typical one (the "
    "geometric mean over the rounds). “≥” marks a lower bound of a quantile."
)


def section(result: RunResult) -> Section:
    """The results, workload by workload."""
    if len(result.summaries) == 1:
        blocks = _single(result, result.summaries[0])
    else:
        blocks = [*_forms(result), *_others(result)]
    if not result.summaries:
        blocks = [Paragraph("Nothing was measured: no trial has a completed request.")]
    return Section("Results", blocks, key="results")


def _forms(result: RunResult) -> Iterable[Block]:
    """How every contestant behaves beside the slow request: sentences, one picture, one table."""
    paired = [view for view in views(result) if view.paired]
    if not paired:
        return
    shown = [(view, _starvation_findings(view, few=_sentences(paired) > MAX_SENTENCES)) for view in paired]
    yield from (Section(view.title, [Statements(found, brief=True)]) for view, found in shown)
    yield Figure("strips-forms", partial(charts.strips, paired))
    yield comparison(result, paired)
    yield from (_pair(result, view) for view in paired)
    if _sentences(paired) > MAX_SENTENCES:
        every = [Section(view.title, [Statements(_starvation_findings(view, few=False))]) for view in paired]
        yield Section("What each contestant does", every, Depth.MAIN, folded=True)
    forms = {view.open_loop for view in paired}
    words = [
        *HOW_STARVATION,
        *([HOW_STARVED] if False in forms else []),
        *([HOW_BLOCKED] if True in forms else []),
    ]
    yield Section("", [Paragraph(text, small=True) for text in words], Depth.DETAIL)


def _pair(result: RunResult, view: View) -> Section:
    """The load of a view, and the names of its two workloads, which other parts of the report use."""
    found = next(panel.starvation for panel in view.panels if panel.starvation)
    load = _load(result.plan_text, found.with_workload)
    names = f"Workloads: {found.alone_workload} (alone) and {found.with_workload} (with slow requests)."
    return Section(
        "",
        [
            *([Paragraph(f"Load: {load}.", small=True)] if load else []),
            Section("", [Paragraph(names, small=True)], Depth.DETAIL),
        ],
    )


def _sentences(paired: Sequence[View]) -> int:
    return sum(len(view.panels) for view in paired)


def _starvation_findings(view: View, *, few: bool) -> list[Statement]:
    """A sentence for each contestant, or with `few` only for the most and the least harmed one."""
    panels = dict.fromkeys(p.contestant for p in (charts.extremes(view) if few else view.panels))
    shown = [p.starvation for p in view.panels if p.starvation and p.contestant in panels]
    return [Statement(s.sentence) for s in shown if s.sentence]


def comparison(result: RunResult, paired: Sequence[View]) -> Table:
    """Two rows per contestant, alone and with the slow request; a group of columns for each form."""
    forms = [_Form.of(view) for view in paired]
    heads = [*columns("contestant = | load = load"), *(c for form in forms for c in form.columns)]
    table = Table("Alone and with the slow request", heads)
    for contestant in dict.fromkeys(p.contestant for view in paired for p in view.panels):
        for load in (ALONE, WITH_SLOW):
            table.add(contestant, load, *(v for form in forms for v in form.cells(result, contestant, load)))
    return table


@dataclass(frozen=True)
class _Form:
    """One form of the experiment: its columns, and its results by contestant."""

    columns: list[Column]
    found: dict[str, StarvationResult]
    is_open: bool

    @classmethod
    def of(cls, view: View) -> "_Form":
        found = {p.contestant: p.starvation for p in view.panels if p.starvation}
        index = "blocking index" if view.open_loop else "starvation index"
        names = columns(
            "",
            f"throughput = per s | p50 = | p99 = | longest = | not answered = | {index}",
        )
        heads = [*names, Column("verdict", "word", "valid")]
        return cls([replace(c, group=view.title) for c in heads], found, view.open_loop)

    def cells(self, result: RunResult, contestant: str, load: str) -> list[Value]:
        """The cells of one contestant and load; empty if it was not measured in this form."""
        s = self.found.get(contestant)
        if s is None:
            return [""] * len(self.columns)
        alone = load == ALONE
        summary = find_summary(result, contestant, s.alone_workload if alone else s.with_workload)
        times = quantiles(s.alone_response if alone else s.with_response, ("p50", "p99", "max"))
        missing: Value = percent(not_answered(summary.outcomes)) if summary else NOTHING
        index: Value = "" if alone else formatted(s.blocking if self.is_open else s.index)
        verdict: Value = verdict_mark(summary.verdict) if summary else ""
        return [formatted(s.alone if alone else s.with_slow), *times, missing, index, verdict]


def _others(result: RunResult) -> Iterable[Block]:
    """Workloads that are not part of the starvation experiment."""
    compared = {w for s in result.starvation for w in (s.alone_workload, s.with_workload)}
    left = [c for c in result.summaries if c.workload not in compared]
    if result.starvation:
        table = workloads(left, "The other workloads", named=True)
        yield Section(table.caption, [table], Depth.MAIN, folded=True)
        return
    drawn = {s.workload: view for view in views(result) for p in view.panels for s in p.series}
    for workload in dict.fromkeys(c.workload for c in left):
        chosen = [c for c in left if c.workload == workload]
        title = chosen[0].title or workload
        title += f" ({workload})" if title != workload else ""
        sentences = [
            Statement(c.sentence) for c in result.comparisons if c.workload == workload and c.sentence
        ]
        view = drawn.get(workload)
        figures = [Figure(f"strips-{view.key}", partial(charts.strips, [view]))] if view else []
        yield Section(title, [Statements(sentences, brief=True), *figures, workloads(chosen, title)])
    if left:
        yield Section("", [Paragraph(HOW_TIMES, small=True)], Depth.DETAIL)


def workloads(chosen: Sequence[WorkloadSummary], caption: str, *, named: bool = False) -> Table:
    """A row per workload and contestant, over all rounds. `named`: name the workload even if there is only
    one.
    """
    known = [c.response_distribution for c in chosen if c.response_distribution.quantile_s]
    low, high = span(known) if known else (0.0, 0.0)
    several = named or len({c.workload for c in chosen}) > 1
    names = columns(
        "workload = | contestant =" if several else "contestant =",
        "throughput = per s | mean | p50 = | p90 | p95 | p99 = | p99.9 | longest = "
        " | failed = | not answered = | CPU per request | memory",
    )
    shape = Column("response times", "shape", "response times")
    table = Table(caption, [*names, Column("verdict", "word", "valid"), shape])
    for c in chosen:
        about = (c.workload, c.contestant) if several else (c.contestant,)
        shares = (c.error_share, not_answered(c.outcomes)) if c.outcomes else (None, None)
        ends = tuple(map(percent, shares))
        cpu, memory = (
            formatted(c.server_cpu_s_per_request, fine=True),
            amount(c.server_rss_max_bytes, "bytes"),
        )
        drawn = DistributionShape(c.response_distribution, low, high, unanswered(c.outcomes))
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
    trials = [t for t in result.trials if t.number in summary.trials]
    offered = [t.offered_per_s for t in trials if t.offered_per_s is not None]
    of = f" of {amount(fmean(offered), '/s')} offered" if offered else ""
    load = _load(result.plan_text, summary.workload)
    rounds = f", {plural(len(trials), 'round')}" if len(trials) > 1 else ""
    failed = f"; {percent(summary.error_share)} failed"
    missing = not_answered(summary.outcomes)
    failed += f", {percent(missing)} not answered" if missing else ""
    away = summary.unavailable
    failed += f"; unavailable for {percent(away)} of the time" if away else ""
    view = next(iter(views(result)), None)
    return [
        Section("", [Paragraph(_lead(summary))], Depth.MAIN),
        *([first_timeline(result, view)] if view else []),
        *([Paragraph(load + rounds, label="load")] if load else []),
        Paragraph(f"{formatted(summary.throughput)}{of}{_received(result, summary)}", label="throughput"),
        Paragraph(describe_outcomes(summary) + failed, label="outcomes"),
        *_connections(trials),
        *_server(summary),
        _times(summary),
        *_brackets(summary),
        *(Paragraph(note, small=True) for note in result.of_the_generator),
        *_unknown(summary),
        *_medians(summary),
        Histogram(summary.response_distribution, unanswered(summary.outcomes)),
        Section(
            "", [workloads([summary], "Over all rounds"), Paragraph(HOW_TIMES, small=True)], Depth.DETAIL
        ),
    ]


def _lead(summary: WorkloadSummary) -> str:
    """What it comes to, in a sentence."""
    times = {name: quantiles(summary.response, [name])[0].value for name in ("p50", "p99")}
    known = [f"{name} {time}" for name, time in times.items() if time != NOTHING.value]
    answered = f"{formatted(summary.throughput).value} answered"
    return "; ".join(
        [answered, *([", ".join(known)] if known else []), f"{percent(summary.error_share)} failed"]
    )


def _connections(trials: Sequence[TrialResult]) -> Iterable[Paragraph]:
    """How many connections the load took: in an open loop, as many as requests waited at once."""
    opened, max_open = sum(t.connections_opened for t in trials), max(t.connections_most for t in trials)
    if opened:
        together = (
            f", at most {amount(max_open, 'count')} at a time" if max_open else ""
        )  # it is read between intervals
        yield Paragraph(f"{amount(opened, 'count')} opened{together}", label="connections")


def _server(summary: WorkloadSummary) -> Iterable[Paragraph]:
    """What the server's processes used, if they were watched."""
    cpu, memory = summary.server_cpu_s_per_request, summary.server_rss_max_bytes
    used = [
        *([f"{formatted(cpu, fine=True)} of CPU per request"] if cpu.value is not None else []),
        *([f"at most {amount(memory, 'bytes')} of memory"] if memory is not None else []),
    ]
    if used:
        yield Paragraph(", ".join(used), label="server")


def _received(result: RunResult, summary: WorkloadSummary) -> str:
    """The mean rate of received bytes, in words; "" if nothing was received, or the record does not say."""
    rates = [t.received_bytes_per_s for t in result.trials if t.number in summary.trials and t.duration_s]
    mean = sum(rates) / len(rates) if rates else 0.0
    return f", {format_bytes(mean)}/s received" if mean else ""


def _load(plan_text: str, workload: str) -> str:
    """The load in words; "" if the plan is of an incompatible version."""
    try:
        planned = read_toml(plan_text)["workload"][workload]
        return describe_load(planned["load"], planned.get("connection", {}))
    except (TOMLDecodeError, KeyError, TypeError):
        return ""


def _times(summary: WorkloadSummary) -> Table:
    """Response and service times, one quantile per row, without quantiles that neither of them has."""
    times = [Column(f"{kind} time", short=f"{kind} time", intervals=True) for kind in ("response", "service")]
    table = Table("Response and service times", [Column("", "word", ""), *times])
    for name in dict.fromkeys([*summary.response, *summary.service]):
        response, service = (quantiles(found, [name])[0] for found in (summary.response, summary.service))
        if response.value != NOTHING.value or service.value != NOTHING.value:
            table.add(name, response, service)
    return table


def _brackets(summary: WorkloadSummary) -> Iterable[Paragraph]:
    """What the brackets of the times are."""
    times = [*summary.response.values(), *summary.service.values()]
    ends = [time.high for time in times if time.high is not None and not time.bound]
    if not ends:
        return
    text = "[ ]: confidence interval of 95 %, in the unit of the figure before it"
    longest = summary.response["max"].value if "max" in summary.response else None
    if summary.rounds > 1 and longest is not None and max(ends) > longest:
        text += "; of a typical round, which may take longer than all that was seen"
    yield Paragraph(text, small=True)


def _unknown(summary: WorkloadSummary) -> Iterable[Paragraph]:
    """Why quantiles are missing, in a single line."""
    missing: dict[str, list[str]] = {}
    for name, estimate in summary.response.items():
        if estimate.value is None and estimate.note:
            missing.setdefault(estimate.note, []).append(name)
    if missing:
        text = "; ".join(f"{', '.join(names)}: {note}" for note, names in missing.items())
        remedy = " (send for longer)" if any(note.startswith("needs at least") for note in missing) else ""
        yield Paragraph(text + remedy, small=True)


def _medians(summary: WorkloadSummary) -> Iterable[Paragraph]:
    """The medians of the parts of a request's time."""
    names = [name for name in summary.parts if name != "tcp" or {"dns", "tls"} & summary.parts.keys()]
    medians = [
        f"{PARTS.get(name, name)} {quantiles(summary.parts[name], ['p50'])[0].value}" for name in names
    ]
    if medians:
        yield Paragraph(", ".join(medians), label="medians")

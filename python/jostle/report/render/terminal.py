"""What a person sees when the run is over: verdict first, 80 columns, plain where it is piped."""

import re
import textwrap
import tomllib
from typing import TYPE_CHECKING

from jostle.analysis.results import Distribution, RunResult, Starvation, WorkloadSummary
from jostle.formatting import MISSING, Formatted, amount, formatted, percent
from jostle.record.verdict import Verdict
from jostle.report import tables
from jostle.report.blocks import shape, shares_of, span
from jostle.report.sections import costs, phased
from jostle.report.sections import goodput as within
from jostle.report.sections import published as beside
from jostle.report.text import details, published
from jostle.report.views import find_summary
from jostle.text import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

__all__ = ["render_hit", "render_terminal"]

OUTCOME_STYLE = {"✓": "green", "?": "yellow", "✗": "bold red"}
MOST_REASONS = 5
SHAPE_WIDTH = 16
BAR_WIDTH = 40
LABEL_WIDTH = 12
NEWLINE = "\n"
LEAD = re.compile(r" *(?:[→✓✗?] (?=\S))?")
"""What a line begins with that is not its text."""


def render_terminal(result: RunResult, console: "Console") -> None:
    """Verdict, comparison tables with small distributions, findings, and what was not measured."""
    _verdict(result, console)
    if not result.complete:
        _say(console, f"  → jostle run --resume {one_line(result.folder)} finishes it")
    for form in dict.fromkeys(s.form for s in result.starvation):
        _comparison(result, [s for s in result.starvation if s.form == form], console)
    compared = {w for s in result.starvation for w in (s.alone_workload, s.with_workload)}
    _summaries([c for c in result.summaries if c.workload not in compared], console)
    for comparison in [c for c in result.comparisons if c.workload not in compared]:
        console.print()
        _say(console, f"{one_line(comparison.title)}: {one_line(comparison.sentence)}")
    _five_numbers(result, console)
    for found in costs.tables_of(result):
        _figures(found, console)
    _goodputs(result, console)
    _crowds(result, console)
    _claims(result, console)
    _requirements(result, console)
    _notes(result, console)


def render_hit(result: RunResult, console: "Console") -> None:
    """One workload on one server: verdict, throughput, times, outcomes, histogram."""
    _verdict(result, console)
    for summary in result.summaries:
        _say(console, "")
        offered = next((t.offered_per_s for t in result.trials if t.number in summary.trials), None)
        asked = f" of {amount(offered, '/s')} offered" if offered is not None else ""
        if load := _load(result, summary):
            _say(console, one_line(load), label="load")
        _say(console, f"{formatted(summary.throughput)}{asked}", "bold", label="throughput")
        _say(console, _outcomes(summary), label="outcomes")
        _times(summary, console)
        _parts(summary, console)
        _histogram(summary.response_distribution, console)
    _crowds(result, console)
    _requirements(result, console)
    _notes(result, console)


def _load(result: RunResult, summary: WorkloadSummary) -> str:
    """What was sent, in the plan's words: "10 clients for 10s", "2000/s due (poisson) for 10s"."""
    try:
        load = tomllib.loads(result.plan_text)["workload"][summary.workload]["load"]
    except (tomllib.TOMLDecodeError, KeyError):
        return ""
    if "clients" in load:
        who = f"{amount(load['clients'], 'count')} client{'s' if load['clients'] != 1 else ''}"
        who += f", thinking {load['think']}" if load.get("think", "0s") != "0s" else ""
    elif "rate" in load and isinstance(load.get("arrivals", ""), str):
        who = f"{load['rate']} due ({load.get('arrivals', 'poisson')} arrivals)"
    else:
        return ""
    ends = [
        f"{amount(load['requests'], 'count')} requests" if "requests" in load else "",
        f"{'at most' if 'requests' in load else 'for'} {load['for']}" if "for" in load else "",
    ]
    return ", ".join(filter(None, [who, *ends])).replace(", for ", " for ")


def _say(console: "Console", text: str, style: str = "", label: str = "") -> None:
    """A line of our own or of foreign text, never read as markup; what goes on stands below its text."""
    from rich.text import Text

    begin = f"{label:<{LABEL_WIDTH}}"
    if not label and (lead := LEAD.match(text)):
        begin, text = lead[0], text[lead.end() :]
    lines = textwrap.wrap(
        text,
        width=console.width,
        initial_indent=begin,
        subsequent_indent=" " * len(begin),
        break_on_hyphens=False,
    )
    console.print(Text("\n".join(lines), style=style))


def _heading(console: "Console", text: str) -> None:
    console.print()
    _say(console, text, "bold")


def _verdict(result: RunResult, console: "Console") -> None:
    style = result.verdict.style
    _say(console, f"{result.verdict.symbol} {result.verdict}  {one_line(result.title)}", f"bold {style}")
    for remedy, reasons in _by_remedy(result).items():
        for reason in reasons:
            _say(console, f"  {one_line(reason.partition(NEWLINE)[0])}", style)
        if remedy:
            _say(console, f"  → {one_line(remedy)}")
    if len(result.reasons) > MOST_REASONS:
        _say(
            console, f"  and {len(result.reasons) - MOST_REASONS} more (jostle report lists them all)", style
        )
    if not result.complete:
        why = result.incomplete_reason or "the run did not reach its end"
        _say(console, f"  cut short: {one_line(why)}", "yellow")


def _by_remedy(result: RunResult) -> dict[str, list[str]]:
    """The first reasons of the verdict, by what is to be done about them ("" where nothing is said of it)."""
    failed = [c for t in result.trials for c in t.validity.checks if c.verdict is not Verdict.VALID]
    found: dict[str, list[str]] = {}
    for reason in result.reasons[:MOST_REASONS]:
        remedy = next((c.remedy for c in failed if reason.endswith(c.message)), "")
        found.setdefault(remedy, []).append(reason)
    return found


def _table(*columns: str, words: int = 1) -> "RichTable":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for i, column in enumerate(columns):
        table.add_column(
            column, justify="left" if i < words else "right", overflow="fold", no_wrap=i >= words
        )
    return table


def _comparison(result: RunResult, chosen: list[Starvation], console: "Console") -> None:
    _heading(console, one_line(chosen[0].title or chosen[0].form))
    table = _table("contestant", "", "per s", "p50", "p99", "longest", words=2)
    for s in chosen:
        rows = (
            ("alone", s.alone_workload, s.alone, s.alone_response),
            ("with slow", s.with_workload, s.with_slow, s.with_response),
        )
        for name, workload, throughput, response in rows:
            times = [tables.estimate(response, q).value for q in ("p50", "p99", "max")]
            label = one_line(s.contestant) if name == "alone" else ""
            rate = formatted(throughput).value.removesuffix("/s")
            table.add_row(
                _text(label, "bold"),
                _marked(name, find_summary(result, s.contestant, workload)),
                rate,
                *times,
            )
    console.print(table)
    _shapes(result, chosen, console)
    for s in chosen:
        told = published(s.published_alone, s.published_with)
        _say(console, one_line(s.sentence) + (f" Published: {one_line(told)}." if told else ""))


def _text(text: str, style: str = "") -> "Text":
    from rich.text import Text

    return Text(text, style=style)


def _marked(name: str, summary: WorkloadSummary | None) -> "Text":
    """A name, with the sign of the verdict after it where that is not valid."""
    if summary is None or summary.verdict is Verdict.VALID:
        return _text(name)
    return _text(name).append(f" {summary.verdict.symbol}", summary.verdict.style)


def _shapes(result: RunResult, chosen: list[Starvation], console: "Console") -> None:
    """The index of every contestant, and both its distributions on one logarithmic axis."""
    pairs = []
    for s in chosen:
        summaries = [find_summary(result, s.contestant, w) for w in (s.alone_workload, s.with_workload)]
        pairs.append((s, [c.response_distribution if c else None for c in summaries]))
    known = [d for _, pair in pairs for d in pair if d is not None and d.quantile_s]
    low, high = span(known) if known else (1e-3, 1.0)
    table = _table("starvation", "index", "alone", "with slow", words=4)
    for s, pair in pairs:
        drawn = [shape(d, low, high, SHAPE_WIDTH) if d and d.quantile_s else "" for d in pair]
        name, index = _text(one_line(s.contestant), "bold"), _text(str(formatted(s.index)))
        table.add_row(name, index, _text(drawn[0], "blue"), _text(drawn[1], "red"))
    console.print()
    console.print(table)
    if known:
        axis = f"shapes: response time from {amount(low, 's')} to {amount(high, 's')}, logarithmic"
        _say(console, axis, "dim")
    console.print()


def _summaries(summaries: list[WorkloadSummary], console: "Console") -> None:
    for workload in dict.fromkeys(c.workload for c in summaries):
        chosen = [c for c in summaries if c.workload == workload]
        known = [c.response_distribution for c in chosen if c.response_distribution.quantile_s]
        low, high = span(known) if known else (1e-3, 1.0)
        _heading(console, one_line(chosen[0].title or workload))
        table = _table(
            "contestant", "", "per s", "p50", "p99", "longest", "failed", "response times", words=2
        )
        for c in chosen:
            times = [tables.estimate(c.response, q).value for q in ("p50", "p99", "max")]
            drawn = (
                shape(c.response_distribution, low, high, 16) if c.response_distribution.quantile_s else ""
            )
            rate = formatted(c.throughput).value.removesuffix("/s")
            mark = _text(c.verdict.symbol, c.verdict.style)
            table.add_row(
                _text(one_line(c.contestant), "bold"), mark, rate, *times, percent(c.error_share), drawn
            )
        console.print(table)


def _outcomes(summary: WorkloadSummary) -> str:
    counts = [
        f"{amount(n, 'count')} {one_line(kind).replace('_', ' ')}{details(summary, kind)}"
        for kind, n in summary.outcomes.items()
    ]
    return ", ".join(counts or ["none"]) + f"; {percent(summary.error_share)} not as expected"


def _times(summary: WorkloadSummary, console: "Console") -> None:
    table = _table("", "response", "95 % interval", "service", "95 % interval")
    console.print()
    for name in dict.fromkeys([*summary.response, *summary.service]):
        response, service = (tables.estimate(found, name) for found in (summary.response, summary.service))
        if response.value == service.value == tables.NOTHING.value:
            table.add_row(name, MISSING, "", MISSING, "")
            continue
        table.add_row(name, response.value, response.interval, service.value, service.interval)
    if any(
        estimate.value is not None for estimate in (*summary.response.values(), *summary.service.values())
    ):
        console.print(table)
    missing: dict[str, list[str]] = {}
    for name, estimate in summary.response.items():
        if estimate.value is None and estimate.note:
            missing.setdefault(estimate.note, []).append(name)
    for note, names in missing.items():
        _say(console, f"{', '.join(names)}: {one_line(note)}", "dim")


def _parts(summary: WorkloadSummary, console: "Console") -> None:
    """Where the time of a request went, at the median."""
    names = [name for name in summary.parts if name != "tcp" or {"dns", "tls"} & summary.parts.keys()]
    medians = [f"{name} {tables.estimate(summary.parts[name], 'p50').value}" for name in names]
    if medians:
        _say(console, "")
        _say(console, ", ".join(medians), label="medians")


def _histogram(found: Distribution, console: "Console") -> None:
    """Horizontal bars over logarithmic bins of response time, each with its share."""
    if not found.quantile_s or found.min_s is None or found.max_s is None:
        return
    low, high = span([found])
    bins = 10
    edges = [low * (high / low) ** (i / bins) for i in range(bins + 1)]
    shares = shares_of(found, edges)
    most = max(shares)
    console.print()
    table = _table("up to", "response time", "share", words=0)
    table.columns[1].justify = "left"
    for edge, share in zip(edges[1:], shares, strict=True):
        bar = "█" * round(BAR_WIDTH * share / most) or ("▏" if share > 0 else "")
        table.add_row(amount(edge, "s"), _text(bar, "blue"), percent(share))
    console.print(table)


def _five_numbers(result: RunResult, console: "Console") -> None:
    """Of the cells of which they were published, with the published ones below."""
    chosen = [c for c in result.summaries if beside.five_published(result, c)]
    if not chosen:
        return
    _heading(console, "response times of answered requests")
    table = _table("contestant", "min", "1st qu.", "median", "mean", "3rd qu.", "max", words=1)
    for c in chosen:
        measured = (amount(v, "s") for v in beside.five(c.response_distribution))
        table.add_row(_text(one_line(c.contestant), "bold"), *measured)
        table.add_row("  published", *map(one_line, beside.five_published(result, c)), style="dim")
    console.print(table)


def _figures(found: tables.Table, console: "Console") -> None:
    """A table of figures, without their intervals where 80 columns have no room for them."""
    _heading(console, one_line(found.caption))
    table = _table(*map(one_line, found.columns), words=found.words)
    for row in found.rows:
        table.add_row(*(_text(one_line(v.value if isinstance(v, Formatted) else v)) for v in row))
    console.print(table)


def _goodputs(result: RunResult, console: "Console") -> None:
    """What impatient clients got, workload by workload, with what was chosen of the database."""
    for workload in dict.fromkeys(g.workload for g in result.goodputs):
        rows = [g for g in result.goodputs if g.workload == workload]
        limit = f"timeout {amount(rows[0].timeout_s, 's')}" if rows[0].timeout_s is not None else ""
        about = ", ".join(filter(None, (limit, within.chosen(rows[0]))))
        _heading(console, f"{one_line(workload)} ({about})")
        table = _table("contestant", "hits", "timeouts", "min/s", "max/s", "goodput", "sd/mean", "db CPU")
        for g in rows:
            counts = (amount(within.whole(e.value), "count") for e in (g.hits, g.timeouts))
            rates = (formatted(e).value.removesuffix("/s") for e in (g.least_per_s, g.most_per_s, g.goodput))
            cpu = formatted(g.database_cpu_s_per_request, fine=True).value
            name = _text(one_line(g.contestant), "bold")
            table.add_row(name, *counts, *rates, formatted(g.dispersion).value, cpu)
        console.print(table)


def _crowds(result: RunResult, console: "Console") -> None:
    """Who reached the target, where clients come and go."""
    for workload in dict.fromkeys(c.workload for c in result.phased_loads if c.asked is not None):
        chosen = [c for c in result.phased_loads if c.workload == workload]
        asked = amount(chosen[0].asked, "count")
        _heading(console, f"who holds {asked} clients: {one_line(chosen[0].title)}")
        table = _table("contestant", "", "most open", "held", "time to headers", "p99", words=2)
        for c in chosen:
            full = max(c.phases, key=lambda s: s.open_mean).headers
            figures = (phased.most_open(c), percent(c.held.value))
            times = (amount(full.mean_s, "s"), amount(full.p99_s, "s"))
            mark = _text("✓", "green") if c.reached else _text("✗", "bold red")
            table.add_row(_text(one_line(c.contestant), "bold"), mark, *figures, *times)
        console.print(table)
        for c in chosen:
            if c.refused:
                _say(console, f"{one_line(c.contestant)}: first connection refused or lost {c.refused}")
        _say(console, "held, and times to headers: while all clients are to be there", "dim")


def _claims(result: RunResult, console: "Console") -> None:
    """What was published, whether it reproduces here, and what decides it."""
    if result.claims:
        source = f" ({one_line(result.published[0].source)})" if result.published else ""
        _heading(console, f"published claims{source}")
    for c in result.claims:
        mark = beside.CLAIM_SYMBOL[c.verdict]
        _say(console, f"{mark} {c.verdict}: {one_line(c.statement)}", OUTCOME_STYLE[mark])
        if c.published:
            _say(console, f"  published: {one_line(c.published)}", "dim")
        _say(console, f"  here: {one_line(c.sentence)}")


def _requirements(result: RunResult, console: "Console") -> None:
    """What the plan requires, what fails first."""
    if result.requirements:
        _heading(console, "required by the plan")
    for mark, that, contestant, workload, says in tables.requirements(result).rows:
        style = OUTCOME_STYLE[str(mark)[:1]]
        about = f"{one_line(contestant)}, {one_line(workload)}"
        _say(console, f"{str(mark).replace(chr(160), ' ')}  {one_line(that)}", style)
        _say(console, f"  {about}: {one_line(says)}")


def _notes(result: RunResult, console: "Console") -> None:
    lines = [*result.notes, *(f"not measured: {name} ({why})" for name, why in result.skipped.items())]
    lines += [
        f"trial {t.number} ({t.contestant}, {t.workload}) {t.status}: {t.reason}"
        for t in result.trials
        if t.reason
    ]
    if lines:
        console.print()
    for line in lines:
        first, *output = line.splitlines()
        _say(console, one_line(first), "yellow")
        for text in output:
            _say(console, f"    {one_line(text)}", "yellow")

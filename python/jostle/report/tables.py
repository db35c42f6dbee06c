"""The tables of a report, as text: the same ones on the page, in Markdown and behind every picture."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from jostle.analysis.compare.sentences import size_of_effect
from jostle.analysis.results import (
    Check,
    Comparison,
    Decision,
    Estimate,
    Finding,
    PublishedFigure,
    RunResult,
    Starvation,
    TrialResult,
    WorkloadSummary,
)
from jostle.formatting import MISSING, Formatted, amount, formatted, percent, points
from jostle.record.outcomes import outcome_label
from jostle.record.verdict import Verdict
from jostle.report.text import check_value, details
from jostle.report.views import ALONE, WITH_SLOW, View, find_summary

__all__ = [
    "Table",
    "checks",
    "comparison",
    "differences",
    "failed_checks",
    "host",
    "outcomes",
    "quantiles",
    "requests",
    "requirements",
    "shift",
    "summaries",
    "times",
    "trials",
]

NOTHING = Formatted(MISSING, "", "")
OUTCOME_SYMBOL: dict[Decision, str] = {"pass": "✓", "fail": "✗", "cannot tell": "?"}
FINDING: dict[Finding, str] = {
    "less": "less",
    "more": "more",
    "same": "no difference",
    "unclear": "cannot tell",
}
QUANTILES = ("p50", "p90", "p99", "p99.9", "max")


@dataclass(frozen=True)
class Table:
    """Columns and rows of equal length. The first `words` columns hold names, the others figures."""

    caption: str
    columns: list[str]
    words: int = 1
    rows: list[tuple[str | Formatted, ...]] = field(default_factory=list)

    def add(self, *values: str | Formatted) -> None:
        """Append a row, a value for each column."""
        if len(values) != len(self.columns):
            raise ValueError(f"{self.caption}: {len(values)} values for {len(self.columns)} columns")
        self.rows.append(values)


def columns(text: str) -> list[str]:
    """Column names as they stand in the source: "name | name"."""
    return [name.strip() for name in text.split("|")]


def mark(verdict: Verdict) -> str:
    """A verdict as symbol and word, so that it needs no colour."""
    return f"{verdict.symbol}\N{NO-BREAK SPACE}{verdict}"


def estimate(found: dict[str, Estimate], name: str) -> Formatted:
    """One quantile of a set, or a dash."""
    return formatted(found[name]) if name in found else NOTHING


def comparison(result: RunResult, form: str) -> Table:
    """Two rows per contestant of one form of the starvation experiment: alone, and with the slow request."""
    chosen = [s for s in result.starvation if s.form == form]
    names = "contestant | fast requests | throughput | p50 | p99 | max | starvation index | blocking index"
    caption = chosen[0].title if chosen else form
    table = Table(caption, [*columns(names), "published", "verdict"], words=2)
    for s in chosen:
        _add_side(table, result, s, ALONE, s.alone_workload, s.alone, s.alone_response, s.published_alone)
        _add_side(
            table, result, s, WITH_SLOW, s.with_workload, s.with_slow, s.with_response, s.published_with
        )
    return table


def _add_side(
    table: Table,
    result: RunResult,
    s: Starvation,
    name: str,
    workload: str,
    throughput: Estimate,
    response: dict[str, Estimate],
    figure: PublishedFigure | None,
) -> None:
    summary = find_summary(result, s.contestant, workload)
    times = [estimate(response, q) for q in ("p50", "p99", "max")]
    index, blocking = (formatted(s.index), formatted(s.blocking)) if name == WITH_SLOW else ("", "")
    told = f"{figure.value:g} {figure.unit}" if figure else ""
    verdict = mark(summary.verdict) if summary else ""
    table.add(s.contestant, name, formatted(throughput), *times, index, blocking, told, verdict)


def summaries(result: RunResult, only: Iterable[WorkloadSummary] | None = None) -> Table:
    """Every workload on every contestant over all rounds."""
    names = "workload | contestant | verdict | throughput | p50 | p90 | p99 | p99.9 | max | failed"
    caption = "Every workload on every contestant, over all rounds"
    table = Table(caption, [*columns(names), "CPU per request", "memory"], words=3)
    for c in result.summaries if only is None else only:
        quantile = [estimate(c.response, q) for q in QUANTILES]
        cpu, memory = (
            formatted(c.server_cpu_s_per_request, fine=True),
            amount(c.server_rss_max_bytes, "bytes"),
        )
        about = (c.workload, c.contestant, mark(c.verdict), formatted(c.throughput))
        table.add(*about, *quantile, percent(c.error_share), cpu, memory)
    return table


def times(chosen: Iterable[WorkloadSummary]) -> Table:
    """Response and service times of cells and what these are made of, one row each."""
    table = Table("Response and service times", ["workload", "contestant", "time", *QUANTILES], words=3)
    for c in chosen:
        for kind, found in (("response", c.response), ("service", c.service)):
            table.add(c.workload, c.contestant, kind, *(estimate(found, q) for q in QUANTILES))
        for part, found in c.parts.items():
            table.add(c.workload, c.contestant, PARTS[part], *(estimate(found, q) for q in QUANTILES))
    return table


PARTS = {
    "connect": "connect (new connections)",
    "dns": "connect: name",
    "tcp": "connect: TCP",
    "tls": "connect: TLS",
    "headers": "sent to headers",
    "body": "headers to end",
}


def trials(result: RunResult, limit: int = 500) -> Table:
    """One row per trial, in the order in which they ran; at most `limit` of them."""
    more = f" (the first {limit}; the CSV export has all)" if len(result.trials) > limit else ""
    names = "no. | contestant | workload | round | verdict | trend | throughput | offered"
    table = Table(
        f"Every trial in the order in which it ran{more}",
        [*columns(names), "p50", "p99", "max", "failed", "generator CPU", "lag p99", "memory"],
        words=6,
    )
    for t in result.trials[:limit]:
        quantile = [estimate(t.response, q).value for q in ("p50", "p99", "max")]
        throughput, offered = amount(t.throughput_per_s, "/s"), amount(t.offered_per_s, "/s")
        generator = (percent(t.generator_cpu), amount(t.lag_p99_s, "s"))
        memory = amount(t.server_rss_max_bytes, "bytes")
        about = (str(t.number), t.contestant, t.workload, str(t.round), _ended(t), t.trend or MISSING)
        table.add(*about, throughput, offered, *quantile, percent(t.error_share), *generator, memory)
    return table


def _ended(t: TrialResult) -> str:
    if t.status == "ended":
        return mark(t.validity.verdict)
    return f"{Verdict.INVALID.symbol} {t.status}" + (f": {t.reason}" if t.reason else "")


def requirements(result: RunResult) -> Table:
    """What the plan requires, and whether it holds: what fails first."""
    names = columns("result | requirement | contestant | workload | measured, with the interval that decides")
    table = Table("Requirements of the plan", names, words=5)
    order: dict[Decision, int] = {"fail": 0, "cannot tell": 1, "pass": 2}
    for r in sorted(result.requirements, key=lambda r: order[r.verdict]):
        sure = f"{r.that} (with {r.confidence * 100:g} % confidence)"
        table.add(outcome_mark(r.verdict), sure, r.contestant or "all", r.workload or "all", r.message)
    return table


def outcome_mark(verdict: Decision) -> str:
    """An outcome as symbol and word."""
    return f"{OUTCOME_SYMBOL[verdict]}\N{NO-BREAK SPACE}{verdict}"


def differences(c: Comparison) -> Table:
    """A row per quantity of two contestants."""
    caption = f"{c.title}: {c.b} against {c.a}"
    table = Table(caption, ["quantity", "finding", c.a, c.b, "difference", "ratio"], words=2)
    for d in c.differences:
        ratio = NOTHING if d.quantity == "errors" else formatted(d.ratio)
        finding = f"no more than {percent(d.within)} apart" if d.finding == "same" else FINDING[d.finding]
        sides = percent(d.a.value), percent(d.b.value)
        if d.quantity == "errors":
            table.add(d.quantity, finding, *sides, _points(d.difference), ratio)
        else:
            table.add(d.quantity, finding, formatted(d.a), formatted(d.b), formatted(d.difference), ratio)
    delta = Formatted(
        formatted(c.cliffs_delta).value, formatted(c.cliffs_delta).interval, c.cliffs_delta.note
    )
    table.add("Cliff's delta", size_of_effect(c.cliffs_delta) or FINDING["unclear"], "", "", delta, "")
    return table


def _points(e: Estimate) -> Formatted:
    """A difference of shares, in percentage points."""
    if e.value is None:
        return Formatted(MISSING, "", e.note)
    value, _, ends = points(e.value, e.low, e.high).partition(" [")
    return Formatted(value, f"[{ends}" if ends else "", e.note)


def shift(c: Comparison) -> Table:
    """The table behind the picture of a shift function."""
    names = ["quantile", c.a, c.b, "difference", "simultaneous band"]
    table = Table(f"Quantile by quantile: {c.b} against {c.a}", names)
    s = c.shift
    for p, a, b, d, low, high in zip(s.p, s.a_s, s.b_s, s.difference_s, s.low_s, s.high_s, strict=True):
        band = f"{amount(low, 's')} to {amount(high, 's')}" if low is not None else MISSING
        table.add(f"{p * 100:g} %", *(amount(v, "s") for v in (a, b, d)), band)
    return table


def outcomes(result: RunResult) -> Table:
    """How often each kind of end came, for every cell; only kinds that came at all have a column."""
    kinds = list(dict.fromkeys(k for c in result.summaries for k in c.outcomes))
    table = Table(
        "How the requests ended",
        ["workload", "contestant", *(outcome_label(k) for k in kinds), "not as expected"],
        words=2,
    )
    for c in result.summaries:
        counts = [amount(c.outcomes.get(k, 0), "count") + details(c, k) for k in kinds]
        table.add(c.workload, c.contestant, *counts, percent(c.error_share))
    return table


def failed_checks(result: RunResult) -> Table:
    """The checks that failed, worst first: a row per check, contestant and workload, with its worst trial."""
    grouped: dict[tuple[str, str, str], list[tuple[Check, int]]] = {}
    for trial in result.trials:
        for check in trial.validity.checks:
            if check.verdict is not Verdict.VALID:
                key = (check.name, trial.contestant, trial.workload)
                grouped.setdefault(key, []).append((check, trial.number))
    names = (
        "verdict | check | contestant | workload | trials | measured | allowed | what it means | what to do"
    )
    table = Table("Checks that failed", columns(names), words=9)
    worst = [(max(found, key=lambda c: c[0].verdict.rank)[0], key, found) for key, found in grouped.items()]
    for check, key, found in sorted(worst, key=lambda w: -w[0].verdict.rank):
        numbers = _numbers([number for _, number in found])
        measured, allowed = check_value(check, check.value), check_value(check, check.threshold)
        table.add(mark(check.verdict), *key, numbers, measured, allowed, check.message, check.remedy)
    return table


def _numbers(numbers: list[int]) -> str:
    text = ", ".join(str(n) for n in numbers[:6])
    return text if len(numbers) <= 6 else f"{text} and {len(numbers) - 6} more"


def checks(result: RunResult) -> Table:
    """Every kind of check: how many trials passed it, and the largest value of its worst verdict."""
    table = Table("All checks", columns("check | valid | suspect | invalid | largest value | allowed"))
    by_name: dict[str, list[Check]] = {}
    for trial in result.trials:
        for check in trial.validity.checks:
            by_name.setdefault(check.name, []).append(check)
    for name, found in by_name.items():
        counts = [str(sum(c.verdict == v for c in found)) for v in Verdict]
        largest = max(found, key=lambda c: (c.verdict.rank, abs(c.value or 0)))
        table.add(name, *counts, check_value(largest, largest.value), check_value(largest, largest.threshold))
    return table


def quantiles(view: View) -> Table:
    """The table behind a picture of distributions."""
    names = list(dict.fromkeys(q for p in view.panels for s in p.series for q in s.response))
    caption = f"Response times: {view.title}"
    table = Table(caption, ["contestant", "requests", "n", "mean", *names], words=2)
    for panel in view.panels:
        for s in panel.series:
            size, mean = amount(s.distribution.n, "count"), amount(s.distribution.mean_s, "s")
            table.add(panel.contestant, s.name, size, mean, *(estimate(s.response, q) for q in names))
    return table


def requests(result: RunResult) -> Table:
    """Per request name, where a workload has more than one."""
    names = columns("trial | contestant | workload | request | requests | p50 | p99 | max")
    table = Table("By request name", names, words=4)
    for t in result.trials:
        for r in t.requests if len(t.requests) > 1 else []:
            found = r.get("response", {})
            figures = [_any_estimate(found.get(q)) for q in ("p50", "p99", "max")]
            total = amount(sum(r.get("outcomes", {}).values()), "count")
            table.add(str(t.number), t.contestant, t.workload, str(r.get("name", "")), total, *figures)
    return table


def _any_estimate(value: Estimate | float | None) -> Formatted:
    """Per-name quantiles come as estimates or as plain seconds."""
    return formatted(value) if isinstance(value, Estimate) else Formatted(amount(value, "s"), "", "")


def host(result: RunResult) -> Table:
    """The machine, the versions and the servers, one fact per row."""
    table = Table("Host, versions and servers", ["fact", "value"], words=2)
    for key, value in result.host.items():
        if key.endswith("_bytes") and isinstance(value, int | float):
            table.add(key.removesuffix("_bytes").replace("_", " "), amount(value, "bytes"))
        elif key not in ("format", "seed", "floor"):  # the floor stands among the notes
            table.add(key.replace("_", " "), _plain(value))
    for label, about in result.contestants.items():
        table.add(f"contestant {label}", _plain({k: v for k, v in about.items() if v}))
    table.add("seed", str(result.seed))
    return table


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{k.replace('_', ' ')}: {_plain(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return " ".join(_plain(v) for v in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)

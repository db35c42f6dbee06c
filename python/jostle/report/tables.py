"""The tables of a report, as text: the same ones on the page, in Markdown and behind every picture."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from jostle.analysis.result import Cell, Check, Estimate, RunResult, Starvation, TrialResult, Verdict
from jostle.report.text import SYMBOL, Shown, amount, check_value, percent, published, shown
from jostle.report.views import ALONE, WITH_SLOW, View, find_cell

__all__ = [
    "Table",
    "cells",
    "checks",
    "comparison",
    "failed_checks",
    "host",
    "outcomes",
    "quantiles",
    "requests",
    "times",
    "trials",
]

RANK: dict[Verdict, int] = {"invalid": 0, "suspect": 1, "valid": 2}
NOTHING = Shown("–", "", "")


@dataclass(frozen=True)
class Table:
    """Columns and rows of equal length. `words` is how many leading columns hold names; the rest are figures."""

    caption: str
    columns: list[str]
    rows: list[list[str | Shown]] = field(default_factory=list)
    words: int = 1


def mark(verdict: Verdict) -> str:
    """A verdict as symbol and word, so that it needs no colour."""
    return f"{SYMBOL[verdict]}\N{NO-BREAK SPACE}{verdict}"


def estimate(found: dict[str, Estimate], name: str) -> Shown:
    """One quantile of a set, or a dash."""
    return shown(found[name]) if name in found else NOTHING


def comparison(result: RunResult, form: str) -> Table:
    """Two rows for each contestant of one form of the starvation experiment: alone, and with the slow request."""
    chosen = [s for s in result.starvation if s.form == form]
    table = Table(
        chosen[0].title if chosen else form,
        ["contestant", "fast requests", "throughput", "p50", "p99", "max", "starvation index", "blocking index"]
        + ["published", "verdict"],
        words=2,
    )
    for s in chosen:
        for name, workload, throughput, response in (
            (ALONE, s.alone_workload, s.alone, s.alone_response),
            (WITH_SLOW, s.with_workload, s.with_slow, s.with_response),
        ):
            cell = find_cell(result, s.contestant, workload)
            figures: list[str | Shown] = [estimate(response, q) for q in ("p50", "p99", "max")]
            indices: list[str | Shown] = [shown(s.index), shown(s.blocking)] if name == WITH_SLOW else ["", ""]
            figure = s.published_alone if name == ALONE else s.published_with
            told = f"{figure.value:g} {figure.unit}" if figure else ""
            verdict = mark(cell.verdict) if cell else ""
            table.rows.append([s.contestant, name, shown(throughput), *figures, *indices, told, verdict])
    return table


def published_pair(s: Starvation) -> str:
    """The published figures of one contestant in one line; empty where there are none."""
    return published(s.published_alone, s.published_with)


def cells(result: RunResult, only: Iterable[Cell] | None = None) -> Table:
    """Every workload on every contestant over all rounds."""
    table = Table(
        "Every workload on every contestant, over all rounds",
        ["workload", "contestant", "verdict", "throughput", "p50", "p90", "p99", "p99.9", "max", "failed"]
        + ["CPU per request", "memory"],
        words=3,
    )
    for c in result.cells if only is None else only:
        quantile = [estimate(c.response, q) for q in ("p50", "p90", "p99", "p99.9", "max")]
        table.rows.append(
            [c.workload, c.contestant, mark(c.verdict), shown(c.throughput), *quantile, percent(c.error_share)]
            + [shown(c.server_cpu_s_per_request), amount(c.server_rss_max_bytes, "bytes")]
        )
    return table


def times(chosen: Iterable[Cell]) -> Table:
    """Response and service times of cells, one row each."""
    names = ("p50", "p90", "p99", "p99.9", "max")
    table = Table("Response and service times", ["workload", "contestant", "time", *names], words=3)
    for c in chosen:
        for kind, found in (("response", c.response), ("service", c.service)):
            table.rows.append([c.workload, c.contestant, kind, *(estimate(found, q) for q in names)])
    return table


def trials(result: RunResult, limit: int = 2000) -> Table:
    """One row per trial, in the order in which they ran; at most `limit` of them."""
    table = Table(
        "Every trial in the order in which it ran"
        + (f" (the first {limit}; the CSV export has all)" if len(result.trials) > limit else ""),
        ["no.", "contestant", "workload", "round", "verdict", "throughput", "offered", "p50", "p99", "max", "failed"]
        + ["generator CPU", "lag p99", "memory"],
        words=5,
    )
    for t in result.trials[:limit]:
        quantile = [Shown(estimate(t.response, q).value, "", "") for q in ("p50", "p99", "max")]
        table.rows.append(
            [str(t.number), t.contestant, t.workload, str(t.round), _ended(t)]
            + [amount(t.throughput_per_s, "/s"), amount(t.offered_per_s, "/s"), *quantile, percent(t.error_share)]
            + [percent(t.generator_cpu), amount(t.lag_p99_s, "s"), amount(t.server_rss_max_bytes, "bytes")]
        )
    return table


def _ended(t: TrialResult) -> str:
    if t.status == "ended":
        return mark(t.validity.verdict)
    return f"{SYMBOL['invalid']} {t.status}" + (f": {t.why}" if t.why else "")


def outcomes(result: RunResult) -> Table:
    """How often each kind of end came, for every cell; only kinds that came at all have a column."""
    kinds = list(dict.fromkeys(k for c in result.cells for k in c.outcomes))
    table = Table("How the requests ended", ["workload", "contestant", *kinds, "not as expected"], words=2)
    for c in result.cells:
        counts = [amount(c.outcomes.get(k, 0), "") for k in kinds]
        table.rows.append([c.workload, c.contestant, *counts, percent(c.error_share)])
    return table


def failed_checks(result: RunResult) -> Table:
    """The checks that failed, worst first: one row per check, contestant and workload, with its worst trial."""
    grouped: dict[tuple[str, str, str], list[tuple[TrialResult, Check]]] = {}
    for trial in result.trials:
        for check in trial.validity.checks:
            if check.verdict != "valid":
                grouped.setdefault((check.name, trial.contestant, trial.workload), []).append((trial, check))
    table = Table(
        "Checks that failed",
        ["verdict", "check", "contestant", "workload", "trials", "measured", "allowed", "what it means", "what to do"],
        words=9,
    )
    worst = [
        (min(found, key=lambda tc: RANK[tc[1].verdict]), key, [t.number for t, _ in found])
        for key, found in grouped.items()
    ]
    for (_, check), (name, contestant, workload), numbers in sorted(worst, key=lambda w: RANK[w[0][1].verdict]):
        table.rows.append(
            [mark(check.verdict), name, contestant, workload, _numbers(numbers), check_value(check, check.value)]
            + [check_value(check, check.threshold), check.says, check.remedy]
        )
    return table


def _numbers(numbers: list[int]) -> str:
    text = ", ".join(str(n) for n in numbers[:6])
    return text if len(numbers) <= 6 else f"{text} and {len(numbers) - 6} more"


def checks(result: RunResult) -> Table:
    """Every kind of check: how many trials passed it, and the value farthest on the wrong side of its verdict."""
    table = Table("All checks", ["check", "valid", "suspect", "invalid", "largest value", "allowed"], words=1)
    by_name: dict[str, list[Check]] = {}
    for trial in result.trials:
        for check in trial.validity.checks:
            by_name.setdefault(check.name, []).append(check)
    for name, found in by_name.items():
        counts: list[str | Shown] = [str(sum(c.verdict == v for c in found)) for v in ("valid", "suspect", "invalid")]
        largest = max(found, key=lambda c: (-RANK[c.verdict], abs(c.value or 0)))
        table.rows.append(
            [name, *counts, check_value(largest, largest.value), check_value(largest, largest.threshold)]
        )
    return table


def quantiles(view: View) -> Table:
    """The table behind a picture of distributions."""
    names = list(dict.fromkeys(q for p in view.panels for s in p.series for q in s.response))
    table = Table(f"Response times: {view.title}", ["contestant", "requests", "n", "mean", *names], words=2)
    for panel in view.panels:
        for s in panel.series:
            mean = amount(s.distribution.mean_s, "s")
            figures = [estimate(s.response, q) for q in names]
            table.rows.append([panel.contestant, s.name, amount(s.distribution.n, ""), mean, *figures])
    return table


def requests(result: RunResult) -> Table:
    """Per request name, where a workload has more than one."""
    table = Table(
        "By request name", ["trial", "contestant", "workload", "request", "requests", "p50", "p99", "max"], words=4
    )
    for t in result.trials:
        for r in t.requests if len(t.requests) > 1 else []:
            found = r.get("response", {})
            figures = [_any_estimate(found.get(q)) for q in ("p50", "p99", "max")]
            total = amount(sum(r.get("outcomes", {}).values()), "")
            table.rows.append([str(t.number), t.contestant, t.workload, str(r.get("name", "")), total, *figures])
    return table


def _any_estimate(value: Estimate | dict[str, object] | float | None) -> Shown:
    """Per-name quantiles come as estimates, as their dictionaries (read back from JSON) or as seconds."""
    if isinstance(value, Estimate):
        return shown(value)
    if isinstance(value, dict):
        return shown(Estimate(**value))  # type: ignore[arg-type]
    return Shown(amount(value, "s"), "", "")


def host(result: RunResult) -> Table:
    """The machine, the versions and the servers, one fact per row."""
    facts: list[list[str | Shown]] = []
    for key, value in result.host.items():
        if key == "format":
            continue
        if key.endswith("_bytes") and isinstance(value, int | float):
            facts.append([key.removesuffix("_bytes").replace("_", " "), amount(value, "bytes")])
        else:
            facts.append([key.replace("_", " "), _plain(value)])
    for label, about in result.contestants.items():
        facts.append([f"contestant {label}", _plain({k: v for k, v in about.items() if v})])
    return Table("Host, versions and servers", ["fact", "value"], [*facts, ["seed", str(result.seed)]], words=2)


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{k.replace('_', ' ')}: {_plain(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return " ".join(_plain(v) for v in value)
    return str(value)

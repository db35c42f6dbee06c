"""What several sections say about a workload: its quantiles, its load, and how its requests ended."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from jostle import units
from jostle.analysis.results import Distribution, Estimate, PublishedFigure, WorkloadSummary
from jostle.errors import BadValue
from jostle.formatting import Formatted, amount, formatted, percent, plural, tallied
from jostle.plan.criteria.claims import in_base_unit
from jostle.quantiles import LEVELS
from jostle.record.outcomes import CENSORED, Outcome, outcome_label
from jostle.report.document import NOTHING
from jostle.text import one_line

__all__ = [
    "NOT_OK",
    "REQUEST_COLUMNS",
    "TIMES",
    "as_published",
    "as_written",
    "describe_load",
    "describe_outcomes",
    "moment",
    "not_answered",
    "not_as_expected",
    "published_per_s",
    "quantile_of_all",
    "quantiles",
    "span",
    "statuses_in_words",
    "unanswered",
    "unanswered_label",
]

NOT_OK = "not ok"
"""The name of the share that `unanswered` returns, of all kinds: failed, wrong, given up, cut off."""

TIMES = ("mean", *LEVELS, "max")
"""The times that tables show of a workload."""


REQUEST_COLUMNS = "requests = | throughput = per s | p50 = | p95 = | p99 = | longest = | failed ="
"""The columns of figures that tables of requests and of steps have."""


def quantiles(found: Mapping[str, Estimate], names: Iterable[str] = TIMES) -> list[Formatted]:
    """The named quantiles of a set of times, with a dash for those that are missing."""
    return [formatted(found[name]) if name in found else NOTHING for name in names]


def span(found: Iterable[Distribution]) -> tuple[float, float]:
    """The shortest and the longest time in seconds, far enough apart for a logarithmic axis."""
    known = [(d.min_s, d.max_s) for d in found if d.min_s is not None and d.max_s is not None]
    low = max(min((low for low, _ in known), default=1e-3), 1e-6)
    return low, max(max((high for _, high in known), default=1.0), low * 1.05)


def unanswered(outcomes: Mapping[str, int]) -> float:
    """The share of requests that distributions of times do not contain: not answered, or not as expected."""
    total = sum(outcomes.values())
    return 1 - outcomes.get(Outcome.OK, 0) / total if total else 0.0


def not_answered(outcomes: Mapping[str, int]) -> float:
    """The share of all requests that were given up or cut off without a response; 0 if there were none."""
    total = sum(outcomes.values())
    return sum(n for kind, n in outcomes.items() if kind in CENSORED) / total if total else 0.0


def unanswered_label(outcomes: Mapping[str, int]) -> str:
    """The result of `unanswered` in words: "92 % not answered", or with other failures "8 % failed or not
    answered".
    """
    missing = sum(outcomes.values()) - outcomes.get(Outcome.OK, 0)
    censored = sum(n for kind, n in outcomes.items() if kind in CENSORED)
    if missing == 0:
        return ""
    word = "not answered" if censored == missing else "failed" if censored == 0 else "failed or not answered"
    return f"{percent(unanswered(outcomes))} {word}"


def quantile_of_all(found: Distribution, p: float) -> float | None:
    """A quantile of all requests, including those given up; None if it lies beyond the responses."""
    curve = list(zip(found.quantile_p, found.quantile_s, strict=True))
    if not curve or p > curve[-1][0]:
        return None
    below = max((point for point in curve if point[0] <= p), default=curve[0])
    above = min((point for point in curve if point[0] >= p), default=curve[-1])
    if above[0] == below[0]:
        return below[1]
    return below[1] + (above[1] - below[1]) * (p - below[0]) / (above[0] - below[0])


def describe_outcomes(summary: WorkloadSummary) -> str:
    """How often each outcome occurred: "2,016 ok (1,900 × 200, 116 × 302), 4 wrong status (4 × 503)". Failed
    scripts, which are not outcomes of requests, come last.
    """
    outcomes = dict(summary.outcomes)
    if scripts := summary.failures.get(Outcome.SCRIPT_FAILED):
        outcomes[Outcome.SCRIPT_FAILED] = sum(scripts.values())
    counts = [
        f"{amount(n, 'count')} {outcome_label(kind)}{_texts(summary, kind)}" for kind, n in outcomes.items()
    ]
    return ", ".join(counts or ["none"])


def _texts(summary: WorkloadSummary, kind: str) -> str:
    ok = kind == Outcome.OK
    found = statuses_in_words(summary.all_statuses) if ok else tallied(summary.failures.get(kind, {}))
    return f" ({found})" if found else ""


def statuses_in_words(statuses: Mapping[str, int]) -> str:
    """The statuses of right responses, "1,900 × 200, 116 × 302"; "" if all are the same, and no redirects."""
    mixed = len(statuses) > 1 or any(status >= "300" for status in statuses)
    return tallied(statuses) if mixed else ""


def not_as_expected(outcomes: Mapping[str, int]) -> str:
    """What did not end as expected: "7 × wrong status, 2 × reset"; "" if nothing."""
    return tallied({outcome_label(kind): n for kind, n in outcomes.items() if kind != Outcome.OK})


def as_published(figure: PublishedFigure | None) -> str:
    """A figure as its author wrote it: "114 requests/5 s"; "" for None."""
    if figure is None:
        return ""
    return one_line(f"{as_written(figure.value)} {figure.unit}".rstrip())


def as_written(value: float) -> str:
    """A number as its author wrote it, with all of its digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def published_per_s(figure: PublishedFigure | None) -> float | None:
    """A published throughput per second; None if its unit is not a rate."""
    return None if figure is None else in_base_unit(figure.value, figure.unit, "throughput")


def moment(started: str) -> str:
    """An ISO 8601 time as people write it: "21 Nov 2026, 18:52 UTC"."""
    try:
        found = datetime.fromisoformat(started)
    except ValueError:
        return "at an unknown time"
    zone = one_line(found.tzname() or "")
    return f"{found.day} {found:%b %Y, %H:%M} {zone}".rstrip()


def _stated(rate: str) -> str:
    """A plan's rate, for readers: "5,000,000/s", "57.25/s", "0.1667/s"."""
    try:
        per_s = units.rate(rate)
    except BadValue:
        return rate  # from a plan of another version
    return f"{round(per_s, 4):,.10g}/s" if per_s >= 0.01 else f"{per_s:.3g}/s"


def describe_load(load: Mapping[str, Any], connection: Mapping[str, Any] = {}) -> str:
    """A plan's `load` in words: "10 clients for 10s", "2,000/s (poisson arrivals) for 10s".

    `connection`: the plan's `connection`, for "10 clients over 2 HTTP/2 connections for 10s".
    """
    if "clients" in load:
        who = plural(load["clients"], "client")
        who += f", thinking {load['think']}" if load.get("think", "0s") != "0s" else ""
    elif "rate" in load and isinstance(load.get("arrivals", ""), str):
        who = f"{_stated(load['rate'])} ({load.get('arrivals', 'poisson')} arrivals)"
    else:
        return ""
    if (http2 := connection.get("http2")) is not None:
        shared = http2.get("connections")
        who += " over HTTP/2" if shared is None else f" over {plural(shared, 'HTTP/2 connection')}"
    nouns = {"requests": "request", "iterations": "journey"}
    counted = {key: noun for key, noun in nouns.items() if key in load}
    ends = [
        *(plural(load[key], noun) for key, noun in counted.items()),
        f"{'at most' if counted else 'for'} {load['for']}" if "for" in load else "",
    ]
    return ", ".join(filter(None, [who, *ends])).replace(", for ", " for ")

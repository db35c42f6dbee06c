"""Which figures a check can affect, by their names in plans, and how a reader knows them."""

from collections.abc import Collection, Iterable, Mapping

from jostle.analysis.results import Validity
from jostle.formatting import listed
from jostle.plan.criteria.metrics import BLOCKING, METRICS, STARVATION
from jostle.quantiles import NAMED
from jostle.record.verdict import Verdict, worst

__all__ = [
    "COMPOSED",
    "NOT_SHOWN",
    "RATES",
    "RESPONSE_TIMES",
    "SERVICE_TIMES",
    "TIMES",
    "disturbed_figures",
    "named",
    "quantiles_among",
    "verdicts_of_figures",
]

RESPONSE_TIMES = (
    *("min", *NAMED, "max", "mean"),
    *("spread", "quartile spread", BLOCKING),
)
"""Figures of the times from the intended start."""

SERVICE_TIMES = tuple(name for name in METRICS if name.startswith("service "))
"""Figures of the times from the actual send."""

TIMES = (*RESPONSE_TIMES, *SERVICE_TIMES, "time to headers", "time per thread")

RATES = ("throughput", "goodput", "sustained throughput", "dispersion", STARVATION)

COMPOSED: Mapping[str, tuple[str, ...]] = {
    "spread": ("p5", "p50", "p95"),
    "quartile spread": ("p25", "p50", "p75"),
    BLOCKING: ("p99",),
    "min": ("p5",),
}
"""Figures that are computed from others, or are affected if these are."""

SHOWN = {
    "p50": "p50",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p99.9": "p99.9",
    "max": "the longest",
    "mean": "the mean",
}
"""The single times that tables show, with their names for a reader."""


NOT_SHOWN = {"min": "the shortest response time"}
"""Those of the others that have another name for a reader."""


def quantiles_among(share: float) -> list[str]:
    """The quantiles that may lie among this share of the requests, if these are the slowest."""
    return [name for name, p in NAMED.items() if 1 - p <= share]


def verdicts_of_figures(trials: Iterable[Validity]) -> dict[str, Verdict]:
    """The verdict on each figure of these trials together; empty if all failed checks affect all figures."""
    trials = list(trials)
    failed = (c for trial in trials for c in trial.checks if c.verdict is not Verdict.VALID)
    if not any(check.affects or check.spares for check in failed):
        return {}
    return {figure: worst(trial.verdict_of(figure) for trial in trials) for figure in METRICS}


def disturbed_figures(trials: Iterable[Validity]) -> list[str]:
    """The figures that are in doubt, and so disturbed in some trial that it was worth measuring it again."""
    again = [c for trial in trials for c in trial.checks if c.again and c.verdict is not Verdict.VALID]
    return [figure for figure in METRICS if any(check.touches(figure) for check in again)]


def named(figures: Collection[str]) -> str:
    """For a reader: "p99 and the longest", "throughput and response times"."""
    kinds = {"response times": RESPONSE_TIMES, "service times": SERVICE_TIMES}
    groups = {"throughput": RATES, **({"all times": TIMES} if set(TIMES) <= set(figures) else kinds)}
    whole = [name for name, group in groups.items() if set(group) <= set(figures)]
    grouped = {figure for name in whole for figure in groups[name]}
    single = [figure for figure in figures if figure not in grouped]
    shown = [SHOWN[figure] for figure in SHOWN if figure in single]
    others = [figure for figure in single if figure not in RESPONSE_TIMES]
    return listed([*whole, *shown, *others] or [NOT_SHOWN.get(figure, figure) for figure in single])

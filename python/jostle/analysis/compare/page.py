"""All comparisons of a page together: a reported difference must exceed what so many would show by chance.

One metric of each workload is the primary one, which decides by its own interval; if there are many
workloads, they share its level. All other metrics are judged together, so that at most one in twenty of
the differences reported in them is chance. A page of a single workload has so few metrics that their
intervals are enough. Source: Benjamini and Hochberg, Journal of the Royal Statistical Society B 57 (1995).
"""

from collections.abc import Sequence
from dataclasses import replace

from jostle.analysis.compare.sentences import in_words, summary
from jostle.analysis.results import Comparison, Difference
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.formatting import listed, percent
from jostle.record.verdict import Verdict

__all__ = ["beyond_chance", "by_chance"]

LEVEL = 1 - CONFIDENCE

FREE = 0.08
"""False findings in primary metrics that a page may have on average if nothing differs."""


def beyond_chance(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons, with those findings withdrawn that so many of them would show by chance."""
    workloads = len({c.workload for c in comparisons})
    if workloads < 2:
        return list(comparisons)
    tested = _tested(comparisons)
    limit = _largest_reported([p for c, d, p in tested if d.metric != c.primary])
    alone = min(LEVEL, FREE / workloads)

    def judged(c: Comparison, d: Difference) -> Difference:
        chance, allowed = (d.p_of_all, alone) if d.metric == c.primary else (d.p, limit)
        if d.finding not in ("less", "more") or chance is None or chance <= allowed:
            return d
        taken_back = replace(d, finding="may be chance")
        return replace(taken_back, sentence=in_words(taken_back, c.a, c.b, tested=len(tested)))

    found = [replace(c, differences=[judged(c, d) for d in c.differences]) for c in comparisons]
    return [replace(c, sentence=summary(c)) for c in found]


def _tested(comparisons: Sequence[Comparison]) -> list[tuple[Comparison, Difference, float]]:
    """The differences that count, with their p; invalid figures prove nothing."""
    return [
        (c, d, d.p)
        for c in comparisons
        for d in c.differences
        if d.p is not None and d.verdict is not Verdict.INVALID
    ]


def _largest_reported(ps: Sequence[float]) -> float:
    """The largest p with which a difference is reported; 0 if none is."""
    ordered = sorted(ps)
    differing = [p for rank, p in enumerate(ordered, 1) if p <= LEVEL * rank / len(ordered)]
    return max(differing, default=0.0)


def by_chance(comparisons: Sequence[Comparison]) -> str:
    """How many of a page's findings may be chance, in a sentence; "" if nothing was compared."""
    tested = _tested(comparisons)
    if not tested:
        return ""
    differing = sum(d.finding in ("less", "more") for _, d, _ in tested)
    families = {(c.workload, d.metric) for c, d, _ in tested}
    compared = f"{len(tested)} rates and quantiles that could be compared on this page"
    sentence = f"Of {compared}, {differing} differ."
    if len({c.workload for c in comparisons}) < 2:
        expected = len(families) * LEVEL
        return f"{sentence} If the servers were equal, about {expected:.1g} would still differ by chance."
    primary = {(c.workload, d.metric) for c, d, _ in tested if d.metric == c.primary}
    names = sorted({metric for _, metric in primary})
    if not names:
        return f"{sentence} Of the differences, expect at most one in twenty to be chance."
    noun = "metric" if len(names) == 1 else "metrics"
    expected = min(FREE, len(primary) * LEVEL)
    return (
        f"{sentence} The primary {noun} of the comparisons {'is' if len(names) == 1 else 'are'} "
        f"{listed(names)}. If the servers were equal, a page like this would show a difference in "
        f"{'it' if len(names) == 1 else 'any of them'} with a probability of at most {percent(expected)}. Of "
        "the differences in other metrics, expect at most one in twenty to be chance."
    )

"""What a plan compares: the trials that lie next to one another in a round."""

import itertools
from collections.abc import Collection, Iterator, Sequence

from jostle.plan import Plan
from jostle.plan.labels import meant

__all__ = ["Pair", "compared"]

Pair = tuple[str, str]
"""A contestant and a workload."""


def compared(plan: Plan, cells: Collection[Pair]) -> set[frozenset[Pair]]:
    """Those of `cells` whose figures the plan's claims, ratios and `[[starvation]]` set against each other. A
    plan that has none of these compares contestants under the same workload."""
    contestants = list(dict.fromkeys(contestant for contestant, _ in cells))
    asked = {frozenset(pair) for pair in _asked(plan, contestants) if {*pair} <= {*cells}}
    return asked or {
        frozenset(pair) for pair in itertools.combinations(cells, 2) if len({load for _, load in pair}) == 1
    }


def _asked(plan: Plan, contestants: Sequence[str]) -> Iterator[tuple[Pair, Pair]]:
    for part in (part for claim in plan.claim for part in claim.holds):
        if part.against is not None:
            names = part.contestant, part.against.contestant or part.contestant
            workloads = part.workload, part.against.workload or part.workload
            for left, right in itertools.product(*(meant(name, contestants) for name in names)):
                yield (left, workloads[0]), (right, workloads[1])
    for contestant in contestants:
        for ratio in plan.ratio:
            yield (contestant, ratio.workload), (contestant, ratio.against)
        for form in plan.starvation:
            yield (contestant, form.alone), (contestant, form.with_)

"""What a plan compares: the trials that should be next to one another in a round."""

import itertools
from collections.abc import Collection, Iterator, Sequence

from jostle.analysis.results.keys import Key
from jostle.plan import Plan
from jostle.plan.labels import resolve_label

__all__ = ["compared"]


def compared(plan: Plan, cells: Collection[Key]) -> set[frozenset[Key]]:
    """The pairs of `cells` that the plan compares in claims, ratios, `[[starvation]]` and requirements.

    A plan with none of these compares contestants under the same workload.
    """
    taking_part = set(cells)
    contestants = list(dict.fromkeys(contestant for contestant, _ in cells))
    wanted = {frozenset(pair) for pair in _pairs_of(plan, contestants) if taking_part.issuperset(pair)}
    return {pair for pair in wanted if len(pair) == 2} or set(_under_one_workload(cells))


def _pairs_of(plan: Plan, contestants: Sequence[str]) -> Iterator[tuple[Key, ...]]:
    for part in (part for claim in plan.claim for part in claim.holds):
        yield from itertools.product(
            *(
                [(name, workload) for name in resolve_label(side, contestants)]
                for side, workload, _ in part.sides
            )
        )
    for require in (one for one in plan.require if one.of_difference):
        for first in resolve_label(require.against or plan.contestants[0], contestants):
            for other, workload in itertools.product(contestants, plan.workload):
                yield (first, workload), (other, workload)
    for contestant in contestants:
        for ratio in plan.ratio:
            yield (contestant, ratio.workload), (contestant, ratio.against)
        for form in plan.starvation:
            yield (contestant, form.alone), (contestant, form.with_)


def _under_one_workload(cells: Collection[Key]) -> Iterator[frozenset[Key]]:
    under: dict[str, list[Key]] = {}
    for cell in cells:
        under.setdefault(cell[1], []).append(cell)
    for beside in under.values():
        yield from map(frozenset, itertools.combinations(beside, 2))

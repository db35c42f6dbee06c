"""Published figures, and whose they are."""

from collections.abc import Iterable, Sequence

from jostle.analysis.results import PublishedFigure
from jostle.plan.labels import meant

__all__ = ["figure", "figures_of"]


def figures_of(
    contestant: str, published: Sequence[PublishedFigure], contestants: Iterable[str]
) -> list[PublishedFigure]:
    """The figures that are about one of the `contestants` of a run; what names this very one comes first."""
    known = list(contestants)
    own = [f for f in published if contestant in meant(f.contestant, known)]
    return sorted(own, key=lambda f: f.contestant != contestant)


def figure(own: Sequence[PublishedFigure], workload: str, quantity: str) -> PublishedFigure | None:
    """The first of a contestant's figures for a quantity under a workload; None where none was published."""
    return next((f for f in own if (f.workload, f.quantity) == (workload, quantity)), None)

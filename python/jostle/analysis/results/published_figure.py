"""The published figure that belongs beside a measured one."""

from collections.abc import Sequence

from jostle.analysis.results import PublishedFigure

__all__ = ["figure"]


def figure(
    published: Sequence[PublishedFigure], contestant: str, workload: str, metric: str
) -> PublishedFigure | None:
    """The published figure for a measured contestant; None if there is none."""
    about = (contestant, workload, metric)
    return next((f for f in published if (f.beside, f.workload, f.metric) == about), None)

"""The published figure that stands beside a measured one."""

from collections.abc import Sequence

from jostle.analysis.results import PublishedFigure

__all__ = ["figure"]


def figure(
    published: Sequence[PublishedFigure], contestant: str, workload: str, quantity: str
) -> PublishedFigure | None:
    """Of a measured contestant; None where none was published of it."""
    about = (contestant, workload, quantity)
    return next((f for f in published if (f.beside, f.workload, f.quantity) == about), None)

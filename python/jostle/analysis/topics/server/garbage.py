"""Garbage collection, as a server's runtime reports it: its share of the time, and how often it happens.

The time reported is that in which the program stood still; what a runtime collects concurrently is part of
its CPU time.
"""

from collections.abc import Mapping, Sequence

from jostle.analysis.results import Garbage
from jostle.analysis.results.keys import Key
from jostle.analysis.stats.over_rounds import mean_over_rounds
from jostle.analysis.trials.data import TrialData

__all__ = ["garbage_collection", "garbage_collections"]


def garbage_collection(data: TrialData) -> float | None:
    """Its share of the load's time, 0 to 1; None if the server does not report it."""
    reported = data.trial.garbage
    return min(1.0, reported["seconds"] / data.duration_s) if reported and data.duration_s else None


def garbage_collections(grouped: Mapping[Key, Sequence[TrialData]]) -> list[Garbage]:
    """A row for each cell whose server reports it."""
    found = []
    for (contestant, workload), group in grouped.items():
        reported = [data for data in group if data.usable and garbage_collection(data) is not None]
        if reported:
            shares = [share for data in reported if (share := garbage_collection(data)) is not None]
            often = [each for data in reported if (each := _per_1000(data)) is not None]
            found.append(
                Garbage(
                    contestant,
                    workload,
                    mean_over_rounds(shares, "share"),
                    mean_over_rounds(often, ""),
                )
            )
    return found


def _per_1000(data: TrialData) -> float | None:
    reported = data.trial.garbage
    return 1000 * reported["collections"] / data.ok() if reported and data.ok() else None

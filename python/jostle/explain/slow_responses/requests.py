"""The requests of a light stream, or of a recorded run, and which of them were late."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.analysis.stats.sample import Bools, Floats, Ints

__all__ = ["BEFORE_S", "LONGER_S", "Requests", "are_late", "late_from_s"]

SPREADS, TIMES, LONGER_S = 8.0, 1.5, 0.005
"""A request is late if it takes longer than the median of its route by so many robust standard deviations, by
this factor, and by this time.
"""

BEFORE_S = 0.002
"""A request that waited for another one ends this long before it at most, as ends are read in any order."""


@dataclass(frozen=True)
class Requests:
    """Requests that were answered, as columns, in the order in which they were sent. Times are in seconds.

    `names`: of the routes; `route`: an index into them. `connection`: which connection of the client it was.
    """

    names: tuple[str, ...]
    route: Ints
    connection: Ints
    sent_s: Floats
    end_s: Floats

    @classmethod
    def of(cls, rows: Sequence[tuple[str, int, float, float]]) -> "Requests":
        """From (route, connection, sent, end)."""
        ordered = sorted(rows, key=lambda row: row[2])
        names = tuple(dict.fromkeys(row[0] for row in ordered))
        return cls(
            names,
            np.array([names.index(row[0]) for row in ordered], dtype=np.int64),
            np.array([row[1] for row in ordered], dtype=np.int64),
            np.array([row[2] for row in ordered]),
            np.array([row[3] for row in ordered]),
        )

    def __len__(self) -> int:
        return len(self.sent_s)

    @property
    def took_s(self) -> Floats:
        return self.end_s - self.sent_s

    @property
    def span_s(self) -> float:
        return float(self.end_s.max() - self.sent_s[0]) if len(self) else 0.0

    def usual_s(self) -> Floats:
        """For each route the median of its times."""
        took = self.took_s
        return np.array([float(np.median(took[self.route == place])) for place in range(len(self.names))])


def late_from_s(requests: Requests, route: int) -> float:
    """A request for the route is late if it takes longer than this."""
    took = requests.took_s[requests.route == route]
    middle = float(np.median(took))
    spread = 1.4826 * float(np.median(np.abs(took - middle)))
    return max(middle + SPREADS * spread, TIMES * middle, middle + LONGER_S)


def are_late(requests: Requests) -> Bools:
    """Which requests took much longer than others of their route."""
    limits = np.array([late_from_s(requests, route) for route in range(len(requests.names))])
    is_late: Bools = requests.took_s > limits[requests.route] if len(requests) else np.zeros(0, dtype=bool)
    return is_late

"""Whether others wait while a single request of a route is being answered, judged by a light stream: of those
that were sent meanwhile and would have ended sooner, how many did.
"""

from dataclasses import dataclass

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats.proportion import share_interval
from jostle.explain.slow_responses.stalls import BEFORE_S, Requests, are_late

__all__ = ["Beside", "beside_one"]

WAITS, FREE = 0.8, 0.2
"""Shares of those that ended no sooner: from the first on they wait, up to the second they do not."""

MIN_MET = 8

ROOM = 0.3
"""A request must have been sent at least this share of the long one's time, and twice its own usual time,
before the long one ended; else it might have ended after it anyway.
"""


@dataclass(frozen=True)
class Beside:
    """`waited` of `met` requests for other routes did not end before the request of `route` beside which they
    were sent. `others`: the routes of those that waited, as far as they are known to.
    """

    route: str
    met: int
    waited: int
    others: tuple[str, ...]

    @property
    def share(self) -> Estimate:
        low, high = share_interval(self.waited, self.met)
        return Estimate(self.waited / self.met, low, high, "share", n=self.met)

    @property
    def waits(self) -> bool | None:
        """None if some did and others did not, or if too few were met."""
        if self.met < MIN_MET or FREE < self.waited / self.met < WAITS:
            return None
        return self.waited >= WAITS * self.met


def beside_one(requests: Requests, route: str) -> Beside:
    """What others did while one request of `route` was in flight that took its usual time."""
    place, usual = requests.names.index(route), requests.usual_s()
    in_usual_time = ~are_late(requests)
    met: dict[int, list[bool]] = {}
    for one in np.flatnonzero((requests.route == place) & in_usual_time):
        sent, end = requests.sent_s[one], requests.end_s[one]
        last = int(np.searchsorted(requests.sent_s, end))
        for other in range(one + 1, last):
            which = int(requests.route[other])
            left_s = end - requests.sent_s[other]
            if which != place and left_s >= max(2 * usual[which], ROOM * (end - sent)):
                met.setdefault(which, []).append(bool(requests.end_s[other] >= end - BEFORE_S))
    waiting = [which for which, those in met.items() if sum(those) >= WAITS * len(those)]
    return Beside(
        route,
        sum(map(len, met.values())),
        sum(sum(those) for those in met.values()),
        tuple(requests.names[which] for which in sorted(waiting)),
    )

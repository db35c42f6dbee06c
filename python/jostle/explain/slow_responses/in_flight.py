"""Whether others wait while a single request of a route is being answered, judged by a light stream: of those
that were sent meanwhile and would have ended sooner, how many did. A handler may hold up others for a part of
its time only: it computes at first and then waits for a database, or the other way round.
"""

import math
from dataclasses import dataclass

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats.proportion import share_interval
from jostle.analysis.stats.sample import Bools, Floats, Ints
from jostle.explain.slow_responses.requests import BEFORE_S, LONGER_S, Requests, are_late

__all__ = ["Beside", "beside_one"]

WAITS, FREE = 0.8, 0.2
"""Shares of those that ended no sooner: from the first on they wait, up to the second they do not."""

MIN_MET = 8

MAX_PAIRS = 200_000
"""Of a route beside whose requests more others were sent, only every so many-th request is looked at."""

ROOM = 0.3
"""A request must have been sent at least this share of the time, and twice its own usual time, before others
can go on; else it might have ended after that anyway.
"""

NEAR = 0.1
"""How exactly it is known in which part of its time a route holds up others, as a share of that time."""

ALIKE = 0.6
"""Others go on at the same part of its time if this share of the late ones does."""


@dataclass(frozen=True)
class Beside:
    """`waited` of `met` requests for other routes went on only when the request of `route` let them, beside
    which they were sent. If they wait, it holds them up from the share `begin` of its time to the share
    `end`. `others`: the routes of those that waited, as far as they are known to.
    """

    route: str
    met: int
    waited: int
    others: tuple[str, ...]
    begin: float
    end: float

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

    @property
    def whole(self) -> bool:
        """Whether others wait for all of its time."""
        return (self.begin, self.end) == (0.0, 1.0)

    def held_s(self, took_s: Estimate) -> Estimate:
        """For how long it holds up others. `took_s`: the time of the whole request."""
        if self.whole or took_s.value is None:
            return took_s
        part, reach = self.end - self.begin, NEAR / 2
        low, high = max(0.0, part - reach) * took_s.value, min(1.0, part + reach) * took_s.value
        return Estimate(part * took_s.value, low, high, "s", n=self.met)


@dataclass(frozen=True)
class _Met:
    """Requests for other routes that were sent while one of the route was being answered."""

    route: Ints
    sent: Floats
    """How much of its time had passed, as a share."""
    ended: Floats
    """The same when they ended."""
    usual: Floats
    """What they usually take, as a share of its time."""
    before: Floats
    """`BEFORE_S` as such a share."""
    late: Bools


def beside_one(requests: Requests, route: str) -> Beside:
    """What others did while one request of `route` was in flight that took its usual time."""
    met = _met(requests, route)
    begin, end = _held(met)
    those = _could(met, end) & (met.sent >= begin)
    waited, routes = _waited(met, end)[those], met.route[those]
    waiting = [which for which in np.unique(routes) if waited[routes == which].mean() >= WAITS]
    return Beside(
        route,
        len(waited),
        int(np.count_nonzero(waited)),
        tuple(requests.names[which] for which in waiting),
        begin,
        end,
    )


def _met(requests: Requests, route: str) -> _Met:
    place, usual, took = requests.names.index(route), requests.usual_s(), requests.took_s
    own = np.flatnonzero((requests.route == place) & ~are_late(requests))
    counts = np.maximum(0, np.searchsorted(requests.sent_s, requests.end_s[own]) - own - 1)
    every = math.ceil(counts.sum() / MAX_PAIRS) or 1
    own, counts = own[::every], counts[::every]
    longs = np.repeat(own, counts)
    others = longs + 1 + np.arange(len(longs)) - np.repeat(counts.cumsum() - counts, counts)
    longs, others = longs[requests.route[others] != place], others[requests.route[others] != place]
    length_s, usual_s = took[longs], usual[requests.route[others]]
    return _Met(
        requests.route[others],
        (requests.sent_s[others] - requests.sent_s[longs]) / length_s,
        (requests.end_s[others] - requests.sent_s[longs]) / length_s,
        usual_s / length_s,
        BEFORE_S / length_s,
        took[others] >= usual_s + LONGER_S,
    )


def _held(met: _Met) -> tuple[float, float]:
    """From and to which share of its time a request of the route holds up others: where most of the late ones
    went on at one moment, that is the end; the begin is what tells those that waited from those that did not
    best. All of its time where that does not tell.
    """
    began = (met.ended - met.usual)[met.late]
    middle = float(np.median(began)) if len(began) else 1.0
    alike = np.abs(began - middle) <= NEAR
    if len(began) < MIN_MET or alike.mean() < ALIKE:
        return 0.0, 1.0
    end = float(np.median(began[alike]))
    end = 1.0 if end > 1 - NEAR else end
    could, waited = _could(met, end), _waited(met, end)
    begins = np.arange(0.0, end, NEAR / 2)
    right = [np.count_nonzero(could & (waited == (met.sent >= begin))) for begin in begins]
    begin = float(begins[int(np.argmax(right))])
    return (begin if begin > NEAR else 0.0), end


def _could(met: _Met, end: float) -> Bools:
    """Which would have ended before others can go on."""
    could: Bools = end - met.sent >= np.maximum(2 * met.usual, ROOM * end)
    return could


def _waited(met: _Met, end: float) -> Bools:
    waited: Bools = met.ended >= end - (met.before if end == 1.0 else NEAR)
    return waited

"""Which stalls a route makes by itself: some of its requests take long, and maybe let others wait; and which
ones are the whole server's.

A server that stands still is met first by whatever comes next, so by each route in proportion to its
requests, and at any time of the pause. A request that takes long meets itself first, and takes as long every
time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats.binomial import log_at_least
from jostle.analysis.stats.proportion import share_interval
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import Bools, Ints, from_values
from jostle.explain.slow_responses.common import Common, every_nth, in_common
from jostle.explain.slow_responses.machine import but_for
from jostle.explain.slow_responses.periods import Period, periods
from jostle.explain.slow_responses.requests import Requests, late_from_s
from jostle.explain.slow_responses.stalls import Stall, periodic, slow_by_themselves, stalls
from jostle.host.halts import Halt

__all__ = ["Rare", "rare"]

CHANCE = 1e-3
"""How often the stalls of the server may seem to be one route's by chance."""

MIN_STALLS = 4

FEW, LONG_S = 2, 0.2
"""So few are enough if they take so much longer while others go on: that is no chance of a machine."""

MIN_ALIKE_SHARE = 0.6
"""The lengths of stalls are alike if this share of them lies within a short span."""

UNLIKE, MANY = 0.3, 10
"""Fewer stalls than so many whose span is longer than this share of their length may be the machine's, and on
a busy machine any number of them.
"""

SURELY_S = 0.05
"""Stalls that are shorter than this may be a busy machine's."""

SURELY_REGULAR = 1e-4
"""From this chance on stalls are the server's because of their period, whoever met them first."""

WAITED, FREE, MIN_MET = 0.7, 0.3, 4
"""Others wait meanwhile if this share of those that were sent meanwhile did, or do not if no more than the
second one did; fewer than so many tell nothing.
"""


@dataclass(frozen=True)
class Meanwhile:
    """Requests that were sent while others were slow: `waited` of `met` waited for their end."""

    met: int
    waited: int

    @property
    def wait(self) -> bool | None:
        """Whether such requests do; None if some did and others did not, or too few were met."""
        if self.met < MIN_MET or FREE < self.waited / self.met < WAITED:
            return None
        return self.waited >= WAITED * self.met


@dataclass(frozen=True)
class Rare:
    """Requests of `route` that take much longer than its others.

    `share`: how many of them do; `slow_s`, `usual_s`: medians. `others`: requests for other routes that were
    sent meanwhile; `same`: those for the same one. `nth`: every so many-th request of the route is slow, or
    of all requests if `of_all`. `common`: what else the slow ones have in common; `times_s`: when they were
    sent.
    """

    route: str
    share: Estimate
    slow_s: Estimate
    usual_s: float
    others: Meanwhile
    same: Meanwhile
    times_s: tuple[float, ...]
    nth: int | None = None
    of_all: bool = False
    period: Period | None = None
    common: Common | None = None

    @property
    def others_wait(self) -> bool | None:
        """Whether whatever is sent meanwhile waits; None if that is not known."""
        return _sent_meanwhile(self.others, self.same).wait

    @property
    def longer_s(self) -> float:
        """By how much longer they take than usual."""
        return (self.slow_s.value or 0.0) - self.usual_s

    @property
    def hurts_s(self) -> float:
        return (self.share.value or 0.0) * self.longer_s


def _meanwhile(own: Sequence[Stall]) -> tuple[Meanwhile, Meanwhile]:
    """What others did, requests for other routes and for the same one, if the route stalls where most of them
    would have waited.
    """
    met, waited = np.sum([one.met for one in own], axis=0), np.sum([one.waited for one in own], axis=0)
    others, same = (_best(*row) for row in zip(met, waited, strict=True))
    return others, same


def _best(met: Ints, waited: Ints) -> Meanwhile:
    """Of the place where most waited, among those where enough were met."""
    enough = met >= min(MIN_MET, met.max())
    place = int(np.argmax(np.where(enough, waited / np.maximum(met, 1), -1.0)))
    return Meanwhile(int(met[place]), int(waited[place]))


def _sent_meanwhile(others: Meanwhile, same: Meanwhile) -> Meanwhile:
    """Those for other routes if there are enough of them: the same one may wait for a lock of its own."""
    return others if others.met >= MIN_MET else Meanwhile(others.met + same.met, others.waited + same.waited)


def rare(
    requests: Requests, *, busy: bool = False, halts: Sequence[Halt] = ()
) -> tuple[list[Rare], list[Stall]]:
    """The routes some of whose requests are slow, and the stalls that are left: those of the whole server.
    `busy`: other programs use the machine, too. `halts`: when it stood still.
    """
    every = but_for(requests, stalls(requests), halts)
    regular = _regular(requests, every)
    left = [one for one in every if one not in regular]
    found = []
    by_route = np.bincount([_route(requests, one) for one in left], minlength=len(requests.names))
    for route in np.argsort(-by_route).tolist():
        sure = [one for one in left if not busy or one.length_s >= SURELY_S]
        own = [one for one in sure if _route(requests, one) == route]
        own = _of_one_size(own, _middle_s(own))
        if _are_its_own(own) or (len(own) >= MIN_STALLS and _is_cause(requests, route, own, sure, busy)):
            own = _of_one_size([one for one in left if _route(requests, one) == route], _middle_s(own))
            one = _rare(requests, route, own)
            if one.period is None or one.others_wait is False:  # else it is the server's, whatever met it
                found.append(one)
                left = [stall for stall in left if stall not in own]
    left = [one for one in left if not _went_on([one])]
    return found, sorted([*left, *regular], key=lambda one: one.begin_s)


def _went_on(own: Sequence[Stall]) -> bool:
    """Whether others were answered as usual meanwhile, so that nothing stood still but those requests."""
    return _sent_meanwhile(*_meanwhile(own)).wait is False


def _are_its_own(own: Sequence[Stall]) -> bool:
    """Whether these stalls of one route are not the server's, since others went on, and no chance either."""
    enough = FEW if _middle_s(own) >= LONG_S else MIN_STALLS
    return len(own) >= enough and _went_on(own)


def _regular(requests: Requests, every: Sequence[Stall]) -> list[Stall]:
    """Stalls that surely have a period, and are met by any route: no route makes them."""
    beats: list[Stall] = []
    for those in ([one for one in every if one.length_s >= SURELY_S], every):
        rest = [one for one in those if one not in beats]
        for period, own in periodic(rest, requests.span_s):
            routes = np.bincount([_route(requests, one) for one in own], minlength=len(requests.names))
            busiest = int(np.argmax(routes))
            chance = math.exp(log_at_least(int(routes[busiest]), len(own), _share(requests, busiest)))
            if period.false_alarm <= SURELY_REGULAR and chance > CHANCE:
                beats += own
    return beats


def _share(requests: Requests, route: int) -> float:
    """How often a route would meet a stall of the server first."""
    rows = requests.route == route
    in_flight = float(requests.took_s[rows].sum()) / requests.span_s
    return min(0.95, np.count_nonzero(rows) / len(requests) + in_flight)


def _route(requests: Requests, stall: Stall) -> int:
    return int(requests.route[stall.first])


def _middle_s(own: Sequence[Stall]) -> float:
    return float(np.median([one.length_s for one in own])) if own else 0.0


def _of_one_size(own: Sequence[Stall], usual_s: float) -> list[Stall]:
    """Those that are no shorter than half of the usual: the others are the machine's."""
    return [one for one in own if one.length_s >= usual_s / 2]


def _is_cause(
    requests: Requests, route: int, own: Sequence[Stall], every: Sequence[Stall], busy: bool
) -> bool:
    """Whether the route meets stalls first much more often than it would meet those of the server, or at
    their very beginning each time.
    """
    chance = math.exp(log_at_least(len(own), len(every), _share(requests, route)))
    lengths = np.sort([one.length_s for one in own])
    needed = math.ceil(MIN_ALIKE_SHARE * len(own))
    span_s = float((lengths[needed - 1 :] - lengths[: len(own) - needed + 1]).min())
    middle = float(np.median(lengths))
    alike = span_s <= UNLIKE * middle
    if busy and (middle < SURELY_S or not alike):
        return False
    if chance <= CHANCE:
        return alike or len(own) >= MANY
    # The first request comes at a random time of a pause: what is left of that varies as the gaps between
    # requests do, as far as it is long enough to be told from a usual time.
    per_s = len(requests) / requests.span_s
    shortest_s = late_from_s(requests, route) - float(np.median(requests.took_s[requests.route == route]))
    seen_s = max(span_s, float(lengths[-1]) - shortest_s)
    chance_of_one = math.expm1(-span_s * per_s) / math.expm1(-seen_s * per_s)
    return len(own) * math.exp(log_at_least(needed - 1, len(own) - 1, chance_of_one)) <= CHANCE


def _slow(requests: Requests, route: int, own: Sequence[Stall]) -> Ints:
    """Which requests of the route are slow: those that met a stall first, and, if nobody waits meanwhile, all
    that took as long.
    """
    others, same = _meanwhile(own)
    if _sent_meanwhile(others, same).wait is not False or same.wait:
        return np.array([one.first for one in own])
    longer_s = requests.took_s - requests.usual_s()[route]
    enough = (requests.route == route) & (longer_s >= _middle_s(own) / 2)
    return np.flatnonzero(enough & slow_by_themselves(requests))


def _rare(requests: Requests, route: int, own: Sequence[Stall]) -> Rare:
    places = _slow(requests, route, own)
    rows = requests.route == route
    n = int(np.count_nonzero(rows))
    slow: Bools = np.zeros(len(requests), dtype=bool)
    slow[places] = True
    low, high = share_interval(len(places), n)
    times = tuple(requests.sent_s[places].tolist())
    nth = every_nth(np.searchsorted(np.flatnonzero(rows), places), n)
    of_all = nth is None and (nth := every_nth(places, len(requests))) is not None
    regular = periods(times, requests.span_s) if nth is None else []
    common = in_common(requests, slow, rows) if nth is None and not regular else []
    return Rare(
        requests.names[route],
        Estimate(len(places) / n, low, high, "share", n=n),
        quantile_estimate(from_values(requests.took_s[places].tolist()), 0.5),
        float(np.median(requests.took_s[rows])),
        *_meanwhile(own),
        times,
        nth,
        of_all,
        regular[0] if regular else None,
        common[0] if common else None,
    )

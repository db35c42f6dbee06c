"""Which responses were late, and what made them late: a request that takes long whenever it is asked for, one
that took long this once and let others wait, or the whole server, which stood still.

Only times are known. A late request that ended when another one let others go on, which had been sent before
it or while it waited for something else, waited for that one. What is left is grouped into stalls: late
requests that overlap wait for the same thing, and the one that was sent first met it first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.analysis.stats.sample import Bools, Floats, Ints
from jostle.explain.slow_responses.in_flight import beside_one
from jostle.explain.slow_responses.periods import Period, periods
from jostle.explain.slow_responses.requests import BEFORE_S, Requests, are_late

__all__ = ["Stall", "held_up", "periodic", "slow_by_themselves", "stalls"]

AFTER_S = 0.003
"""A request that waited for another one ends this long after it at most, besides twice its usual time."""

MOST = 0.7
"""Which share of its lateness a request explains that was sent while the late one waited; and by which share
of what a stall has left others must be late that wait for its end.
"""

PLACES = np.linspace(0.0, 1.0, 21)
"""Where a request may stall: after which shares of its usual time. A handler may block at once and then wait
for something else, or the other way round.
"""


@dataclass(frozen=True, eq=False)
class Stall:
    """`first`: the request that met it first, as an index. `begin_s`: when that was sent; `length_s`: how
    much longer than usual it took. Two rows, of requests for other routes and for the same one, and in them
    for each of `PLACES` where it may have stalled, `met`: how many were sent meanwhile that would have ended
    sooner; `waited`: how many of these did not.
    """

    first: int
    begin_s: float
    length_s: float
    met: Ints
    waited: Ints


def held_up(requests: Requests, is_late: Bools) -> Ints:
    """For each late request the one that it waited for, if that took no longer than usual, or waited for such
    a one itself; -1 otherwise. That one was sent before it, or while it itself waited for something else, and
    took most of the time by which it was late.
    """
    blocker = np.full(len(requests), -1, dtype=np.int64)
    took, usual = requests.took_s, requests.usual_s()
    longest = float(took.max(initial=0.0))
    for place in [*np.flatnonzero(is_late), *np.flatnonzero(is_late)[::-1]]:
        if blocker[place] >= 0:
            continue
        sent, end, usual_s = requests.sent_s[place], requests.end_s[place], usual[requests.route[place]]
        first = int(np.searchsorted(requests.sent_s, sent - longest))
        last = int(np.searchsorted(requests.sent_s, sent + usual_s))
        others = np.concatenate([np.arange(first, place), np.arange(place + 1, last)])
        ends = requests.end_s[others]
        known = ~is_late[others] | (blocker[others] >= 0)
        held = known & (ends > sent) & (ends >= end - 2 * usual_s - AFTER_S) & (ends <= end + BEFORE_S)
        held &= (others < place) | (took[others] >= MOST * (end - sent - usual_s))
        if held.any():
            blocker[place] = others[held][np.argmax(took[others[held]])]
    left = np.flatnonzero(is_late & (blocker < 0))
    if len(left):
        blocker[left] = _held_up_in_part(requests, left)
    return blocker


def _held_up_in_part(requests: Requests, late: Ints) -> Ints:
    """The same of these for those that waited for requests which hold up others for a part of their time
    only: when they let others go on is not seen, but how long they hold them up together.
    """
    blocker = np.full(len(late), -1, dtype=np.int64)
    found = [beside_one(requests, name) for name in requests.names]
    part = np.array([one.end - one.begin if one.waits and not one.whole else 0.0 for one in found])
    usual, took = requests.usual_s(), requests.took_s
    holds_s = (part * usual)[requests.route]
    longest = float(took.max(initial=0.0))
    for i, place in enumerate(late if part.any() else ()):
        sent, end = requests.sent_s[place], requests.end_s[place]
        first, last = np.searchsorted(requests.sent_s, (sent - longest, end))
        others = np.setdiff1d(np.arange(first, last), place)
        held_s = np.where(requests.end_s[others] > sent, holds_s[others], 0.0)
        if held_s.sum() >= MOST * (took[place] - usual[requests.route[place]]):
            blocker[i] = others[np.argmax(held_s)]
    return blocker


def slow_by_themselves(requests: Requests) -> Bools:
    """Which requests were late and did not wait for one that always takes long."""
    is_late = are_late(requests)
    return is_late & (held_up(requests, is_late) < 0)


def stalls(requests: Requests) -> list[Stall]:
    """All stalls, in the order in which they began; requests that waited for one that always takes long are
    left out. Those that waited for the same stall end soon after its first request; one that ends much later
    is slow by itself.
    """
    found: list[Stall] = []
    usual_s, until_s = requests.usual_s(), -np.inf
    for place in np.flatnonzero(slow_by_themselves(requests)):
        if requests.end_s[place] - 2 * usual_s[requests.route[place]] > until_s:
            found.append(_stall(requests, int(place), usual_s))
            until_s = float(requests.end_s[place]) + found[-1].length_s / 2
    return found


def _stall(requests: Requests, first: int, usual_s: Floats) -> Stall:
    sent, end = float(requests.sent_s[first]), float(requests.end_s[first])
    before_s = float(usual_s[requests.route[first]])
    length_s = end - sent - before_s
    others = np.arange(first + 1, int(np.searchsorted(requests.sent_s, end)))
    usual = usual_s[requests.route[others]]
    begins_s = (sent + PLACES * before_s)[:, np.newaxis]
    left_s = begins_s + length_s - requests.sent_s[others] - usual
    met = (requests.sent_s[others] >= begins_s) & (left_s > BEFORE_S)
    waited = met & (requests.took_s[others] - usual >= MOST * left_s)
    same = requests.route[others] == requests.route[first]
    rows = np.stack((~same, same)).astype(np.int64)
    return Stall(first, sent, length_s, rows @ met.T, rows @ waited.T)


def periodic(those: Sequence[Stall], span_s: float) -> list[tuple[Period, list[Stall]]]:
    """The periods with which they end, each with its beats."""
    ends = [stall.begin_s + stall.length_s for stall in those]
    return [(one, [those[place] for place in one.places]) for one in periods(ends, span_s)]

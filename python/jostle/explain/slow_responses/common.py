"""What slow requests have in common: what came before them, how long nothing had, which one they were.

Each property is asked the same question: of how many slow requests is it true, and of how many others. The
chance of such a difference is exact (hypergeometric), and is multiplied by the number of questions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jostle.analysis.stats.binomial import log_at_least, log_ways
from jostle.analysis.stats.proportion import share_interval
from jostle.analysis.stats.sample import Bools, Floats, Ints
from jostle.explain.slow_responses.requests import Requests
from jostle.formatting import amount, percent

__all__ = ["Common", "every_nth", "in_common"]

CHANCE = 1e-3
"""How often slow requests may seem to have something in common by chance."""

MOST, TIMES = 0.5, 3.0
"""What is reported is true of this share of the slow requests at least, and so many times as often as of
others."""

THRESHOLDS = 40
"""How many values of a property are tried as the one from which on requests are slow."""

MIN_SLOW = 4


@dataclass(frozen=True)
class Common:
    """`what`: what slow requests have in common, as it continues "they came …". `slow`: of how many of the
    slow ones it is true, of `n_slow`; `others`: of how many of the `n_others`. `chance`: that of such a
    difference, if it meant nothing.
    """

    what: str
    slow: int
    n_slow: int
    others: int
    n_others: int
    chance: float

    @property
    def counts(self) -> str:
        """The figures, with the interval of the share."""
        low, high = share_interval(self.slow, self.n_slow)
        return (
            f"{self.slow} of {self.n_slow} slow ones ({percent(low)} to {percent(high)}), {self.others} of "
            f"{self.n_others:,} others"
        )

    @property
    def evidence(self) -> str:
        """The property and its figures as a sentence."""
        return f"{self.what[:1].upper()}{self.what[1:]}: {self.counts}."


def in_common(
    requests: Requests, slow: Bools, considered: Bools, sizes: Floats | None = None
) -> list[Common]:
    """What the requests `slow` have in common and the others of `considered` have not, the clearest first.
    `sizes`: bytes of each response, if they are known.
    """
    if np.count_nonzero(slow) < MIN_SLOW:
        return []
    is_slow = slow[considered]
    found = []
    properties = [*_properties(requests, considered)]
    if sizes is not None and len(sizes):
        properties += _from(sizes[considered], "with a response of {} or more", "bytes")
    for what, has in properties:
        counts = int(has[is_slow].sum()), int(is_slow.sum()), int(has[~is_slow].sum()), int((~is_slow).sum())
        chance = min(1.0, len(properties) * _chance(*counts))
        one = Common(what, *counts, chance)
        if chance <= CHANCE and one.slow >= MOST * one.n_slow and _lift(one) >= TIMES:
            found.append(one)
    return sorted(found, key=lambda one: one.chance)


def _lift(one: Common) -> float:
    return one.slow / one.n_slow / max(one.others / max(1, one.n_others), 1e-9)


def _chance(slow: int, n_slow: int, others: int, n_others: int) -> float:
    """How often at least `slow` of the slow ones have it, if those who have it are anybody."""
    have, n = slow + others, n_slow + n_others
    logs = [
        log_ways(n_slow, k) + log_ways(n_others, have - k) - log_ways(n, have)
        for k in range(slow, min(n_slow, have) + 1)
        if have - k <= n_others
    ]
    return min(1.0, math.fsum(map(math.exp, logs)))


def _properties(requests: Requests, considered: Bools) -> Iterator[tuple[str, Bools]]:
    """Each property in words, and which of the requests `considered` have it."""
    previous = np.concatenate([[-1], requests.route[:-1]])[considered]
    own = set(requests.route[considered].tolist())
    for place in sorted(own) if len(own) > 1 else ():
        yield f"for {requests.names[place]}", requests.route[considered] == place
    for place, name in enumerate(requests.names):
        if len(requests.names) > 1 and not (own == {place} and len(own) == len(requests.names)):
            yield f"right after a request for {name}", previous == place
    gaps = np.diff(requests.sent_s, prepend=-np.inf)
    yield from _from(gaps[considered], "after {} or more without a request", "s")
    nth = _nth_of_connection(requests)[considered]
    if nth.max(initial=0) > 1:
        yield "first on a new connection", nth == 1
        yield from _from(nth.astype(float), "as the {}th request of its connection or later", "count")
    flying = _in_flight(requests)[considered]
    yield from _from(flying.astype(float), "while {} or more others were being answered", "count")
    since = requests.sent_s - requests.sent_s[0]
    yield from _from(-since[considered], "within the first {}", "s")


def _from(values: Floats, what: str, unit: str) -> Iterator[tuple[str, Bools]]:
    """The property "this much or more", for values that some have."""
    finite = np.unique(values[np.isfinite(values)])
    if len(finite) < 2:
        return
    thresholds = np.unique(np.quantile(finite[1:], np.linspace(0, 1, THRESHOLDS), method="nearest"))
    for threshold in thresholds:
        value = abs(float(threshold))
        shown = f"{value:.0f}" if unit == "count" else amount(value, unit)
        yield what.format(shown), values >= threshold


def _nth_of_connection(requests: Requests) -> Ints:
    """Which request of its connection each is, from 1."""
    order = np.argsort(requests.connection, kind="stable")
    of = requests.connection[order]
    begins = np.flatnonzero(np.diff(of, prepend=of[:1] - 1))
    nth = np.empty(len(of), dtype=np.int64)
    nth[order] = np.arange(len(of)) - np.repeat(begins, np.diff(np.append(begins, len(of)))) + 1
    return nth


def _in_flight(requests: Requests) -> Ints:
    """How many others had been sent and not yet answered when each request was sent."""
    ended = np.searchsorted(np.sort(requests.end_s), requests.sent_s, side="right")
    return np.arange(len(requests), dtype=np.int64) - ended


def every_nth(places: Ints, n: int) -> int | None:
    """If the requests at `places` (ascending) of `n` in a row are every m-th one, that m; None if that may be
    chance. One of ten may be out of step: requests overtake one another on their way.
    """
    k = len(places)
    if k < MIN_SLOW:
        return None
    gaps = np.diff(places)
    best_every, best_chance = None, CHANCE
    for every in np.unique(gaps[gaps > 1]).tolist():
        _, counts = np.unique(places % every, return_counts=True)
        hit = int(counts.max())
        # By chance each of the others would have the remainder of the first with probability 1 / every.
        chance = n * math.exp(log_at_least(hit - 1, k - 1, 1 / every))
        if hit >= 0.9 * k and hit >= 0.7 * (n // every) and chance < best_chance:
            best_every, best_chance = int(every), chance
    return best_every

"""Periods in the times of events, some of which may be noise: several at once, with jitter and with missed
beats. Two tests, each with its rate of false alarms:

- Folding. All times are taken modulo a period, for every period; those of a clock lie together, however many
  beats were missed.
- Chains. Every two events are tried as the first two beats, and further ones are looked for one after
  another, each where the one before lets it be expected. So a period may drift, as that of a job does which
  sleeps between its turns.

Events at random times look periodic, too, if enough periods are tried. How often is bounded by the number of
trials times the chance of a single one, and nothing is a period that may well be chance.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats import student
from jostle.analysis.stats.binomial import log_at_least, log_ways
from jostle.analysis.stats.sample import Floats, Ints

__all__ = ["FALSE_ALARM", "Period", "is_rest_of", "periods"]

FALSE_ALARM = 0.01
"""How often events at random times may be taken for periodic."""

SHORTEST_S = 0.4
"""The shortest period that is looked for."""

WINDOWS = (0.01, 0.03, 0.1)
"""Folding: the share of the period within which the beats lie."""

CLOSE = (0.02, 0.05, 0.12, 0.25)
"""Chains: by what share of the period a beat may come early or late."""

SEEN = 0.4
"""Folding: at least this share of all beats must be among the events."""

MISSED = 0.25
"""Chains: the largest share of beats that may be missing. Two in a row never may."""

SAME = 0.05
"""Periods that differ by no more than this share are the same."""

NEARLY = 0.8
"""Folding: twice a period is preferred if it has this share of its events."""

CHUNK = 4000
"""Frequencies that are folded at a time."""

MAX_EVENTS, MAX_PERIODS = 120, 3
MIN_BEATS = 4


@dataclass(frozen=True)
class Period:
    """`every_s`: the period, with its 95 % interval. `places`: which of the events are its beats.
    `false_alarm`: the chance that events at random times would look as periodic.
    """

    every_s: float
    low_s: float
    high_s: float
    places: tuple[int, ...]
    false_alarm: float

    @property
    def every(self) -> Estimate:
        """The period as a figure."""
        return Estimate(self.every_s, self.low_s, self.high_s, n=len(self.places))


@dataclass(frozen=True)
class _Beats:
    """Events that seem to be beats, the number of each beat, and the log of the chance of such a row."""

    places: tuple[int, ...]
    numbers: tuple[int, ...]
    log_chance: float


def periods(times_s: Sequence[float], span_s: float) -> list[Period]:
    """All periods of events at `times_s` (ascending) within `span_s` seconds, the surest first."""
    if len(times_s) > MAX_EVENTS:
        span_s = min(span_s, times_s[MAX_EVENTS])  # in which those were that are looked at
    left = list(range(len(times_s)))[:MAX_EVENTS]
    found: list[Period] = []
    while len(found) < MAX_PERIODS and len(left) >= MIN_BEATS:
        times = [times_s[place] for place in left]
        tried = [*_folded(times, span_s), *_chained(times, span_s)]
        beats = min(tried, key=lambda one: one.log_chance, default=None)
        if beats is None or beats.log_chance > math.log(FALSE_ALARM):
            break
        one = _period(times, beats, [left[place] for place in beats.places])
        left = [place for place in left if place not in one.places]
        if not any(is_rest_of(known, one) for known in found):
            found.append(one)
    return found


def is_rest_of(known: Period, further: Period) -> bool:
    """Whether the second one is made of beats of the first that came too early or too late."""
    ratio = further.every_s / known.every_s
    return min(abs(ratio - 1), abs(ratio - 2)) <= SAME


def _folded(times: Sequence[float], span_s: float) -> Iterator[_Beats]:
    """For each window the period with the most events in it, and where in the period that is."""
    at, n = np.array(times), len(times)
    for window in WINDOWS:
        per_s = np.arange(MIN_BEATS / span_s, 1 / SHORTEST_S, window / span_s / 2)
        counts, begins = _fullest(at, per_s, window)
        best = int(np.argmax(counts * (counts >= SEEN * span_s * per_s)))
        # Events with a period also have every part of it, and then noise in another one may add to them.
        while (half := int(np.argmin(np.abs(per_s - per_s[best] / 2)))) and counts[half] >= NEARLY * counts[
            best
        ]:
            best = half
        if counts[best] < max(MIN_BEATS, SEEN * span_s * per_s[best]):
            continue
        turns = at * per_s[best] - begins[best]
        places = np.flatnonzero((turns % 1.0) < window)
        numbers = np.floor(turns[places]).astype(int)
        once = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
        if len(once) >= MIN_BEATS:
            trials = len(WINDOWS) * len(per_s) * 2 / window
            log = math.log(trials) + log_at_least(int(counts[best]), n, window)
            yield _Beats(tuple(places[once].tolist()), tuple((numbers[once] - numbers[0]).tolist()), log)


def _fullest(at: Floats, per_s: Floats, window: float) -> tuple[Ints, Floats]:
    """For each frequency how many events lie in the fullest window of a period, and where it begins. Windows
    overlap by half.
    """
    parts = round(2 / window)
    fullest, begins = np.zeros(len(per_s), dtype=np.int64), np.zeros(len(per_s))
    for first in range(0, len(per_s), CHUNK):
        chosen = per_s[first : first + CHUNK]
        part = (np.outer(chosen, at) % 1.0 * parts).astype(np.int64) % parts
        rows = np.arange(len(chosen))[:, None] * parts
        counts = np.bincount((rows + part).ravel(), minlength=len(chosen) * parts).reshape(-1, parts)
        both = counts + np.roll(counts, -1, axis=1)
        fullest[first : first + CHUNK] = both.max(axis=1)
        begins[first : first + CHUNK] = both.argmax(axis=1) / parts
    return fullest, begins


def _chained(times: Sequence[float], span_s: float) -> Iterator[_Beats]:
    per_s = len(times) / span_s
    trials = len(CLOSE) * len(times) * (len(times) - 1) / 2
    for close in CLOSE:
        for first in range(len(times) - 1):
            for second in range(first + 1, len(times)):
                chain, beats = _chain(times, first, second, close)
                if len(chain) < MIN_BEATS or beats[-1] + 1 - len(beats) > MISSED * beats[-1]:
                    continue
                every = (times[chain[-1]] - times[chain[0]]) / beats[-1]
                log = math.log(trials) + _log_chance(beats, every * per_s, close)
                if every >= SHORTEST_S:
                    yield _Beats(tuple(chain), tuple(beats), log)


def _chain(times: Sequence[float], first: int, second: int, close: float) -> tuple[list[int], list[int]]:
    """The events that follow each other from these two on, and which beat each of them is."""
    chain, beats = [first, second], [0, 1]
    every = times[second] - times[first]
    while True:
        last = times[chain[-1]]
        for missed in (0, 1):
            place = _nearest(times, chain[-1] + 1, last + (1 + missed) * every, close * every)
            if place is not None:
                chain.append(place)
                beats.append(beats[-1] + 1 + missed)
                every = (times[place] - times[first]) / beats[-1]
                break
        else:
            return chain, beats


def _nearest(times: Sequence[float], begin: int, due: float, reach: float) -> int | None:
    after = bisect_left(times, due, begin)
    near = [place for place in (after - 1, after) if begin <= place < len(times)]
    near = [place for place in near if abs(times[place] - due) <= reach]
    return min(near, key=lambda place: abs(times[place] - due), default=None)


def _log_chance(beats: Sequence[int], per_period: float, close: float) -> float:
    """The log of the chance that events at random times, `per_period` of them in a period, make such a chain
    of two given ones: each hop finds one where it is due, or one beat later.
    """
    hit = -math.expm1(-2 * close * per_period)
    hops = len(beats) - 2
    missed = beats[-1] - (len(beats) - 1)
    return hops * math.log(hit) + log_ways(hops, missed)


def _period(times: Sequence[float], beats: _Beats, places: Sequence[int]) -> Period:
    """The mean period. Its interval is that of the mean of single periods, which also holds for a period
    that drifts.
    """
    at, number = np.array([times[place] for place in beats.places]), np.array(beats.numbers)
    single = np.diff(at) / np.diff(number)
    every = float((at[-1] - at[0]) / (number[-1] - number[0]))
    reach = student.quantile(len(single) - 1, 0.975) * float(single.std(ddof=1)) / math.sqrt(len(single))
    return Period(every, every - reach, every + reach, tuple(places), math.exp(beats.log_chance))

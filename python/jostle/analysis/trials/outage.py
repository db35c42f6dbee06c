"""When a server was away: stretches of a trial in which requests failed and no right response came."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jostle.analysis.stats.sample import Bools
from jostle.analysis.trials.counters import MEASURED, Counts
from jostle.formatting import listed
from jostle.record.outcomes import OUT_OF_FILES, OUT_OF_PORTS, WRONG_RESPONSES, Outcome, outcome_label
from jostle.units import format_duration

__all__ = ["Outage", "away_at_least_s", "away_s", "outages", "within"]

MISSED = 10.0
"""At the rate of the rest of the trial, at least this many right responses would have come meanwhile: fewer
may fail to come by chance."""

SILENT_S, SILENT = 1.0, 3.0
"""If nothing failed either, the end of a trial must be without responses for at least the first, and for so
many times the longest response time: a slow server also leaves its last requests unanswered."""


@dataclass(frozen=True)
class Outage:
    """A stretch without a right response, in seconds from the start of the trial, to the precision of its
    intervals.
    """

    start_s: float
    end_s: float
    ends: bool
    """Whether right responses came again."""
    failures: Mapping[str, int]
    """How requests failed meanwhile, by outcome; empty if they only waited."""
    failed_until_s: float
    """When the last one failed, or `end_s` if right responses followed at once, or never. Clients of a closed
    loop pause after failures, for up to a second, so the server may have been back from then on."""

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s

    def __str__(self) -> str:
        start, end = format_duration(self.start_s), format_duration(self.end_s)
        if self.ends and self.failed_until_s < self.end_s:
            end = f"between {format_duration(self.failed_until_s)} and {end}"
        when = f"from {start} to {end if self.ends else 'the end'}"
        kinds = listed([outcome_label(kind) for kind in self.failures]) if self.failures else ""
        if not self.ends and self.failed_until_s < self.end_s:
            kinds += f", last at {format_duration(self.failed_until_s)}"
        what = "right response" if self.failures.keys() & WRONG_RESPONSES else "response"
        return f"no {what} {when}" + (f" ({kinds})" if kinds else "")


def outages(counts: Counts, longest_s: float | None) -> list[Outage]:
    """All outages of a trial, in order; empty if the server never answered, or is not to blame.

    `longest_s`: the longest response time. None if a silence without failures is a finding of another kind:
    beside a background workload, that is what blocking looks like.
    """
    kinds = {kind: column for kind, column in counts.failed_by_kind.items() if not _of_ours(counts, kind)}
    ok, duration_s = counts.ok, float(counts.end_ns[-1]) / 1e9 if len(counts.end_ns) else 0.0
    found = []
    for start, end in _without_responses(counts):
        start_s, end_s = float(counts.start_ns[start]) / 1e9, float(counts.end_ns[end - 1]) / 1e9
        elsewhere_s = duration_s - (end_s - start_s)
        if elsewhere_s <= 0 or float(ok.sum()) / elsewhere_s * (end_s - start_s) < MISSED:
            continue
        failures = Counter[str]()
        for kind, column in kinds.items():
            failures[kind] += int(column[start:end].sum())
        ends = end < len(ok) and bool(ok[end:].any())
        if +failures or (not ends and _silent(counts, longest_s, end_s - start_s)):
            found.append(Outage(start_s, end_s, ends, dict(+failures), _failed_until(counts, start, end)))
    return found


def _failed_until(counts: Counts, start: int, end: int) -> float:
    """The end of the last interval with a failure, unless only one follows it: so precise are all times."""
    failed = np.flatnonzero(counts.failed[start:end])
    last = start + int(failed[-1]) if len(failed) else end
    return float(counts.end_ns[last if last < end - 2 else end - 1]) / 1e9


def _of_ours(counts: Counts, kind: str) -> bool:
    """Whether connects failed because the generator had no files or ports left: that is not the server's."""
    reasons = counts.reasons.get((MEASURED, kind), {})
    return kind == Outcome.CONNECT_FAILED and bool(reasons) and reasons.keys() <= OUT_OF_FILES | OUT_OF_PORTS


def away_s(found: list[Outage]) -> float:
    """For how long the server was away in all, at most."""
    return math.fsum(outage.length_s for outage in found)


def away_at_least_s(found: list[Outage]) -> float:
    """For how long it surely was: until requests no longer failed."""
    return math.fsum(outage.failed_until_s - outage.start_s for outage in found)


def within(counts: Counts, found: list[Outage]) -> Bools:
    """For each interval, whether it belongs to an outage."""
    inside = np.zeros(len(counts.end_ns), dtype=np.bool_)
    for outage in found:
        inside |= (counts.start_ns / 1e9 >= outage.start_s) & (counts.end_ns / 1e9 <= outage.end_s)
    return inside


def _without_responses(counts: Counts) -> list[tuple[int, int]]:
    """Stretches without right responses: the first interval, and the one after the last."""
    silent = np.concatenate([[False], counts.ok == 0, [False]])
    edges = np.flatnonzero(np.diff(silent.astype(np.int8)))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def _silent(counts: Counts, longest_s: float | None, seconds: float) -> bool:
    if longest_s is None:
        return False
    return bool(counts.in_flight_ns[-1] > 0) and seconds >= max(SILENT_S, SILENT * longest_s)

"""What the machine did to a trial: processors given to others, and memory or disk that kept work waiting.

Less than `NOTICEABLE_S` in a step is not reported, nor is what may be an error of the kernel's samples.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jostle.analysis.results import Check
from jostle.analysis.stats.sample import Bools, Floats, quantile_of
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.kept_waiting import NOTICEABLE_S, server_kept_waiting
from jostle.analysis.validity.bounded import has_bounds, part_of_times, unbounded
from jostle.analysis.validity.figures import RATES, TIMES, quantiles_among
from jostle.formatting import listed, percent
from jostle.quantiles import NAMED
from jostle.record.verdict import Verdict
from jostle.units import format_duration, format_number

__all__ = ["ALL", "Trouble", "machine", "share_in_intervals", "stolen", "troubles", "troubles_in_words"]

SUSPECT_ABOVE, ALL, INVALID = 0.20, 0.50, 0.90
"""Share of the time in which the server had work but others ran, which slowed it down by as much. Others come
in bursts, which the longer times show first: these are in doubt above the first share (and the trial is
measured again), and above the second the median, the mean and the rates as well. In a closed loop, intervals
hold what the longer times would be without them (`jostle.analysis.validity.bounded`), and no doubt is left up
to the second. Above the third, what is left says nothing of the server. Chosen from the table in
docs/explanation/how-often-right.md."""

LONGER = tuple(
    name
    for name in TIMES
    if name not in ("min", "p5", "p25", "p50", "mean", "service p50", "time to headers", "time per thread")
)

LENGTHENED = 0.05
"""Share of a quantile that a core's absence must reach to be told of it."""

OTHERS_SHARE = 0.2
"""Share of a core: if others use less than this all the time, no sentence reports it."""

ERRORS = 4
"""Above this many standard errors, the work of others in a step is no sampling error but in 1 of 30,000."""

SLOWER = 0.8
"""Cores are slow at a frequency below this share of the trial's highest."""

MAX_SHOWN = 2


@dataclass(frozen=True)
class Trouble:
    """A disturbance from `at_s` on, which cost `length_s` of CPU or waiting time."""

    at_s: float
    length_s: float
    sentence: str


def troubles(data: TrialData) -> list[Trouble]:
    """All disturbances, the longest first. Seconds count from the trial's start."""
    machine_usage = data.machine
    found = [
        *_runs(
            machine_usage.start_s,
            machine_usage.steal_s,
            machine_usage.steal_s >= NOTICEABLE_S,
            "the hypervisor withheld a core for {} (steal)",
        ),
        *_runs(
            machine_usage.start_s,
            machine_usage.others_s,
            machine_usage.others_s
            > np.maximum(
                ERRORS * machine_usage.others_error_s,
                np.maximum(NOTICEABLE_S, OTHERS_SHARE * machine_usage.length_s),
            ),
            "other processes used the cores for {}",
        ),
        *_runs(
            machine_usage.start_s,
            machine_usage.waited_s,
            machine_usage.waited_s >= NOTICEABLE_S,
            "the generator waited {} for a core",
        ),
        *_runs(
            machine_usage.start_s,
            machine_usage.memory_s,
            machine_usage.memory_s >= NOTICEABLE_S,
            "processes waited {} for memory (PSI)",
        ),
        *_runs(
            machine_usage.start_s,
            machine_usage.io_s,
            machine_usage.io_s >= NOTICEABLE_S,
            "processes waited {} for the disk (PSI)",
        ),
        *_slow(machine_usage.start_s, machine_usage.length_s, machine_usage.mhz),
    ]
    return sorted(found, key=lambda trouble: -trouble.length_s)


def _runs(start_s: Floats, lost_s: Floats, mask: Bools, sentence: str) -> Iterator[Trouble]:
    """One trouble for each run of affected steps; its time is known to a quarter of a second."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        lost, at = float(lost_s[first:end].sum()), max(0.0, float(start_s[first]))
        yield Trouble(at, lost, f"{sentence.format(format_duration(lost))}, {at:.1f} s into the trial")


def _slow(start_s: Floats, length_s: Floats, mhz: Floats) -> Iterator[Trouble]:
    if not len(mhz) or np.isnan(mhz).any():
        return
    highest = float(mhz.max())
    slow = mhz < SLOWER * highest
    words = f"the cores ran at {percent(float(mhz.min()) / highest)} of their highest frequency"
    yield from _runs(start_s, length_s, slow, words + " for {}")


def troubles_in_words(data: TrialData) -> str:
    """The longest troubles as one sentence; empty if there were none."""
    found = troubles(data)[:MAX_SHOWN]
    return listed([trouble.sentence for trouble in found]) if found else ""


def machine(data: TrialData) -> Check | None:
    """The share of the time in which the server had work but others had its processors. None if the server is
    not ours, and in older records.
    """
    share = server_kept_waiting(data)
    if share is None:
        return None
    bounded = SUSPECT_ABOVE < share <= ALL and has_bounds(data)
    affects = unbounded(data, share) if bounded else _affected(data, share)
    doubtful = share > SUSPECT_ABOVE and (not bounded or affects)
    verdict = Verdict.INVALID if share > INVALID else Verdict.SUSPECT if doubtful else Verdict.VALID
    limit = INVALID if verdict is Verdict.INVALID else SUSPECT_ABOVE
    message = (
        f"other programs or virtual machines used the server's cores for {percent(share)} of the time in "
        "which it had work"
    )
    return Check(
        "machine",
        verdict,
        share,
        limit,
        "share",
        f"{message}, which may be {part_of_times(data, share)}" if bounded else message,
        _remedy(share) if share > SUSPECT_ABOVE else "",
        affects if verdict is Verdict.SUSPECT else (),
        "machine",
        notable=bounded,
        again=share > SUSPECT_ABOVE,
    )


def share_in_intervals(data: TrialData) -> float:
    """The share of the time in which others had the server's cores, if intervals hold what that did."""
    share = data.kept_waiting.server or 0.0
    return share if SUSPECT_ABOVE < share <= ALL and has_bounds(data) else 0.0


def _affected(data: TrialData, share: float) -> tuple[str, ...]:
    """In an open loop, a slower server answers as many."""
    if share <= ALL:
        return LONGER
    return (*(RATES if data.closed is not None else ()), *TIMES)


def _remedy(share: float) -> str:
    """What to do, and what can be seen in spite of it."""
    stop = "stop what else runs on this machine"
    if share > INVALID:
        return stop
    factor = format_number(math.ceil(10 / (1 - share)) / 10)
    return f"{stop}; until then only medians and throughputs more than {factor} times apart say something"


def stolen(data: TrialData) -> Check | None:
    """Suspect: quantiles among the share of requests that were due while a hypervisor withheld a core.

    Only those that it could lengthen by more than a twentieth are affected.
    """
    m = data.machine
    taken = m.steal_s >= NOTICEABLE_S
    if not taken.any() or not data.responses.whole.n_events:
        return None
    share, longest = float(m.steal_s[taken].sum() / m.length_s.sum()), float(m.steal_s.max())
    sample = data.responses.whole
    affects = tuple(
        name
        for name in quantiles_among(share)
        if longest > LENGTHENED * (quantile_of(sample, NAMED[name]) or 0.0)
    )
    if not affects:
        return None
    message = f"the hypervisor withheld a core for {percent(share)} of the time, which delayed " + (
        "the requests that were in flight" if data.closed is not None else "about that share of the requests"
    )
    remedy = "run on a dedicated machine, or read these quantiles with that in mind"
    return Check("steal", Verdict.SUSPECT, share, 0, "share", message, remedy, affects, "machine")

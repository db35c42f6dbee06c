"""What the machine did to a trial: processors given to others, and memory or disk that kept work waiting.

The kernel counts the time that a hypervisor takes, and the work of others, by sampling at its ticks. So less
than `TOLD_S` in a step is not reported, nor is what may be a sampling error.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from jostle.analysis.results import Check
from jostle.analysis.stats.sample import Bools, Floats, quantile_of
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.figures import RATES, TIMES, quantiles_among
from jostle.formatting import listed, percent
from jostle.quantiles import NAMED
from jostle.record.verdict import Verdict
from jostle.units import format_duration, format_number

__all__ = ["Trouble", "machine", "stolen", "told", "troubles"]

SUSPECT, ALL, INVALID = 0.20, 0.50, 0.90
"""Share of the time in which the server had work but others ran, which slowed it down by as much. Others come
in bursts, which the longer times show first: these are in doubt above the first share (and the trial is
measured again), and above the second the median, the mean and the rates as well. Above the third, what is
left says nothing of the server. Chosen from the table in docs/explanation/how-often-right.md."""

LONGER = tuple(name for name in TIMES if name not in ("min", "p5", "p25", "p50", "mean", "service p50"))

VISIBLE = 0.15
"""Share of the server's cores. Less than this in a trial may be an error of the kernel's samples, and did no
harm: undisturbed, up to 0.09 was seen, and beside a program that computes for 10 % of the time up to 0.17,
where no figure moved (docs/explanation/how-often-right.md)."""

LENGTHENED = 0.05
"""Share of a quantile that a core's absence must reach to be told of it."""

TOLD_S = 0.03
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
    m = data.machine
    found = [
        *_runs(
            m.start_s,
            m.steal_s,
            m.steal_s >= TOLD_S,
            "the hypervisor withheld a core for {} (steal)",
        ),
        *_runs(
            m.start_s,
            m.others_s,
            m.others_s > np.maximum(ERRORS * m.others_error_s, np.maximum(TOLD_S, OTHERS_SHARE * m.length_s)),
            "other processes used the cores for {}",
        ),
        *_runs(
            m.start_s,
            m.waited_s,
            m.waited_s >= TOLD_S,
            "the generator waited {} for a core",
        ),
        *_runs(
            m.start_s,
            m.memory_s,
            m.memory_s >= TOLD_S,
            "processes waited {} for memory (PSI)",
        ),
        *_runs(m.start_s, m.io_s, m.io_s >= TOLD_S, "processes waited {} for the disk (PSI)"),
        *_slow(m.start_s, m.length_s, m.mhz),
    ]
    return sorted(found, key=lambda trouble: -trouble.length_s)


def _runs(start_s: Floats, lost_s: Floats, there: Bools, sentence: str) -> Iterator[Trouble]:
    """One trouble for each run of affected steps; its time is known to a quarter of a second."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]]).astype(int)))
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


def told(data: TrialData) -> str:
    """The longest troubles as one sentence; empty if there were none."""
    found = troubles(data)[:MAX_SHOWN]
    return listed([trouble.sentence for trouble in found]) if found else ""


def machine(data: TrialData) -> Check | None:
    """The share of the time in which the server had work but others had its processors.

    A server also waits for its own threads, so no more waiting is counted than others worked. What a
    hypervisor took is shared among all that ran. None if the server is not ours, and in older records.
    """
    m, server = data.machine, data.resource_usage
    if len(m.start_s) == 0 or len(server.t_ns) < 2 or np.isnan(m.others_s).any():
        return None
    cpu_s, busy_s = float(server.cpu_s[-1] - server.cpu_s[0]), float(m.busy_s.sum())
    stolen_s = float(m.steal_s.sum()) * (min(1.0, cpu_s / busy_s) if busy_s else 1.0)
    others_s = m.others_beside_server_s(cpu_s)
    seen = others_s >= VISIBLE * float(m.length_s.sum()) * len(_server_cores(data))
    lost = (min(server.waited_s, others_s) if seen else 0.0) + stolen_s
    response = data.responses.whole
    answering_s = min(float(m.length_s.sum()), response.n_events * (response.mean_s or 0.0))
    wanted = max(cpu_s + server.waited_s + stolen_s, answering_s)
    share = lost / wanted if wanted and lost > TOLD_S else 0.0
    verdict = Verdict.INVALID if share > INVALID else Verdict.SUSPECT if share > SUSPECT else Verdict.VALID
    limit = INVALID if verdict is Verdict.INVALID else SUSPECT
    message = (
        f"other programs or virtual machines used the server's cores for {percent(share)} of the time in "
        "which it had work"
    )
    remedy = _remedy(share) if verdict is not Verdict.VALID else ""
    return Check(
        "machine",
        verdict,
        share,
        limit,
        "share",
        message,
        remedy,
        _affected(data, share) if verdict is Verdict.SUSPECT else (),
        "machine",
        again=share > SUSPECT,
    )


def _affected(data: TrialData, share: float) -> tuple[str, ...]:
    """In an open loop, a slower server answers as many."""
    if share <= ALL:
        return LONGER
    return (*(RATES if data.closed is not None else ()), *TIMES)


def _server_cores(data: TrialData) -> Sequence[int]:
    """One where that is not known."""
    return data.trial.description.get("placement", {}).get("server_cores") or [0]


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
    taken = m.steal_s >= TOLD_S
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

"""Pauses, in which no request is answered, such as a garbage collection, a checkpoint or a job: how long, and
how often.

A stall that a route does not make by itself is the server's, or the machine's. Its end is seen exactly, as
all that waited are answered then; it began before the first of them came.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding
from jostle.explain.reason import Reason
from jostle.explain.slow_responses.periods import Period, is_rest_of
from jostle.explain.slow_responses.requests import LONGER_S, Requests
from jostle.explain.slow_responses.stalls import Stall, periodic
from jostle.formatting import amount, listed, percent, plural, with_range
from jostle.host.halts import Halt

__all__ = ["BUSY", "pauses", "unless_full"]

OWN = 0.25
"""Stalls are jostle's own if so many requests, as a share of them, were sent late by half of their length."""

FEW = 4
"""The least number of stalls at irregular times that are the server's."""

BUSY = 0.05
"""If some thread of this machine waited for a core for more than this share of the time, the machine may have
caused the stalls."""

SURELY_S = 0.05
"""Shorter stalls may as well come from the machine: a thread that waits for a core."""

SURELY_BEAT_S, SURELY = 0.05, 1e-6
"""Shorter stalls are not the server's on a busy machine even if they are regular, as others have jobs, too;
nor are those that would look as regular by chance more often than this.
"""

BESIDES = 1.15
"""What is longer than three quarters of the pauses by this factor had another cause besides."""

SURE = 3.0
"""e⁻³ = 5 %: a pause of length L is missed with probability e^(−rate·L)."""


def pauses(
    requests: Requests, left: Sequence[Stall], pressure: float | None, late: Sequence[Halt] = ()
) -> list[Finding]:
    """One finding for each period, one for pauses at irregular times, or that there is none. `left`: the
    stalls that no route makes by itself. `pressure`: the share of the time in which some thread of this
    machine waited for a core, besides. `late`: when jostle itself sent requests late.
    """
    n, span_s = len(requests), requests.span_s
    per_s = n / span_s
    noticed_s = max(SURE / per_s, LONGER_S)
    evidence = [
        f"{plural(n, 'request')} in {span_s:.0f} s; a pause of {amount(noticed_s, 's')} would delay at least "
        "one of them in 95 cases of 100."
    ]
    if left:
        evidence.append(_listed(left))
    busy = (pressure or 0.0) > BUSY
    long = [stall for stall in left if stall.length_s >= SURELY_S]
    if (own := _own(long, late)) > OWN * len(long):
        return [
            cannot_tell(
                Topic.PAUSES,
                Reason.GENERATOR,
                f"{plural(len(long), 'time')} responses were late, for {_longest(long)} at most, and {own} "
                "requests were sent as late by jostle itself",
                "a quieter machine, or the server on another one",
                evidence,
                suspicion=_suspicion(long, span_s, "jostle itself was late as often"),
            )
        ]
    regular = [one for one in periodic(long, span_s) if not busy or one[0].false_alarm <= SURELY]
    least_s = SURELY_BEAT_S if busy else 0.0
    rest = [stall for stall in left if stall.length_s >= least_s and stall not in _beats(regular)]
    further = [one for one in periodic(rest, span_s) if not busy or one[0].false_alarm <= SURELY]
    regular += [one for one in further if not any(is_rest_of(known, one[0]) for known, _ in regular)]
    findings = [_regular(period, beats, per_s, evidence) for period, beats in regular]
    irregular = [stall for stall in long if stall not in _beats(regular)]
    if len(irregular) >= FEW and not busy:
        findings.append(_irregular(irregular, span_s, evidence))
    if findings:
        return findings
    if long:
        waited = f" (threads waited for a core for {percent(pressure)} of the time)" if pressure else ""
        return [
            cannot_tell(
                Topic.PAUSES,
                Reason.AMBIGUOUS,
                f"the server stood still {plural(len(long), 'time')}, for {_longest(long)} at most, and the "
                f"machine may be the cause{waited}",
                "a quieter machine; a longer --budget",
                evidence,
                suspicion=_suspicion(long, span_s, "the machine may be the cause, which is busy"),
            )
        ]
    return [
        decided_finding(
            Topic.PAUSES,
            f"No pause of {amount(max(noticed_s, SURELY_S if busy else 0.0), 's')} or more was seen in "
            f"{span_s:.0f} s.",
            evidence,
            absent=f"pauses of {amount(max(noticed_s, SURELY_S if left else 0.0), 's')} or more",
        )
    ]


def _beats(regular: Sequence[tuple[Period, list[Stall]]]) -> list[Stall]:
    return [stall for _, beats in regular for stall in beats]


def _regular(period: Period, beats: Sequence[Stall], per_s: float, evidence: Sequence[str]) -> Finding:
    every, length = period.every, _length(beats, per_s)
    assert length.value is not None
    text = f"Every {with_range(every)} the server stands still for {with_range(length)}."
    lines = [
        *evidence,
        f"{plural(len(beats), 'stall')} come in a period of {amount(period.every_s, 's')}; stalls at random "
        f"times would do so in {percent(period.false_alarm)} of cases.",
    ]
    figures = {"every": every, "longest": length}
    # Who comes at a random time of a pause waits for half of it.
    hurts_s = length.value**2 / 2 / period.every_s
    cure = "Look for a job, a timer or a collection of that period."
    return decided_finding(Topic.PAUSES, text, lines, figures, hurts_s=hurts_s, cure=cure)


def _length(beats: Sequence[Stall], per_s: float) -> Estimate:
    """How long pauses of one length are: none was seen longer, and the first request of each came a moment
    after its beginning. Some are longer, because something else came in between.
    """
    lengths = np.array([stall.length_s for stall in beats])
    longest = float(lengths[lengths <= BESIDES * np.quantile(lengths, 0.75)].max())
    return Estimate(longest, longest, longest + SURE / (len(beats) * per_s), n=len(beats))


def _irregular(those: Sequence[Stall], span_s: float, evidence: Sequence[str]) -> Finding:
    lengths = [stall.length_s for stall in those]
    text = (
        f"The server stands still now and then, {plural(len(those), 'time')} in {span_s:.0f} s, for "
        f"{amount(max(lengths), 's')} at most; no period was found."
    )
    figures = {
        "longest": Estimate(max(lengths), n=len(lengths)),
        "typical": Estimate(float(np.median(lengths)), n=len(lengths)),
    }
    hurts_s = sum(length**2 for length in lengths) / 2 / span_s
    cure = "Look at its log of garbage collections, and at what else runs beside it."
    return decided_finding(Topic.PAUSES, text, evidence, figures, hurts_s=hurts_s, cure=cure)


def unless_full(finding: Finding, waits_beside: Mapping[str, str]) -> Finding:
    """The finding, or that pauses at irregular times are not to be told from waiting for one of the server's
    workers, if it has so few that others wait while all of them are taken.
    """
    irregular = finding.topic is Topic.PAUSES and finding.hurts_s > 0 and finding.figure("every") is None
    full = [route for route, says in waits_beside.items() if says == "waits"]
    if not irregular or not full:
        return finding
    return cannot_tell(
        finding.topic,
        Reason.AMBIGUOUS,
        f"requests wait while all that serve are taken by {listed(full)}, and that looks like a pause",
        "fewer routes: only the first one",
        finding.evidence,
    )


def _suspicion(those: Sequence[Stall], span_s: float, but: str) -> str:
    if len(those) < FEW:
        return ""
    return (
        f"The server may stand still now and then: {plural(len(those), 'time')} in {span_s:.0f} s responses "
        f"were late, for {_longest(those)} at most, but {but}."
    )


def _own(those: Sequence[Stall], late: Sequence[Halt]) -> int:
    """How many requests were sent late by half of the usual length of these stalls."""
    middle = float(np.median([one.length_s for one in those])) if those else np.inf
    return sum(halt.end_s - halt.begin_s >= middle / 2 for halt in late)


def _longest(those: Sequence[Stall]) -> str:
    return amount(max(stall.length_s for stall in those), "s")


def _listed(those: Sequence[Stall]) -> str:
    some = ", ".join(f"{one.begin_s:.2f} s ({amount(one.length_s, 's')})" for one in those[:12])
    return f"Stalls at {some}" + (f" and {len(those) - 12} more." if len(those) > 12 else ".")

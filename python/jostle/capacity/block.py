"""One trial of a level: how many requests broke each SLO, and whether generator or machine were to blame."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.analysis.results import Validity
from jostle.analysis.stats.sample import EMPTY, Bools, WeightedSample, from_histograms, pool
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.streaming import fold
from jostle.analysis.validity.checks import CPU_SUSPECT, judge_data
from jostle.capacity.slo import Slo
from jostle.formatting import percent
from jostle.record.outcomes import ENDED_BY_STOP, TIMEOUTS, Outcome
from jostle.record.verdict import Verdict
from jostle.text import first_line
from jostle.units import format_duration

__all__ = ["Block", "SloTally", "block_of"]

BATCHES = 8
"""Parts of a block; their counts show by how much more than chance they vary."""

LONG = 5.0
"""Requests are said to pile up only in a block that lasts this many times as long as the shortest of them."""

SETTLING = 0.2
"""Share of a block that is left out at its start, when the server is still empty."""


@dataclass(frozen=True)
class SloTally:
    """How many requests broke one SLO."""

    n: int
    """All that count."""

    exceeded: int
    parts: tuple[tuple[int, int], ...] = ()
    """The same two numbers for each part of the block."""


@dataclass(frozen=True)
class Block:
    """What one trial of a level says."""

    level: float
    trial: int
    """Its number."""

    tallies: tuple[SloTally, ...]
    """One for each SLO, in their order."""

    rate: float = 0.0
    """Requests per second of an open loop; 0 in a closed one."""

    limited: str = ""
    """Why the generator was the limit; empty if it was not."""

    spoiled: str = ""
    """What the machine did to it; empty if nothing."""

    away: str = ""
    """Why no load was sent, as the server was not there; empty if it was."""

    died: str = ""
    """How the server ended in the middle; empty if it did not."""

    response: WeightedSample = EMPTY
    data: TrialData | None = None

    @property
    def counts(self) -> bool:
        """Whether it says something about the server."""
        return not self.limited and not self.spoiled and not self.away


def _settled(data: TrialData) -> Bools:
    """For each interval, whether it begins after the part that is left out."""
    return np.asarray(data.counts.start_ns >= SETTLING * data.counts.end_ns[-1])


def _parts(data: TrialData) -> list[Bools]:
    settled = np.flatnonzero(_settled(data))
    masks = []
    for part in np.array_split(settled, min(BATCHES, max(1, len(settled)))):
        mask = np.zeros(len(data.counts.end_ns), dtype=np.bool_)
        mask[part] = True
        masks.append(mask)
    return masks


def block_of(data: TrialData, level: float, slos: Sequence[Slo]) -> Block:
    """The block of a finished trial."""
    number = data.trial.number
    why = first_line(data.trial.why)
    if data.trial.server_away:
        return Block(level, number, _nothing(slos), away=why)
    if not data.recorded:
        return Block(level, number, _nothing(slos), limited=why or "nothing was recorded")
    if data.trial.status == "failed":
        return Block(level, number, _nothing(slos), died=why, data=data)
    masks = _parts(data)
    parts = fold(data.trial.interval_histograms("response"), masks).parts
    tallies = tuple(_tally(data, slo, masks, parts) for slo in slos)
    validity = judge_data(data)
    return Block(
        level,
        number,
        tallies,
        0.0 if data.open is None else level,
        limited=_limited(data, validity, slos, tallies),
        spoiled=_spoiled(validity),
        response=pool(parts),
        data=data,
    )


def _nothing(slos: Sequence[Slo]) -> tuple[SloTally, ...]:
    return tuple(SloTally(0, 0) for _ in slos)


def _tally(data: TrialData, slo: Slo, masks: list[Bools], parts: list[WeightedSample]) -> SloTally:
    counted = []
    for mask, sample in zip(masks, parts, strict=True):
        failed = int(data.counts.failed[mask].sum())
        late = 0 if slo.limit_s is None else int(sample.events[sample.values_s > slo.limit_s].sum())
        counted.append((sample.n_events + failed, late + failed))
    waiting = _piled_up(data, parts) if slo.limit_s is None else _cut_off_late(data, slo.limit_s)
    if waiting:
        n, exceeded = counted[-1]
        counted[-1] = n + waiting, exceeded + waiting
    return SloTally(sum(n for n, _ in counted), sum(k for _, k in counted), tuple(counted))


def _piled_up(data: TrialData, parts: Sequence[WeightedSample]) -> int:
    """Number of requests that the end cut off, if they pile up; sooner or later they would have failed.

    In a block that is not long beside the time of a single request, those under way look like a pile.
    """
    times = [float(sample.values_s[sample.events > 0].min()) for sample in parts if sample.n_events]
    if not data.overloaded or not times or data.duration_s < LONG * min(times):
        return 0
    outcomes = data.outcomes()
    return sum(outcomes.get(kind, 0) for kind in ENDED_BY_STOP)


def _cut_off_late(data: TrialData, limit_s: float) -> int:
    """Number of requests cut off by the end after the limit had passed; timeouts count as failures."""
    outcomes = data.outcomes()
    cut_off, timeouts = (sum(outcomes.get(kind, 0) for kind in kinds) for kinds in (ENDED_BY_STOP, TIMEOUTS))
    given_up = from_histograms([], [data.trial.histogram("censored")])
    late = int(given_up.censored[given_up.values_s > limit_s].sum())
    return max(0, min(cut_off, late - timeouts))


def _limited(data: TrialData, validity: Validity, slos: Sequence[Slo], tallies: Sequence[SloTally]) -> str:
    """Why the generator was the limit: it did not send the load, or being busy or late it missed an SLO."""
    short = next(
        (
            check.message
            for check in validity.failed
            if check.name in ("offered load", "interactive law") and check.cause == "generator"
        ),
        "",
    )
    if short:
        return short
    missed = [slo for slo, tally in zip(slos, tallies, strict=True) if tally.exceeded > slo.share * tally.n]
    if missed and data.generator_cpu > CPU_SUSPECT:
        return f"the generator's busiest thread used {percent(data.generator_cpu)} of a core"
    for slo in missed:
        if slo.limit_s is not None and _kept_from_the_send(data, slo.limit_s, slo.share):
            return f"counted from the moment of sending {slo.text} holds: the generator sent too late"
    effects = data.lateness if missed else {}
    for slo in missed:
        effect = effects.get(slo.metric)
        if effect and slo.limit_s is not None and effect.without_s <= slo.limit_s < effect.reported_s:
            return (
                f"without the generator's own lateness {slo.metric} would be as low as "
                f"{format_duration(effect.without_s)} instead of {format_duration(effect.reported_s)}"
            )
    return ""


def _kept_from_the_send(data: TrialData, limit_s: float, share: float) -> bool:
    """Whether an open loop keeps the SLO if times count from the send; False if connections were lacking.

    With connections to spare, response times exceed service times only by the generator's own lateness. Both
    are of the same requests, those that are tallied.
    """
    if data.open is None or data.counts.connections.max() >= data.most_connections:
        return False
    settled = _settled(data)
    (service,) = fold(data.trial.interval_histograms("service"), [settled]).parts
    failed = int(data.counts.failed[settled].sum())
    late = int(service.events[service.values_s > limit_s].sum())
    cut_off = data.outcomes().get(Outcome.UNFINISHED, 0)
    return late + failed + cut_off <= share * (service.n_events + failed + cut_off)


def _spoiled(validity: Validity) -> str:
    """What the machine did to the block; "" if nothing."""
    spoiled = [
        check
        for check in validity.checks
        if check.cause == "machine" and (check.again or check.verdict is Verdict.INVALID)
    ]
    return spoiled[0].message if spoiled else ""

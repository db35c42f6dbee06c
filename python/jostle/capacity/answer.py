"""From the record of a search to its answer: which load the server carries, and what was the limit."""

import math
from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.analysis.results.capacity import CapacityAnswer, CapacityResult, SloResult
from jostle.analysis.run import rerun_of
from jostle.analysis.standing import took_s
from jostle.analysis.stats.crossing import Crossing
from jostle.capacity.block import block_of
from jostle.capacity.curve import curve_of, scalability
from jostle.capacity.doubts import went_away
from jostle.capacity.hysteresis import hysteresis
from jostle.capacity.levels import BROKEN, by_level, first_limited
from jostle.capacity.recorded import RecordedSearch
from jostle.capacity.search import decisive, estimate_of
from jostle.capacity.sentences import sentences
from jostle.formatting import percent, plural, tallied
from jostle.record.outcomes import outcome_label
from jostle.text import first_line

__all__ = ["capacity_of"]


def capacity_of(search: RecordedSearch) -> CapacityResult:
    """The answer, without a model: see `fitted.with_model`."""
    record = search.record
    crossings = search.crossings
    number = decisive(crossings)
    answer, capacity, why = _answer(search, crossings, number)
    decides = number if number is not None else 0
    slos = [
        SloResult(slo.text, slo.share, slo.limit_s, _estimate(search, crossing, slo.text))
        for slo, crossing in zip(search.slos, crossings or [None] * len(search.slos), strict=True)
    ]
    curve = curve_of(search, decides)
    back = hysteresis(search, decides)
    return CapacityResult(
        title=search.plan.title,
        folder=str(record.folder),
        started=str(record.host.get("started", "")),
        target=", ".join(search.plan.contestants),
        unit=search.unit,
        answer=answer,
        capacity=capacity,
        decides=search.slos[decides].text,
        sentences=sentences(search, answer, capacity, why, decides, curve, back),
        slos=slos,
        levels=curve,
        hysteresis=back,
        model=None,
        model_note="",
        scalability=scalability(curve),
        notes=_notes(search),
        took_s=took_s(record),
        rerun=rerun_of(record),
        seed=int(record.host.get("seed") or 0),
        simulated=search.alone is not None and search.alone.trial.simulated,
    )


def _answer(
    search: RecordedSearch, crossings: Sequence[Crossing | None], number: int | None
) -> tuple[CapacityAnswer, Estimate, str]:
    """What kind of answer there is, the capacity, and the reason if there is none."""
    unknown = Estimate(None, unit=search.unit)
    if why := _hopeless(search):
        return "none", unknown, why
    held = max((x.level for x in search.levels if x.decided == "holds"), default=None)
    limited = first_limited(search.levels)
    crossing = None if number is None else crossings[number]
    if crossing is not None and crossing.level < limited:
        return "found", _estimate(search, crossing, search.slos[number or 0].text), ""
    at_least = Estimate(held, held, None, search.unit, "≥", note="no level missed")
    if math.isfinite(limited):
        level = next(x for x in search.levels if x.level == limited)
        reason = level.limited[0].limited
        return "generator", at_least if held else unknown, f"at {search.shown(limited)}: {reason}"
    misses = [x.level for x in search.levels if x.provisional_decision == "misses"]
    gone = went_away(search)
    if misses and not any(x.provisional_decision == "holds" and x.level < min(misses) for x in search.levels):
        if gone:
            return "undecided", unknown, gone
        return (
            "none",
            unknown,
            f"it misses already at {search.shown(min(misses))}, the lowest that was measured",
        )
    if held is not None and not misses:
        return "at least", at_least, ""
    if search.levels and all(x.decided == "spoiled" for x in search.levels):
        return (
            "undecided",
            unknown,
            f"the machine was busy with other work: {search.levels[0].blocks[0].spoiled}",
        )
    return "undecided", unknown, gone or "too little was measured: give it more time (--budget)"


def _hopeless(search: RecordedSearch) -> str:
    """Why nothing was measured under load; "" if it was."""
    alone = search.alone
    if alone is None:
        return "not even one request at a time was measured"
    if not alone.recorded or alone.trial.status == "failed":
        return first_line(alone.trial.why) or "nothing was recorded"
    if alone.error_share > BROKEN or not alone.ok():
        kinds = tallied({outcome_label(kind): n for kind, n in alone.errors.items()})
        reasons = tallied({r: n for kind in alone.errors for r, n in alone.reasons(kind).items()})
        more = f"; {reasons}" if reasons else ""
        return (
            f"asked one request at a time, it failed {percent(alone.error_share)} of them ({kinds}{more})"
            if alone.errors
            else "no single request was answered in time"
        )
    (level,) = by_level([block_of(alone, 1.0, search.slos)], search.slos)
    if level.provisional_decision != "misses" or search.levels:
        return ""
    worst = max(range(len(search.slos)), key=lambda i: level.share(i) / search.slos[i].share)
    return (
        f"one request at a time, with no other load, breaks {search.slos[worst].text} in "
        f"{percent(level.share(worst))} of the cases"
    )


def _estimate(search: RecordedSearch, crossing: Crossing | None, text: str) -> Estimate:
    """The crossing as an estimate. Clients are rounded down to the largest number at which the SLO holds."""
    if crossing is None:
        return Estimate(None, unit=search.unit, note=f"{text}: no level above it was measured")
    note = (
        ""
        if crossing.bounded
        else "one end of the interval is the last level measured on that side; the true end may lie beyond it"
    )
    ends = (crossing.level, crossing.low, crossing.high)
    if search.unit == "clients":
        value, low, high = (float(math.floor(end + 1e-9)) for end in ends)
    else:
        value, low, high = ends
    n = sum(len(level.counted) for level in search.levels)
    return Estimate(value, low, high, search.unit, n=n, note=note)


def _notes(search: RecordedSearch) -> list[str]:
    notes = []
    alone = search.alone
    if alone is not None and alone.trial.simulated:
        notes.append("Simulated: load and server were calculated. Nothing was measured.")
    if not search.record.complete:
        notes.append(f"The run is not complete: {search.record.incomplete_why}")
    if search.back is None and search.record.complete and estimate_of(search.levels) is not None:
        notes.append(
            "It was not asked whether the server recovers from an overload: that would have exceeded --most."
        )
    spoiled = sum(bool(block.spoiled) for level in search.levels for block in level.blocks)
    if spoiled:
        blocks = plural(spoiled, "block")
        notes.append(f"{blocks} did not count: other programs or virtual machines disturbed the measurement.")
    return notes

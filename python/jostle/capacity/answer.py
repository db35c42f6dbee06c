"""From the record of a capacity run, complete or stopped early, to its answer."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from jostle.analysis.results import Estimate
from jostle.analysis.results.capacity import (
    Answer,
    CapacityResult,
    FittedModel,
    Hysteresis,
    LevelResult,
    Scalability,
    SloResult,
)
from jostle.analysis.run import rerun_of, took_s
from jostle.analysis.stats.crossing import Crossing
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import WeightedSample, pool, quantile_of
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.streaming import fold
from jostle.capacity import model as models
from jostle.capacity.block import Block, block_of
from jostle.capacity.doubts import went_away
from jostle.capacity.levels import Level, by_level, crossing_of, first_limited
from jostle.capacity.queueing.usl import fit as fit_usl
from jostle.capacity.run import BACK, BROKEN, DRAIN
from jostle.capacity.search import FITTED, decisive, estimate_of
from jostle.capacity.sentences import sentences
from jostle.capacity.slo import Slo, read_slos
from jostle.errors import NotARun
from jostle.formatting import percent, plural, tallied
from jostle.plan.conditions import SLO_PARAMETER
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.record.outcomes import outcome_label
from jostle.text import first_line
from jostle.units import format_rate

__all__ = ["Measured", "capacity_of", "figures_of", "saturated", "split_points"]

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}

LAST = 0.5
"""The last part of the time after an overload, as a share, which is judged."""

SATURATED = 0.93
"""The server is saturated if it answered less than this share of the requests that were due."""

ROUNDING = 1.05
"""Slack for levels, as they were chosen from an earlier estimate of the capacity."""

ANSWERED = 0.5
"""A server has not recovered if it answers a smaller share than this of the requests that are due."""

BACK_SLACK = 2.0
"""After an overload, this many times the permitted share may break the SLO by chance."""


class Measured:
    """The record of a capacity run, in the terms of the search.

    Raises `NotARun` for other runs, such as that of a plan written by hand whose workloads are no levels.
    """

    def __init__(self, record: RunRecord) -> None:
        plan = RecordedPlan.parse(record.plan_text)
        asked = str(plan.parameters.get(SLO_PARAMETER, ""))
        if not asked:
            raise NotARun(f"{record.folder} is not a run of jostle capacity", "jostle report shows it")
        self.record, self.plan = record, plan
        self.slos: tuple[Slo, ...] = read_slos([part.strip() for part in asked.split(";")])
        self.alone: TrialData | None = None
        self.back: TrialData | None = None
        self.held_out: set[float] = set()
        blocks: list[Block] = []
        self.unit = "/s"
        for trial in record.trials:
            data = TrialData(trial)
            if trial.workload == "alone":
                self.alone = data
            elif trial.workload == BACK:
                self.back = data
            elif trial.workload == DRAIN:
                continue
            else:
                kind, _, rest = trial.workload.partition("-")
                self.unit = "clients" if kind == "clients" else "/s"
                try:
                    level = float(rest.removesuffix("-held-out"))
                except ValueError:
                    raise NotARun(
                        f"{record.folder} is not a run of jostle capacity: its workload {trial.workload!r} "
                        "is no level of a load",
                        "jostle report shows it",
                    ) from None
                if rest.endswith("-held-out"):
                    self.held_out.add(level)
                blocks.append(block_of(data, level, self.slos))
        self.levels: list[Level] = by_level(blocks, self.slos)

    @property
    def crossings(self) -> list[Crossing | None]:
        return [crossing_of(self.levels, i) for i in range(len(self.slos))] if self.levels else []

    def shown(self, level: float) -> str:
        """The level as it is shown to readers."""
        return format_rate(level) if self.unit == "/s" else f"{level:g} clients"


def capacity_of(found: Measured, *, model: bool = True) -> CapacityResult:
    """The answer. `model`: whether a model is fitted as well, which takes seconds."""
    record = found.record
    crossings = found.crossings
    number = decisive(crossings)
    answer, capacity, why = _answer(found, crossings, number)
    decides = number if number is not None else 0
    slos = [
        SloResult(slo.text, slo.share, slo.limit_s, _estimate(found, crossing, slo.text))
        for slo, crossing in zip(found.slos, crossings or [None] * len(found.slos), strict=True)
    ]
    curve = [_level(level, decides, level.level in found.held_out) for level in found.levels]
    fitted, note = _model(found, capacity) if model else (None, "")
    back = _hysteresis(found, decides)
    return CapacityResult(
        title=found.plan.title,
        folder=str(record.folder),
        started=str(record.host.get("started", "")),
        target=", ".join(found.plan.contestants),
        unit=found.unit,
        answer=answer,
        capacity=capacity,
        decides=found.slos[decides].text,
        sentences=sentences(found, answer, capacity, why, decides, curve, fitted, note, back),
        slos=slos,
        levels=curve,
        hysteresis=back,
        model=fitted,
        model_note=note,
        scalability=_scalability(curve),
        notes=_notes(found),
        took_s=took_s(record),
        rerun=rerun_of(record),
        seed=int(record.host.get("seed") or 0),
        simulated=found.alone is not None and found.alone.trial.simulated,
    )


def _answer(
    found: Measured, crossings: Sequence[Crossing | None], number: int | None
) -> tuple[Answer, Estimate, str]:
    """What kind of answer there is, the capacity, and the reason if there is none."""
    unknown = Estimate(None, unit=found.unit)
    if why := _hopeless(found):
        return "none", unknown, why
    held = max((x.level for x in found.levels if x.decided == "holds"), default=None)
    limited = first_limited(found.levels)
    crossing = None if number is None else crossings[number]
    if crossing is not None and crossing.level < limited:
        return "found", _estimate(found, crossing, found.slos[number or 0].text), ""
    at_least = Estimate(held, held, None, found.unit, "≥", note="no level missed")
    if math.isfinite(limited):
        level = next(x for x in found.levels if x.level == limited)
        reason = level.limited[0].limited
        return "generator", at_least if held else unknown, f"at {found.shown(limited)}: {reason}"
    misses = [x.level for x in found.levels if x.seems == "misses"]
    gone = went_away(found)
    if misses and not any(x.seems == "holds" and x.level < min(misses) for x in found.levels):
        if gone:
            return "cannot tell", unknown, gone
        return (
            "none",
            unknown,
            f"it misses already at {found.shown(min(misses))}, the lowest that was measured",
        )
    if held is not None and not misses:
        return "at least", at_least, ""
    if found.levels and all(x.decided == "spoiled" for x in found.levels):
        return (
            "cannot tell",
            unknown,
            f"the machine was busy with other work: {found.levels[0].blocks[0].spoiled}",
        )
    return "cannot tell", unknown, gone or "too little was measured: give it more time (--budget)"


def _hopeless(found: Measured) -> str:
    """Why nothing was measured under load; "" if it was."""
    alone = found.alone
    if alone is None:
        return "not even one request at a time was measured"
    if not alone.recorded or alone.trial.status == "failed":
        return first_line(alone.trial.why) or "nothing was recorded"
    if alone.error_share > BROKEN or not alone.ok():
        kinds = tallied({outcome_label(kind): n for kind, n in alone.errors.items()})
        reasons = tallied({r: n for kind in alone.errors for r, n in alone.reasons(kind).items()})
        told = f"; {reasons}" if reasons else ""
        return (
            f"asked one request at a time, it failed {percent(alone.error_share)} of them ({kinds}{told})"
            if alone.errors
            else "no single request was answered in time"
        )
    (level,) = by_level([block_of(alone, 1.0, found.slos)], found.slos)
    if level.seems != "misses" or found.levels:
        return ""
    worst = max(range(len(found.slos)), key=lambda i: level.share(i) / found.slos[i].share)
    return (
        f"one request at a time, with no other load, breaks {found.slos[worst].text} in "
        f"{percent(level.share(worst))} of the cases"
    )


def _estimate(found: Measured, crossing: Crossing | None, text: str) -> Estimate:
    """The crossing as an estimate. Clients are rounded down to the largest number at which the SLO holds."""
    if crossing is None:
        return Estimate(None, unit=found.unit, note=f"{text}: no level above it was measured")
    note = (
        ""
        if crossing.bounded
        else "one end of the interval is the last level measured on that side; the true end may lie beyond it"
    )
    ends = (crossing.level, crossing.low, crossing.high)
    if found.unit == "clients":
        value, low, high = (float(math.floor(end + 1e-9)) for end in ends)
    else:
        value, low, high = ends
    n = sum(len(level.counted) for level in found.levels)
    return Estimate(value, low, high, found.unit, n=n, note=note)


def _level(level: Level, decides: int, held_out: bool) -> LevelResult:
    blocks = [block for block in level.blocks if block.data is not None]
    counted = [block for block in blocks if block.counts] or blocks
    data = [block.data for block in counted if block.data is not None and block.data.recorded]
    sample = pool(block.response for block in counted)
    why = next(
        (block.limited or block.spoiled or block.away for block in level.blocks if not block.counts), ""
    )
    due = [one.total("due") for one in data]
    seconds = sum(one.duration_s for one in data) or 1.0
    n = sum(one.ok() + sum(one.errors.values()) for one in data)
    late = [p99 for one in data if (p99 := quantile_of(one.pacing, 0.99)) is not None]
    cores = [c for one in data if (c := one.vitals.cores(0, int(one.duration_s * 1e9))) is not None]
    is_open = any(one.open is not None for one in data)
    return LevelResult(
        level=level.level,
        decided=level.decided,
        why=why or level.died,
        trials=[block.trial for block in level.blocks],
        requests=level.total(decides)[0],
        exceeded_share=level.share(decides),
        response={
            "mean": Estimate(sample.mean_s, n=sample.n),
            **{name: quantile_estimate(sample, p) for name, p in QUANTILES.items()},
        },
        error_share=sum(sum(one.errors.values()) for one in data) / n if n else 0.0,
        offered_per_s=sum(due) / seconds if is_open else None,
        achieved_per_s=sum(one.ok() for one in data) / seconds,
        in_flight=sum(float(one.counts.in_flight_ns.sum()) for one in data) / 1e9 / seconds,
        generator_cpu=max((one.generator_cpu for one in data), default=0.0),
        lateness_p99_s=max(late, default=None),
        server_cores=max(cores, default=None),
        held_out=held_out,
        statuses=dict(sum((Counter(one.statuses()) for one in data), Counter[str]())),
    )


def _scalability(curve: Sequence[LevelResult]) -> Scalability | None:
    counted = [x for x in curve if x.decided not in ("generator", "spoiled")]
    usable = [x for x in counted if x.in_flight > 0 and x.achieved_per_s > 0]
    law = fit_usl([x.in_flight for x in usable], [x.achieved_per_s for x in usable])
    if law is None:
        return None
    peak = law.peak if math.isfinite(law.peak) else None
    return Scalability(law.gamma_per_s, law.alpha, law.beta, peak, law.note)


def _points(found: Measured) -> list[models.Point]:
    """The levels that count, in the form that `model` takes."""
    points = []
    for level in found.levels:
        blocks = [b for b in level.counted if b.data is not None and not b.died and b.response.n_events]
        if not blocks or level.decided in ("generator", "spoiled"):
            continue
        sample = pool(block.response for block in blocks)
        first = blocks[0].data
        assert first is not None
        throughput = sum(b.data.throughput for b in blocks if b.data is not None) / len(blocks)
        spec: dict[str, Any] = dict(first.trial.description.get("engine") or {})
        points.append(models.Point(level.level, spec, figures_of(sample), throughput))
    return points


def figures_of(sample: WeightedSample) -> dict[str, float]:
    known = {name: quantile_of(sample, p) for name, p in QUANTILES.items()}
    enough = {name: value for name, value in known.items() if value and sample.n * (1 - QUANTILES[name]) >= 3}
    return {**({"mean": sample.mean_s} if sample.mean_s else {}), **enough}


def _model(found: Measured, capacity: Estimate) -> tuple[FittedModel | None, str]:
    """The fitted model, or None and the reason."""
    if capacity.value is None or capacity.bound or found.alone is None:
        return None, "no model is fitted without a capacity"
    fitting, held_out = split_points(found, capacity.value)
    candidates = models.fit(found.alone.service, fitting, saturated(found))
    if not candidates:
        return None, "no model is fitted: too few levels up to 60 % of the load were measured"
    kept = models.retained(candidates, len(fitting))
    return models.judged(kept, fitting, held_out)[1], ""


def saturated(found: Measured) -> float:
    """The highest throughput, per second, at levels with clearly more offered load; infinite if there are
    none.
    """
    highest = math.inf
    for level in found.levels:
        for block in level.counted:
            data = block.data
            if data is None or not data.recorded or data.open is None or block.died:
                continue
            offered, answered = data.total("due") / data.duration_s, float(data.throughput)
            if answered < SATURATED * offered and data.error_share < BROKEN:
                highest = answered if math.isinf(highest) else max(highest, answered)
    return highest


def split_points(found: Measured, capacity: float) -> tuple[list[models.Point], list[models.Point]]:
    """The levels that a model is fitted to, up to 60 % of the load, and those that it is judged at."""
    points = _points(found)
    most = max(FITTED) * ROUNDING * capacity
    fitting = [p for p in points if p.level <= most and p.level not in found.held_out]
    return fitting, [p for p in points if p.level in found.held_out and p.level < capacity]


def _hysteresis(found: Measured, decides: int) -> Hysteresis | None:
    """Compares the last part of the time after the overload with the SLO."""
    data = found.back
    if data is None or not data.recorded:
        return None
    above, back = _steps(data)
    after = f"after an overload of {found.shown(above)}, at {found.shown(back)}"
    if data.trial.generators_lost:
        return Hysteresis(
            above, back, None, "a generator died, so it cannot be told whether the server recovers"
        )
    if data.trial.status == "failed":
        return Hysteresis(above, back, False, f"{after} it has not recovered: {first_line(data.trial.why)}")
    if len(data.phases) < 2:
        return None
    slo, end = found.slos[decides], float(data.counts.end_ns[-1]) / 1e9
    begin = data.phases[-1].start_s
    mask = data.middles_s >= end - LAST * (end - begin)
    sample = fold(data.trial.interval_histograms("response"), [mask]).parts[0]
    failed = int(data.counts.failed[mask].sum())
    late = 0 if slo.limit_s is None else int(sample.events[sample.values_s > slo.limit_s].sum())
    n = sample.n_events + failed
    due = int(data.counts.due[mask].sum())
    if n < ANSWERED * due and due * slo.share >= 1:
        message = f"{after} it has not recovered: of {due} requests, {n} were answered"
        return Hysteresis(above, back, False, message)
    if n * slo.share < 1:
        return Hysteresis(
            above, back, None, "there were too few requests to tell whether it recovers from an overload"
        )
    share = (late + failed) / n
    holds = share <= BACK_SLACK * slo.share
    message = (
        f"{after} it has recovered: {percent(share)} break {slo.text}"
        if holds
        else f"{after} it has not recovered: {percent(share)} still break {slo.text}"
    )
    return Hysteresis(above, back, holds, message)


def _steps(data: TrialData) -> tuple[float, float]:
    if data.open is not None:
        first, last = data.open["rates"][0]["from"], data.open["rates"][-1]["from"]
    else:
        phases = (data.closed or {})["phases"]
        first, last = phases[0]["from"], phases[-1]["from"]
    return float(first), float(last)


def _notes(found: Measured) -> list[str]:
    notes = []
    alone = found.alone
    if alone is not None and alone.trial.simulated:
        notes.append("Simulated: load and server were calculated. Nothing was measured.")
    if not found.record.complete:
        notes.append(f"The run is not complete: {found.record.incomplete_why}")
    if found.back is None and found.record.complete and estimate_of(found.levels) is not None:
        notes.append(
            "It was not asked whether the server recovers from an overload: that would have exceeded --most."
        )
    spoiled = sum(bool(block.spoiled) for level in found.levels for block in level.blocks)
    if spoiled:
        blocks = plural(spoiled, "block")
        notes.append(f"{blocks} did not count: other programs or virtual machines disturbed the measurement.")
    return notes

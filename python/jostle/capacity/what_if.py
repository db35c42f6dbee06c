"""What would another number of workers, another load or another service time change? Predicted, not measured.

The model was fitted to a run at low load and tested at levels that it had not seen. If it failed the test,
the error that was measured there is added to every prediction; nothing is predicted if not even the intervals
of what was predicted and what was measured overlapped. A capacity is predicted as the measured one times the
change that the model predicts, with a band that covers the interval of the measurement and all models that
fit equally well.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jostle.analysis.results import Estimate
from jostle.analysis.results.capacity import CapacityResult, FittedModel, WhatIf, WhatIfFigure
from jostle.analysis.stats.sample import WeightedSample, pool
from jostle.analysis.trials.data import TrialData
from jostle.capacity import model as models
from jostle.capacity.answer import capacity_of
from jostle.capacity.changes import HARDLY, WhatIfChanges
from jostle.capacity.fitted import figures_of, intervals_of, saturated_throughput, split_points
from jostle.capacity.recorded import RecordedSearch
from jostle.capacity.search import FITTED
from jostle.capacity.sentences import behaves_like, written
from jostle.capacity.slo import Slo
from jostle.errors import JostleError, PlanError
from jostle.formatting import formatted, percent, plural, with_range
from jostle.plan.criteria.conditions import SLO_PARAMETER
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord

__all__ = ["what_if"]

HALVINGS = 12


@dataclass(frozen=True)
class _Fitted:
    """The models that fit a run."""

    kept: list[models.Model]
    """The best first."""

    judged: FittedModel
    spec: Mapping[str, Any]
    """The engine's specification of a measured load."""

    unit: str
    measured: Mapping[float, Mapping[str, Estimate]]
    """By level, what was measured there."""

    computes: float = 1.0
    """The share of a request's time, by itself, in which the server computes; 1 if that is not known."""

    knows_cpu: bool = False

    @property
    def highest(self) -> float:
        """The highest load that was measured."""
        return max(self.measured, default=0.0)


def what_if(record: RunRecord, changes: WhatIfChanges) -> WhatIf:
    """Predicts the effect of `changes`. Raises `PlanError` if run and changes do not fit each other, and
    `JostleError` if what was found in the run allows no prediction.
    """
    is_capacity = SLO_PARAMETER in RecordedPlan.parse(record.plan_text).parameters
    found = RecordedSearch(record) if is_capacity else None
    now = capacity_of(found) if found else None
    fitted = _of_capacity(found, now) if found and now else _of_any(record)
    if not fitted.judged.usable:
        raise JostleError(
            f"model rejected: {behaves_like(fitted.judged)} fits lower loads best, but {fitted.judged.why}",
            f"{_likely(fitted.judged)}; nothing is predicted from it: measure the change itself",
        )
    rated = changes.rate is not None or changes.rate_factor is not None
    if (rated and fitted.unit != "/s") or (changes.clients and fitted.unit == "/s"):
        wrong, right = ("rate", "clients") if rated else ("clients", "rate")
        raise PlanError(f"the run has no {wrong}: its load was of another kind", f"give {right}=…")
    if changes.workers and not fitted.kept[0].workers:
        raise JostleError(
            "no limit on workers was found, so that more or fewer of them cannot be told apart",
            "measure closer to the limit: jostle capacity",
        )
    level = changes.level(fitted.highest)
    if level is None and found is None:
        level = fitted.highest
    figures, without = list[WhatIfFigure](), list[str]()
    if found and now and changes.of_the_server:
        why = _no_capacity(found.slos, fitted)
        if not why:
            figures.append(_capacity(found.slos, now.capacity, fitted, changes))
        elif level is not None:
            without.append(f"{why[:1].upper()}{why[1:]}.")
        else:
            raise PlanError(why, "say at which load: rate=… or clients=…; or measure the change instead")
    if level is not None:
        figures += _at_the_level(fitted, changes, level)
    figures = [_widened(figure, fitted.judged) for figure in figures]
    return WhatIf(
        str(record.folder),
        list(changes.text),
        fitted.judged,
        figures,
        [*_sentences(fitted, changes, figures, level), *without],
    )


def _of_capacity(found: RecordedSearch, now: CapacityResult) -> _Fitted:
    capacity = now.capacity
    if now.answer != "found" or capacity.value is None or found.alone is None:
        raise JostleError(f"{now.folder}: {now.sentences[0]}", "there is nothing to predict from")
    fitting, held_out = split_points(found, capacity.value)
    return _fit([found.alone], fitting, held_out, found.unit, now.folder, saturated_throughput(found))


def _of_any(record: RunRecord) -> _Fitted:
    """Fits any run of one server with one kind of load at several levels. What a request takes by itself is
    what a single client saw or, if there was none, what requests took at the lowest level.
    """
    by_load: dict[tuple[str, float], list[TrialData]] = {}
    for trial in record.trials:
        data = TrialData(trial)
        if data.usable and data.steady_load and not data.has_background and not data.overloaded:
            by_load.setdefault(_level(data), []).append(data)
    if len({trial.contestant for trial in record.trials}) != 1:
        raise PlanError("the run has several servers", "measure one: jostle capacity")
    alone = by_load.pop(("clients", 1.0), [])
    unit = "/s" if any(kind == "/s" for kind, _ in by_load) else "clients"
    levels = [(level, group) for (kind, level), group in sorted(by_load.items()) if kind == unit]
    if not alone and levels:
        (_, alone), *levels = levels
    points = [_point(level, group) for level, group in levels]
    max_level = max((point.level for point in points), default=0.0) * max(FITTED)
    fitting = [point for point in points if point.level <= max_level]
    held_out = [point for point in points if point.level > max_level]
    return _fit(alone, fitting, held_out, unit, str(record.folder))


def _point(level: float, group: Sequence[TrialData]) -> models.Point:
    sample = pool(data.responses.whole for data in group)
    return models.Point(
        level,
        dict(group[0].trial.description.get("engine") or {}),
        figures_of(sample),
        sum(data.throughput for data in group) / len(group),
        intervals_of(sample),
    )


def _level(data: TrialData) -> tuple[str, float]:
    if data.open is not None:
        return "/s", float(data.open["rates"][0]["from"])
    assert data.closed is not None
    return "clients", float(data.closed["clients"])


def _fit(
    alone: Sequence[TrialData],
    fitting: Sequence[models.Point],
    held_out: Sequence[models.Point],
    unit: str,
    folder: str,
    saturated_per_s: float = math.inf,
) -> _Fitted:
    service = pool(data.service for data in alone)
    candidates = models.fit(service, fitting, saturated_per_s)
    if not candidates or not held_out:
        raise PlanError(
            f"{folder} has nothing to fit: it takes a single client, or a load at which nobody waits, "
            f"{models.MIN_LEVELS} levels up to 60 % of the highest load, and one above them",
            "jostle capacity without --quick measures them",
        )
    kept = models.retained(candidates, len(fitting))
    measured = {point.level: _measured(point) for point in [*fitting, *held_out]}
    computes = _computes(alone, service.mean_s)
    return _Fitted(
        *models.judged(kept, fitting, held_out),
        fitting[0].spec,
        unit,
        measured,
        1.0 if computes is None else computes,
        computes is not None,
    )


def _measured(point: models.Point) -> dict[str, Estimate]:
    figures = {
        name: Estimate(value, *point.intervals.get(name, (None, None)))
        for name, value in point.figures.items()
    }
    return {**figures, "throughput": Estimate(point.throughput_per_s, unit="/s")}


def _computes(alone: Sequence[TrialData], service_s: float | None) -> float | None:
    """The share of a request's time in which the server computes; None if its CPU time was not watched."""
    used = [
        cores / data.throughput
        for data in alone
        if data.throughput and (cores := data.resource_usage.cores(0, int(data.duration_s * 1e9))) is not None
    ]
    return min(1.0, sum(used) / len(used) / service_s) if used and service_s else None


def _likely(judged: FittedModel) -> str:
    """Why such a model is off, as far as its sign says."""
    worst = judged.worst
    if worst is None:
        return "it could not be tested"
    if worst.error < 0:
        return (
            "the server is slower under load than its queue explains: a database, a lock or the CPU behind it"
        )
    return (
        "the server is faster under load than its queue explains: caches, or requests that share their work"
    )


def _widened(figure: WhatIfFigure, judged: FittedModel) -> WhatIfFigure:
    """The figure with a band that holds the error that was measured, if the model was not accepted."""
    worst, predicted = judged.worst, figure.predicted
    if judged.accepted or worst is None or predicted.value is None:
        return figure
    off = abs(math.log1p(worst.error))
    low, high = (predicted.value if end is None else end for end in (predicted.low, predicted.high))
    return replace(figure, predicted=replace(predicted, low=low * math.exp(-off), high=high * math.exp(off)))


def _no_capacity(slos: Sequence[Slo], fitted: _Fitted) -> str:
    """Why no capacity can be predicted; "" if it can."""
    if all(slo.limit_s is None for slo in slos):
        return "in no model here requests fail, so the capacity cannot be predicted for an SLO about errors"
    if not fitted.kept[0].workers:
        return "the model that fits best has no limit, so it predicts no capacity"
    return ""


def _capacity(slos: Sequence[Slo], now: Estimate, fitted: _Fitted, changes: WhatIfChanges) -> WhatIfFigure:
    """The measured capacity times the change that each model predicts, but no more than the changed server
    can answer, as the measured capacity may be slightly above the model's.
    """
    kept = [model for model in fitted.kept if model.workers]
    ratios = []
    for model in kept:
        before, after = (
            _carries(one, fitted, slos, now.value or 1.0)
            for one in (model, changes.model(model, fitted.computes))
        )
        ratios.append(after / before if before else math.nan)
    best = ratios[0]
    known = [ratio for ratio in ratios if math.isfinite(ratio)]
    if not math.isfinite(best):
        raise JostleError("the model does not carry the measured load itself", "measure the change instead")
    assert now.value is not None
    low, high = (now.low or now.value) * min(known), (now.high or now.value) * max(known)
    value = now.value * best
    if fitted.unit == "clients":
        value, low, high = (float(math.floor(end)) for end in (value, low, high))
    else:
        limits = [changes.model(model, fitted.computes).limit_per_s for model in kept]
        value, low, high = min(value, limits[0]), min(low, limits[0]), min(high, max(limits))
    return WhatIfFigure("capacity", now, Estimate(value, low, high, unit=fitted.unit))


def _carries(model: models.Model, fitted: _Fitted, slos: Sequence[Slo], about: float) -> float:
    """The highest level at which the model keeps all SLOs; 0 if there is none."""

    def keeps(level: float) -> bool:
        if fitted.unit == "/s" and model.utilisation(level) >= models.FULL:
            return False
        sample, _ = models.simulate(model, models.with_load(fitted.spec, level), models.MAX_REQUESTS)
        return all(_kept(sample, slo) for slo in slos)

    return _highest(keeps, about)


def _kept(sample: WeightedSample, slo: Slo) -> bool:
    if slo.limit_s is None:
        return True  # no model here rejects anything
    return int(sample.events[sample.values_s > slo.limit_s].sum()) <= slo.share * max(1, sample.n)


def _highest(keeps: Callable[[float], bool], about: float) -> float:
    low, high = about, about
    while keeps(high):
        low, high = high, 2 * high
        if high > 1e7:
            return math.inf
    if low == high:
        while not keeps(low):
            low, high = low / 2, low
            if low < about / 1024:
                return 0.0
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return math.sqrt(low * high)


def _at_the_level(fitted: _Fitted, changes: WhatIfChanges, level: float) -> list[WhatIfFigure]:
    """Response times and throughput at a load, predicted with every model that fits."""
    changed = [changes.model(model, fitted.computes) for model in fitted.kept]
    measured = fitted.measured.get(level, {})
    full = [m for m in changed if fitted.unit == "/s" and m.utilisation(level) >= models.FULL]
    if changed[0] in full:
        max_rate = formatted(Estimate(changed[0].limit_per_s, unit="/s")).value
        raise PlanError(
            f"at {level:g}/s the queue would only grow: {max_rate} is all that it can answer",
            "give a lower rate",
        )
    spec = models.with_load(fitted.spec, level)
    found = [models.predict(model, spec, models.MAX_REQUESTS) for model in changed if model not in full]
    figures = []
    for name in ("throughput", "mean", "p50", "p90", "p99"):
        values = [one[name] for one in found]
        high = None if full and name != "throughput" else max(values)
        unit = "/s" if name == "throughput" else "s"
        predicted = Estimate(values[0], min(values), high, unit=unit, n=len(values))
        figures.append(WhatIfFigure(name, measured.get(name), predicted))
    return figures


def _sentences(
    fitted: _Fitted, changes: WhatIfChanges, figures: Sequence[WhatIfFigure], level: float | None = None
) -> list[str]:
    said = []
    for figure in figures:
        if figure.metric == "capacity" and figure.now is not None:
            low, high = (
                written(Estimate(end, unit=fitted.unit)).removesuffix("/s").removesuffix(" clients")
                for end in (figure.predicted.low, figure.predicted.high)
            )
            about = written(Estimate(figure.predicted.value, unit=fitted.unit))
            said.append(
                f"With {' and '.join(changes.text)} it would carry {about} (predicted {low} to {high}); "
                f"it carries {written(figure.now)} now."
            )
    at = next((figure for figure in figures if figure.metric == "p99"), None)
    if at is not None and level is not None:
        load = f"{level:,.3g}/s" if fitted.unit == "/s" else plural(round(level), "client")
        now = f" instead of {with_range(at.now)}" if at.now is not None else ""
        changed = f"With {' and '.join(changes.text)}, at" if changes.of_the_server else "At"
        said.append(f"{changed} {load} its p99 would be {with_range(at.predicted)}{now}.")
    assumed = f"Predicted, not measured, from {behaves_like(fitted.judged)}."
    more = len(fitted.kept) - 1
    if more:
        fit = "fits" if more == 1 else "fit"
        assumed += f" The band covers {plural(more, 'other model')} that {fit} as well."
    worst = fitted.judged.worst
    if not fitted.judged.accepted and worst is not None:
        off = percent(abs(worst.error))
        high = f"{off} too {'pessimistic' if worst.error > 0 else 'optimistic'}"
        assumed += (
            f" At {worst.level:,.3g}{'/s' if fitted.unit == '/s' else ''} the model was {high} about the "
            f"{worst.metric}: the bands are wider by as much."
        )
    if changes.cpu is not None:
        assumed += (
            f" Requests compute for {percent(fitted.computes)} of their time; the rest stays as it is."
            if fitted.knows_cpu
            else " The server's CPU was not watched: as if its requests did nothing but compute."
        )
    if (changes.workers or 0) > fitted.judged.workers and fitted.knows_cpu and fitted.computes > HARDLY:
        share = percent(fitted.computes)
        assumed += f" Requests compute for {share} of their time, which takes as many cores."
    return [*said, assumed]

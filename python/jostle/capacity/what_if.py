"""What would another number of workers, another load or another service time change? Predicted, not measured.

The model was fitted to a run at low load and tested at levels that it had not seen; if it failed the test,
nothing is predicted. A capacity is predicted as the measured one times the change that the model predicts,
with a band that covers the interval of the measurement and all models that fit equally well.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jostle import units
from jostle.analysis.results import Estimate
from jostle.analysis.results.capacity import CapacityResult, FittedModel, WhatIf, WhatIfFigure
from jostle.analysis.stats.sample import WeightedSample, pool
from jostle.analysis.trials.data import TrialData
from jostle.capacity import model as models
from jostle.capacity.answer import capacity_of
from jostle.capacity.fitted import figures_of, saturated, split_points
from jostle.capacity.recorded import RecordedSearch
from jostle.capacity.search import FITTED
from jostle.capacity.sentences import behaves_like, written
from jostle.capacity.slo import Slo
from jostle.errors import BadValue, JostleError, PlanError, nearest
from jostle.formatting import formatted, plural
from jostle.plan.conditions import SLO_PARAMETER
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord

__all__ = ["KEYS", "Changes", "read_changes", "what_if"]

KEYS = ("workers", "rate", "clients", "service")

EXAMPLE = "write for example workers=8, rate=400/s, clients=50, service=-20% or service=8ms"

HALVINGS = 12


@dataclass(frozen=True)
class Changes:
    """What is to be changed; None: nothing."""

    text: tuple[str, ...]
    """As they were typed: "workers=8"."""

    workers: int | None = None
    rate: float | None = None
    clients: int | None = None
    service_s: float | None = None
    """The new service time, in seconds."""

    factor: float | None = None
    """What the service time is multiplied by."""

    def model(self, model: models.Model) -> models.Model:
        """The model with the changes to the server applied."""
        factor = model.factor * (self.factor or 1.0)
        if self.service_s is not None:
            factor = model.factor * self.service_s / model.service_s
        return replace(model, factor=factor, workers=self.workers or model.workers)

    @property
    def of_the_server(self) -> bool:
        return bool(self.workers or self.service_s or self.factor)

    @property
    def level(self) -> float | None:
        return self.rate if self.rate is not None else self.clients


def read_changes(texts: Sequence[str]) -> Changes:
    """Reads texts such as "workers=8" and "service=-20%". Raises `BadValue`."""
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value:
            raise BadValue(f"{text!r} is not NAME=VALUE", EXAMPLE)
        if key not in KEYS:
            raise BadValue(f"{key!r} cannot be changed", nearest(key, KEYS))
        if key in found:
            raise BadValue(f"{key} is given twice", EXAMPLE)
        found[key] = value
    if not found:
        raise BadValue("what is to be changed?", EXAMPLE)
    if "rate" in found and "clients" in found:
        raise BadValue("rate and clients together: a load is open or closed", "give one of them")
    service = found.get("service", "")
    return Changes(
        tuple(texts),
        workers=_count(found.get("workers"), "workers"),
        rate=_positive(units.rate(found["rate"], bare="s"), "rate") if "rate" in found else None,
        clients=_count(found.get("clients"), "clients"),
        service_s=_positive(units.duration(service), "service") if service and "%" not in service else None,
        factor=_factor(service) if "%" in service else None,
    )


def _count(text: str | None, name: str) -> int | None:
    return None if text is None else int(_positive(units.count(text), name))


def _positive(value: float, name: str) -> float:
    if value <= 0:
        raise BadValue(f"{name} must be more than nothing", EXAMPLE)
    return value


def _factor(text: str) -> float:
    """The factor of a change: 0.8 for "-20%", 1.5 for "+50%"."""
    number = text.replace("−", "-").removesuffix("%").strip()
    try:
        factor = 1 + float(number) / 100
    except ValueError:
        raise BadValue(f"{text!r} is not a change of the service time", EXAMPLE) from None
    if number[:1] not in "+-":
        raise BadValue(f"{text!r} does not say whether it is more or less", "write service=-20% or +20%")
    return _positive(factor, "service")


@dataclass(frozen=True)
class _Fitted:
    """The models that fit a run."""

    kept: list[models.Model]
    """The best first."""

    judged: FittedModel
    spec: Mapping[str, Any]
    """The engine's specification of a measured load."""

    unit: str


def what_if(record: RunRecord, changes: Changes) -> WhatIf:
    """Predicts the effect of `changes`. Raises `PlanError` if run and changes do not fit each other, and
    `JostleError` if what was found in the run allows no prediction.
    """
    is_capacity = SLO_PARAMETER in RecordedPlan.parse(record.plan_text).parameters
    found = RecordedSearch(record) if is_capacity else None
    now = capacity_of(found) if found else None
    fitted = _of_capacity(found, now) if found and now else _of_any(record)
    if not fitted.judged.accepted:
        raise JostleError(
            f"model rejected: {behaves_like(fitted.judged)} fits lower loads best, but {fitted.judged.why}",
            "nothing is predicted from a model that does not hold; measure the change itself",
        )
    if (changes.rate is not None and fitted.unit != "/s") or (changes.clients and fitted.unit == "/s"):
        wrong, right = ("rate", "clients") if changes.rate is not None else ("clients", "rate")
        raise PlanError(f"the run has no {wrong}: its load was of another kind", f"give {right}=…")
    if changes.workers and not fitted.kept[0].workers:
        raise JostleError(
            "no limit on workers was found, so that more or fewer of them cannot be told apart",
            "measure closer to the limit: jostle capacity",
        )
    figures, without = list[WhatIfFigure](), list[str]()
    if found and now and changes.of_the_server:
        why = _no_capacity(found.slos, fitted)
        if not why:
            figures.append(_capacity(found.slos, now.capacity, fitted, changes))
        elif changes.level is not None:
            without.append(f"{why[:1].upper()}{why[1:]}.")
        else:
            raise PlanError(why, "say at which load: rate=… or clients=…; or measure the change instead")
    if changes.level is not None:
        figures += _at_the_level(fitted, changes, changes.level)
    if not figures:
        raise PlanError(
            "the run has no SLO, so that there is no capacity to predict",
            "say at which load: rate=… or clients=…",
        )
    return WhatIf(
        str(record.folder),
        list(changes.text),
        fitted.judged,
        figures,
        [*_sentences(fitted, changes, figures), *without],
    )


def _of_capacity(found: RecordedSearch, now: CapacityResult) -> _Fitted:
    capacity = now.capacity
    if now.answer != "found" or capacity.value is None or found.alone is None:
        raise JostleError(f"{now.folder}: {now.sentences[0]}", "there is nothing to predict from")
    fitting, held_out = split_points(found, capacity.value)
    return _fit(found.alone.service, fitting, held_out, found.unit, now.folder, saturated(found))


def _of_any(record: RunRecord) -> _Fitted:
    """Fits any run of one server with a single client and with one kind of load at several levels."""
    by_load: dict[tuple[str, float], list[TrialData]] = {}
    for trial in record.trials:
        data = TrialData(trial)
        if data.usable and data.steady_load and not data.has_background and not data.overloaded:
            by_load.setdefault(_level(data), []).append(data)
    if len({trial.contestant for trial in record.trials}) != 1:
        raise PlanError("the run has several servers", "measure one: jostle capacity")
    alone = by_load.pop(("clients", 1.0), [])
    unit = "/s" if any(kind == "/s" for kind, _ in by_load) else "clients"
    points = [
        models.Point(
            level,
            dict(group[0].trial.description.get("engine") or {}),
            figures_of(pool(data.responses.whole for data in group)),
            sum(data.throughput for data in group) / len(group),
        )
        for (kind, level), group in sorted(by_load.items())
        if kind == unit
    ]
    if not alone:
        raise PlanError(
            f"{record.folder} has nothing to fit: the service time was not measured alone",
            "add a workload with clients = 1, or use jostle capacity",
        )
    most = max((point.level for point in points), default=0.0) * max(FITTED)
    fitting = [point for point in points if point.level <= most]
    held_out = [point for point in points if point.level > most]
    return _fit(pool(data.service for data in alone), fitting, held_out, unit, str(record.folder))


def _level(data: TrialData) -> tuple[str, float]:
    if data.open is not None:
        return "/s", float(data.open["rates"][0]["from"])
    assert data.closed is not None
    return "clients", float(data.closed["clients"])


def _fit(
    alone: WeightedSample,
    fitting: Sequence[models.Point],
    held_out: Sequence[models.Point],
    unit: str,
    folder: str,
    saturated_per_s: float = math.inf,
) -> _Fitted:
    candidates = models.fit(alone, fitting, saturated_per_s)
    if not candidates or not held_out:
        raise PlanError(
            f"{folder} has nothing to fit: it takes {models.MIN_LEVELS} levels up to 60 % of the load, "
            "and one above them",
            "jostle capacity without --quick measures them",
        )
    kept = models.retained(candidates, len(fitting))
    return _Fitted(*models.judged(kept, fitting, held_out), fitting[0].spec, unit)


def _no_capacity(slos: Sequence[Slo], fitted: _Fitted) -> str:
    """Why no capacity can be predicted; "" if it can."""
    if all(slo.limit_s is None for slo in slos):
        return "in no model here requests fail, so the capacity cannot be predicted for an SLO about errors"
    if not fitted.kept[0].workers:
        return "the model that fits best has no limit, so it predicts no capacity"
    return ""


def _capacity(slos: Sequence[Slo], now: Estimate, fitted: _Fitted, changes: Changes) -> WhatIfFigure:
    """The measured capacity times the change that each model predicts, but no more than the changed server
    can answer, as the measured capacity may be slightly above the model's.
    """
    kept = [model for model in fitted.kept if model.workers]
    ratios = []
    for model in kept:
        before, after = (
            _carries(one, fitted, slos, now.value or 1.0) for one in (model, changes.model(model))
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
        most = [changes.model(model).limit_per_s for model in kept]
        value, low, high = min(value, most[0]), min(low, most[0]), min(high, max(most))
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


def _at_the_level(fitted: _Fitted, changes: Changes, level: float) -> list[WhatIfFigure]:
    """Response times and throughput at a load, predicted with every model that fits."""
    changed = [changes.model(model) for model in fitted.kept]
    full = [m for m in changed if fitted.unit == "/s" and m.utilisation(level) >= models.FULL]
    if changed[0] in full:
        most = formatted(Estimate(changed[0].limit_per_s, unit="/s")).value
        raise PlanError(
            f"at {level:g}/s the queue would only grow: {most} is all that it can answer", "give a lower rate"
        )
    spec = models.with_load(fitted.spec, level)
    found = [models.predict(model, spec, models.MAX_REQUESTS) for model in changed if model not in full]
    figures = []
    for name in ("throughput", "mean", "p50", "p90", "p99"):
        values = [one[name] for one in found]
        high = None if full and name != "throughput" else max(values)
        unit = "/s" if name == "throughput" else "s"
        predicted = Estimate(values[0], min(values), high, unit=unit, n=len(values))
        figures.append(WhatIfFigure(name, None, predicted))
    return figures


def _sentences(fitted: _Fitted, changes: Changes, figures: Sequence[WhatIfFigure]) -> list[str]:
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
    assumed = f"Predicted, not measured, from {behaves_like(fitted.judged)}."
    more = len(fitted.kept) - 1
    if more:
        fit = "fits" if more == 1 else "fit"
        assumed += f" The band covers {plural(more, 'other model')} that {fit} as well."
    return [*said, assumed]

"""The model of a server, fitted up to 60 % of the load and judged at levels that the fit has not seen."""

import math
from dataclasses import replace
from typing import Any

from jostle.analysis.results import Estimate
from jostle.analysis.results.capacity import CapacityResult, FittedModel
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import WeightedSample, pool, quantile_of
from jostle.capacity import model as models
from jostle.capacity.curve import QUANTILES
from jostle.capacity.levels import BROKEN
from jostle.capacity.recorded import RecordedSearch
from jostle.capacity.search import FITTED
from jostle.capacity.sentences import model_sentences

__all__ = ["figures_of", "intervals_of", "saturated_throughput", "split_points", "with_model"]

SATURATED = 0.93
"""The server is saturated if it answered less than this share of the requests that were due."""

ROUNDING = 1.05
"""Slack for levels, as they were chosen from an earlier estimate of the capacity."""


def with_model(search: RecordedSearch, result: CapacityResult) -> CapacityResult:
    """The result with the model that fits, or the reason why there is none. Takes seconds."""
    fitted, note = _model(search, result.capacity)
    said = model_sentences(fitted, note) if result.answer == "found" else ()
    return replace(result, model=fitted, model_note=note, sentences=[*result.sentences, *said])


def _model(search: RecordedSearch, capacity: Estimate) -> tuple[FittedModel | None, str]:
    """The fitted model, or None and the reason."""
    if capacity.value is None or capacity.bound or search.alone is None:
        return None, "no model is fitted without a capacity"
    fitting, held_out = split_points(search, capacity.value)
    candidates = models.fit(search.alone.service, fitting, saturated_throughput(search))
    if not candidates:
        return None, "no model is fitted: too few levels up to 60 % of the load were measured"
    kept = models.retained(candidates, len(fitting))
    return models.judged(kept, fitting, held_out)[1], ""


def _points(search: RecordedSearch) -> list[models.Point]:
    """The levels that count, in the form that `model` takes."""
    points = []
    for level in search.levels:
        blocks = [b for b in level.counted if b.data is not None and not b.died and b.response.n_events]
        if not blocks or level.decided in ("generator", "spoiled"):
            continue
        sample = pool(block.response for block in blocks)
        first = blocks[0].data
        assert first is not None
        throughput = sum(b.data.throughput for b in blocks if b.data is not None) / len(blocks)
        spec: dict[str, Any] = dict(first.trial.description.get("engine") or {})
        points.append(models.Point(level.level, spec, figures_of(sample), throughput, intervals_of(sample)))
    return points


def figures_of(sample: WeightedSample) -> dict[str, float]:
    known = {name: quantile_of(sample, p) for name, p in QUANTILES.items()}
    enough = {name: value for name, value in known.items() if value and sample.n * (1 - QUANTILES[name]) >= 3}
    return {**({"mean": sample.mean_s} if sample.mean_s else {}), **enough}


def intervals_of(sample: WeightedSample) -> dict[str, tuple[float, float]]:
    """Of the mean and the quantiles of `figures_of`, as far as they have one."""
    known = {name: quantile_estimate(sample, p) for name, p in QUANTILES.items()}
    found = {
        name: (one.low, one.high)
        for name, one in known.items()
        if one.low is not None and one.high is not None and not one.bound
    }
    if sample.mean_s and sample.deviation_s is not None and sample.n_events > 1:
        reach = Z * sample.deviation_s / math.sqrt(sample.n_events)
        found["mean"] = (sample.mean_s - reach, sample.mean_s + reach)
    return found


Z = 1.96


def saturated_throughput(search: RecordedSearch) -> float:
    """The highest throughput, per second, at levels with clearly more offered load; infinite if there are
    none.
    """
    highest = math.inf
    for level in search.levels:
        for block in level.counted:
            data = block.data
            if data is None or not data.recorded or data.open is None or block.died:
                continue
            offered, answered = data.total("due") / data.duration_s, float(data.throughput)
            if answered < SATURATED * offered and data.error_share < BROKEN:
                highest = answered if math.isinf(highest) else max(highest, answered)
    return highest


def split_points(search: RecordedSearch, capacity: float) -> tuple[list[models.Point], list[models.Point]]:
    """The levels that a model is fitted to, up to 60 % of the load, and those that it is judged at."""
    points = _points(search)
    max_level = max(FITTED) * ROUNDING * capacity
    fitting = [p for p in points if p.level <= max_level and p.level not in search.held_out]
    return fitting, [p for p in points if p.level in search.held_out and p.level < capacity]

"""A model of the server: c workers that serve in order of arrival, c cores that all requests share, or no
limit at all.

The service times are those that a single client saw; the simulator does the rest. The discipline, the number
of workers and a factor on the service times are fitted to response times at levels up to 60 % of the load; if
the server was saturated, its throughput there bounds the number of workers from above. The model is judged at
levels that the fit has not seen: predicted against measured p50, p90, p99 and mean, with signed error.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jostle.analysis.results.capacity import FittedModel, Prediction
from jostle.analysis.stats.sample import WeightedSample, from_histograms, quantile_of
from jostle.generator.simulated import SimulatedExecutor
from jostle.histogram import decode
from jostle.plan.servers.simulated import Simulated
from jostle.plan.values import Think
from jostle.quantiles import NAMED

__all__ = [
    "MEAN_BAR",
    "P99_BAR",
    "Model",
    "Point",
    "fit",
    "judged",
    "predict",
    "retained",
    "simulate",
    "with_load",
]

WORKERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128)
NO_LIMIT = 0

TIMES = 1000
"""How many equally likely service times represent the measured distribution."""

REQUESTS, MAX_REQUESTS = 6_000, 30_000
"""Requests of one simulated level: to choose a model, and to predict with it."""

CHANCE = {"mean": 0.03, "p50": 0.03, "p90": 0.05, "p99": 0.10}
"""Roughly how much a level's figures vary by chance, as a share: the weights of the fit."""

APART = 10.0
"""Models whose weighted squares differ by less than this fit equally well (as ΔBIC ≥ 10 tells two apart)."""

MEAN_BAR, MEAN_UNTIL, P99_BAR = 0.10, 0.70, 0.25
"""Accepted relative errors: of the mean, up to a utilisation of `MEAN_UNTIL`, and of the p99."""

HELD_BAR = 0.8
"""Share of the tested predictions that must hold, as one in ten misses its band by chance."""

FULL = 0.97
"""Utilisation from which on nothing is predicted: the queue grows for as long as one measures."""

MAX_JUDGED = 4

TRIALS = 20
"""Simulated trials, each as long as the measured one, which show how much its figures vary by chance."""

SLACK = 0.15
"""The share by which a model's limit may exceed the observed throughput of the saturated server."""

MIN_LEVELS, MIN_TIMES = 2, 30
SEED = 20260


@dataclass(frozen=True)
class Point:
    """A level as it was measured."""

    level: float
    spec: Mapping[str, Any]
    """The engine's specification of its trial."""

    figures: Mapping[str, float]
    """Response times in seconds, by name: "mean", "p99"."""

    throughput_per_s: float

    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The intervals of these figures, as far as they have any."""


@dataclass(frozen=True)
class Model:
    """A server that is calculated."""

    discipline: str
    """One of "workers", "processor-sharing" and "no limit"."""

    workers: int
    """Number of workers or cores; 0 for no limit."""

    factor: float
    """Multiplies all service times."""

    times_s: tuple[float, ...]
    """Equally likely service times of a request that is alone."""

    @property
    def service_s(self) -> float:
        return self.factor * sum(self.times_s) / len(self.times_s)

    @property
    def cv(self) -> float:
        return float(np.std(self.times_s) / np.mean(self.times_s))

    def utilisation(self, throughput_per_s: float) -> float:
        return throughput_per_s * self.service_s / self.workers if self.workers else 0.0

    @property
    def limit_per_s(self) -> float:
        """The highest throughput that the model can reach."""
        return self.workers / self.service_s if self.workers else math.inf

    def simulated(self, request: str) -> Simulated:
        turns = tuple(time * self.factor for time in self.times_s)
        shares = self.discipline == "processor-sharing"
        return Simulated.model_construct(
            discipline="processor-sharing" if shares else "workers",
            workers=None if shares else max(1, self.workers),
            cores=self.workers if shares else None,
            slice=None,
            service=Think("measured", "list", turns=turns),
            services={},
            waits=[] if self.workers else [request],
        )


def times_of(alone: WeightedSample) -> tuple[float, ...]:
    """Equally likely times with the distribution of the sample."""
    ranks = (np.arange(TIMES) + 0.5) / TIMES * alone.n_events
    return tuple(alone.middles_s[np.searchsorted(alone.events.cumsum(), ranks)].tolist())


def predict(model: Model, spec: Mapping[str, Any], requests: int = REQUESTS) -> dict[str, float]:
    """Mean, p50, p90, p99 (s) and throughput under the load of `spec`, by simulation."""
    sample, throughput = simulate(model, spec, requests)
    figures = {q: quantile_of(sample, NAMED[q]) or math.inf for q in ("p50", "p90", "p99")}
    return {"mean": sample.mean_s or math.inf, **figures, "throughput": throughput}


def simulate(
    model: Model, spec: Mapping[str, Any], requests: int | None = REQUESTS, seed: int = SEED
) -> tuple[WeightedSample, float]:
    """Response times and throughput (per second) under the load of `spec`, simulated for about `requests`
    requests; None: for the duration that `spec` states.
    """
    (workload,) = [one for one in spec["workloads"] if one["role"] == "measured"]
    closed, open_ = workload["load"].get("closed"), workload["load"].get("open")
    rate = open_["rates"][0]["from"] if open_ else _most(model, closed)
    duration = spec["duration_ns"]
    if requests is not None:
        duration = int(max(0.5, min(600.0, requests / max(rate, 1e-6))) * 1e9)
    target = {**workload["target"], "host": "model"}
    run = {
        **spec,
        "seed": seed,
        "rows": False,
        "duration_ns": duration,
        "interval_ns": duration,
        "workloads": [{**workload, "target": target}],
    }
    executor = SimulatedExecutor({"model": model.simulated(workload["requests"][0]["name"])})
    running = executor.start(run)
    histograms, answered, last = [], 0, False
    while not last and (interval := running.next_interval(0.0)) is not None:
        last = interval["last"]
        for series in interval["series"]:
            answered += series["outcomes"].get("ok", 0)
            if found := series["histograms"].get("response"):
                histograms.append(decode(found["v2"]))
    return from_histograms(histograms), answered / (duration / 1e9)


def with_load(spec: Mapping[str, Any], level: float) -> dict[str, Any]:
    """The same load at another level."""
    (workload,) = [one for one in spec["workloads"] if one["role"] == "measured"]
    ((kind, load),) = ((k, v) for k, v in workload["load"].items() if v)
    if kind == "open":
        load = {**load, "rates": [{"name": "", "duration_ns": None, "from": level, "to": level}]}
    else:
        load = {**load, "clients": max(1, round(level)), "phases": []}
    return {**spec, "workloads": [{**workload, "load": {kind: load}}]}


def _most(model: Model, closed: Mapping[str, Any]) -> float:
    """The highest rate, in requests per second, that the clients of a closed loop can reach."""
    think = closed["think"]
    mean_ns = 0.0
    if isinstance(think, dict):
        ((_, about),) = think.items()
        mean_ns = about.get("ns", about.get("mean_ns", 0.0)) if not isinstance(about.get("ns"), list) else 0.0
    each = closed["clients"] / (model.service_s + mean_ns / 1e9)
    return float(min(each, model.limit_per_s))


def fit(
    alone: WeightedSample, points: Sequence[Point], saturated_per_s: float = math.inf
) -> list[tuple[Model, float]]:
    """All models that are possible, with their weighted sums of squares, the best first; empty if there is
    too little to fit. `saturated_per_s`: the throughput of the saturated server, if it was observed.
    """
    if len(points) < MIN_LEVELS or alone.n_events < MIN_TIMES:
        return []
    times = times_of(alone)
    found = []
    for discipline, workers in _candidates():
        model = Model(discipline, workers, 1.0, times)
        if any(model.utilisation(point.throughput_per_s) >= FULL for point in points):
            continue
        # The factor is fitted in two steps: when requests wait, response times grow by more than the factor.
        for _ in range(2):
            ratios = [_ratio(point, predict(model, point.spec)) for point in points]
            model = replace(model, factor=model.factor * float(np.exp(np.mean(np.log(ratios)))))
            if any(model.utilisation(point.throughput_per_s) >= FULL for point in points):
                break
        if any(model.utilisation(point.throughput_per_s) >= FULL for point in points):
            continue
        if model.limit_per_s > saturated_per_s * (1 + SLACK):
            continue
        found.append((model, _misfit(model, points)))
    return sorted(found, key=lambda pair: pair[1])


def _candidates() -> Iterable[tuple[str, int]]:
    yield from itertools.product(("workers", "processor-sharing"), WORKERS)
    yield "no limit", NO_LIMIT


def _ratio(point: Point, predicted: Mapping[str, float]) -> float:
    names = [name for name in ("mean", "p50") if point.figures.get(name)]  # few requests have no median
    logs = [np.log(point.figures[name] / predicted[name]) for name in names]
    return float(np.exp(np.clip(np.mean(logs), -0.3, 0.3)))


def _misfit(model: Model, points: Sequence[Point]) -> float:
    total = 0.0
    for point in points:
        predicted = predict(model, point.spec)
        total += sum(
            float(np.log(predicted[name] / point.figures[name]) / chance) ** 2
            for name, chance in CHANCE.items()
            if point.figures.get(name) and np.isfinite(predicted[name]) and predicted[name] > 0
        )
    return total


def retained(found: Sequence[tuple[Model, float]], points: int) -> list[Model]:
    """The best model, and those that the data do not distinguish from it."""
    best = found[0][1]
    noise = max(1.0, best / max(1, len(CHANCE) * points - 2))
    return [model for model, misfit in found if (misfit - best) / noise < APART]


def _bands(model: Model, spec: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """For each figure, the band in which nine of ten trials of the same length would have it."""
    found = [simulate(model, spec, None, SEED + 1 + trial)[0] for trial in range(TRIALS)]
    bands = {}
    for name in CHANCE:
        values = sorted((s.mean_s if name == "mean" else quantile_of(s, NAMED[name])) or 0.0 for s in found)
        bands[name] = values[TRIALS // 20], values[-1 - TRIALS // 20]
    return bands


def judged(
    models: Sequence[Model], fitted_on: Sequence[Point], held_out: Sequence[Point]
) -> tuple[list[Model], FittedModel]:
    """The models and the verdict on the first, which is the first one that predicts levels that the fit has
    not seen; if none does, it is the best fit. Nothing else distinguishes models that fit equally well. No
    more than `MAX_JUDGED` are tried, as one of many would hold by chance.
    """
    first = None
    for number, model in enumerate(models[:MAX_JUDGED]):
        found = _judged(model, models, fitted_on, held_out)
        if found.accepted:
            return [model, *models[:number], *models[number + 1 :]], found
        first = first or found
    assert first is not None, "there is a model"
    return [*models], first


def _judged(
    model: Model, models: Sequence[Model], fitted_on: Sequence[Point], held_out: Sequence[Point]
) -> FittedModel:
    """Tests the model at the held-out levels."""
    predictions = []
    for point in sorted(held_out, key=lambda point: point.level):
        predicted = predict(model, point.spec, MAX_REQUESTS)
        bands = _bands(model, point.spec)
        for name in CHANCE:
            if not point.figures.get(name):
                continue
            error = predicted[name] / point.figures[name] - 1
            light = model.utilisation(point.throughput_per_s) <= MEAN_UNTIL
            bar = P99_BAR if name == "p99" else MEAN_BAR if name == "mean" and light else None
            low, high = bands[name]
            fits = bar is None or abs(error) <= bar or low <= point.figures[name] <= high
            ends = point.intervals.get(name, (None, None))
            predictions.append(
                Prediction(
                    point.level,
                    name,
                    predicted[name],
                    low,
                    high,
                    point.figures[name],
                    error,
                    bar,
                    fits,
                    *ends,
                )
            )
    tested = [one for one in predictions if one.bar is not None]
    wrong = [one for one in tested if not one.accepted]
    counts = [one.workers for one in models]
    why = "" if predictions else "no level was held out"
    rejected = len(wrong) > (1 - HELD_BAR) * len(tested)
    if rejected:
        worst = max(wrong, key=lambda one: abs(one.error) / (one.bar or 1.0))
        why = f"its {worst.metric} at {worst.level:g} is {worst.error:+.0%} off"
    return FittedModel(
        model.discipline,
        model.workers,
        (min(counts), max(counts)),
        model.service_s,
        model.cv,
        [point.level for point in fitted_on],
        bool(predictions) and not rejected,
        why,
        predictions,
    )

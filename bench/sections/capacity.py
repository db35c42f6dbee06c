"""Does the stated interval of a capacity hold the true one? Simulated servers of known discipline, and real
reference servers of the same.

The true value of first come, first served with exponential service follows from Erlang C; all others come of
the simulator, with a million requests at each step of a bisection.
"""

import math
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from rows import Effort, Row, Section
from servers import reference

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from jostle.analysis.results import CapacityResult
from jostle.analysis.stats.sample import from_histograms
from jostle.capacity.answer import capacity_of
from jostle.capacity.fitted import with_model
from jostle.capacity.question import CapacityQuestion, question_of
from jostle.capacity.queueing.erlang import response_tail
from jostle.capacity.recorded import RecordedSearch
from jostle.capacity.run import measure
from jostle.capacity.slo import read_slo, read_slos
from jostle.generator.simulated import SimulatedExecutor
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.histogram import decode
from jostle.plan import Plan
from jostle.plan.criteria.conditions import SLO_PARAMETER
from jostle.record import RunRecord
from support.searches import SERVERS, found_in, true_capacity

RUNS = 10
"""Of each simulated server: 40 in all."""

HELD_BAR = 0.90
SEEDS, QUICK_SEEDS = 50, 3
"""Of each server whose searches are calculated without a run."""
BUDGET_S = 240.0
REQUESTS = 1_000_000
HALVINGS = 12

EXPONENTIAL = "p99 < 100 ms"
SIMULATED: Mapping[str, tuple[dict[str, Any], str]] = {
    "1 worker, exponential": ({"workers": 1, "service": "exponential 10ms"}, EXPONENTIAL),
    "4 workers, exponential": ({"workers": 4, "service": "exponential 10ms"}, EXPONENTIAL),
    "2 workers, constant": ({"workers": 2, "service": "10ms"}, "p99 < 50 ms"),
    "2 cores shared, exponential": (
        {"discipline": "processor-sharing", "cores": 2, "service": "exponential 10ms"},
        "p99 < 150 ms",
    ),
}

REAL: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "workers, 2": (("workers", "--workers", "2"), {"workers": 2, "service": "10ms"}),
    "processor-sharing, 2": (
        ("processor-sharing", "--cores", "2"),
        {"discipline": "processor-sharing", "cores": 2, "service": "10ms"},
    ),
}
REAL_SLO = "p99 < 50 ms"


def run(effort: Effort) -> Section:
    rows: list[Row] = []
    samples: list[dict[str, Any]] = []
    runs = 1 if effort.quick else RUNS
    with ProcessPoolExecutor(2) as pool:
        truths = dict(zip(SIMULATED, pool.map(_true_value, SIMULATED), strict=True))
        asked = [
            (name, seed, truths[name], effort.folder / "simulated")
            for name in SIMULATED
            for seed in range(runs)
        ]
        for sample in pool.map(_sample, asked):
            print(
                f"{sample['server']}, seed {sample['seed']}: {sample['low']} to {sample['high']}", flush=True
            )
            samples.append(sample)
    for name, truth in truths.items():
        rows.append(
            Row(f"capacity, {name}: interval holds the true {truth:.0f}/s", "", _share(samples, name), None)
        )
    held = sum(sample["held"] for sample in samples)
    reached = held >= HELD_BAR * len(samples)
    rows.append(
        Row(
            "capacity, simulated: intervals that hold the true value",
            f"≥ {HELD_BAR:.0%}",
            f"{held} of {len(samples)}",
            reached,
        )
    )
    held_rows, held_samples, details = _calculated(QUICK_SEEDS if effort.quick else SEEDS)
    rows += held_rows
    samples += held_samples
    for name, (arguments, simulate) in REAL.items():
        truth = _truth(simulate, REAL_SLO)
        with reference(*arguments) as address:
            url = f"http://{address}/work?us=10000"
            question = question_of(url, [REAL_SLO], {}, quick=effort.quick)
            result = _response(question, 1, effort.folder / "real")
        samples.append({"server": f"real {name}", "true": truth, "seed": 1, **_said(result, truth)})
        low, high = result.capacity.low, result.capacity.high
        shown = "none" if low is None or high is None else f"{low:.0f} to {high:.0f}/s"
        rows.append(
            Row(f"capacity, real {name}: {truth:.0f}/s in theory", "", f"{result.answer}: {shown}", None)
        )
    return Section(rows, details=details, samples=samples)


def _calculated(seeds: int) -> tuple[list[Row], list[dict[str, Any]], str]:
    """Searches with the defaults on servers of more kinds, and how often and how far they are off."""
    asked = [(name, seed) for name in SERVERS for seed in range(seeds)]
    with ProcessPoolExecutor(2) as pool:
        truths = dict(zip(SERVERS, pool.map(true_capacity, SERVERS.values()), strict=True))
        samples = list(pool.map(_calculated_sample, asked))
    lines = [
        f"{seeds} searches with the defaults on each, blocks calculated.",
        "",
        "| server | SLO | holds up to | interval holds it | too high | too low | half its width |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, known in SERVERS.items():
        own = [sample for sample in samples if sample["server"] == name and sample["low"] is not None]
        high = sum(sample["low"] > known.true for sample in own)
        low = sum(sample["high"] < known.true for sample in own)
        width = median((sample["high"] - sample["low"]) / 2 / known.true for sample in own)
        held = f"{len(own) - high - low} of {seeds}"
        lines.append(f"| {name} | {known.slo} | {known.true:.0f}/s | {held} | {high} | {low} | {width:.0%} |")
    held_all = sum(sample["held"] for sample in samples)
    off = max(abs(truths[name] / known.true - 1) for name, known in SERVERS.items())
    rows = [
        Row(
            f"capacity, {len(SERVERS)} kinds of servers calculated: intervals that hold the true value",
            f"≥ {HELD_BAR:.0%}",
            f"{held_all} of {len(samples)}",
            held_all >= HELD_BAR * len(samples),
        ),
        Row("… true values against half a million requests", "± 5 %", f"{off:.1%}", off <= 0.05),
    ]
    return rows, samples, "\n".join(lines)


def _calculated_sample(asked: tuple[str, int]) -> dict[str, Any]:
    name, seed = asked
    found, true = found_in(SERVERS[name], seed), SERVERS[name].true
    low, high = (None, None) if found is None else (found.low, found.high)
    held = low is not None and high is not None and low <= true <= high
    return {"server": name, "true": true, "seed": seed, "low": low, "high": high, "held": held}


def _true_value(name: str) -> float:
    return _truth(*SIMULATED[name])


def _sample(asked: tuple[str, int, float, Path]) -> dict[str, Any]:
    """One search on a simulated server."""
    name, seed, truth, folder = asked
    result = _response(_question(*SIMULATED[name]), seed, folder)
    return {"server": name, "true": truth, "seed": seed, **_said(result, truth)}


def _share(samples: list[dict[str, Any]], name: str) -> str:
    own = [sample for sample in samples if sample["server"] == name]
    return f"{sum(sample['held'] for sample in own)} of {len(own)}"


def _question(simulate: dict[str, Any], slo: str) -> CapacityQuestion:
    data = {
        "title": "What does it carry?",
        "contestants": ["made"],
        "rounds": 1,
        "repeats": False,
        "parameters": {SLO_PARAMETER: slo},
        "contestant": {"made": {"simulate": simulate}},
        "workload": {"alone": {"request": {"get": "/"}, "load": {"clients": 1, "for": "5s"}}},
    }
    return CapacityQuestion("made", Plan.of(data, "bench"), read_slos([slo]), False, math.inf, 0.03, BUDGET_S)


def _response(question: CapacityQuestion, seed: int, folder: Path) -> CapacityResult:
    found = measure(question, folder, seed, lambda _text, _final: None)
    search = RecordedSearch(RunRecord.open(found))
    return with_model(search, capacity_of(search))


def _said(result: CapacityResult, truth: float) -> dict[str, Any]:
    capacity, model = result.capacity, result.model
    low, high = capacity.low, capacity.high
    return {
        "response": result.answer,
        "value": capacity.value,
        "low": low,
        "high": high,
        "held": low is not None and high is not None and low <= truth <= high,
        "model": None if model is None else [model.discipline, model.workers, model.accepted, model.why],
    }


def _truth(simulate: dict[str, Any], slo: str) -> float:
    """Per second: where the SLO stops to hold."""
    asked = read_slo(slo)
    limit_s = asked.limit_s or 0.0
    workers = int(simulate.get("workers", 0) or simulate["cores"])
    by_theory = "workers" in simulate and str(simulate["service"]).startswith("exponential")
    low, high = 1.0, workers / 0.01
    for _ in range(60 if by_theory else HALVINGS):
        middle = (low + high) / 2
        if by_theory:
            share = response_tail(limit_s, workers, middle * 0.01, 0.01)
        else:
            share = _simulated_share(simulate, middle, limit_s)
        low, high = (low, middle) if share > asked.share else (middle, high)
    return (low + high) / 2


def _simulated_share(simulate: dict[str, Any], rate: float, limit_s: float) -> float:
    """Of a million requests those that take longer than the limit."""
    question = _question(simulate, "p99 < 1 s")
    data = question.plan.data()
    seconds = REQUESTS / rate
    data["workload"] = {
        "w": {"request": {"get": "/"}, "load": {"rate": f"{rate}/s", "for": f"{seconds:.0f}s"}}
    }
    plan = Plan.of(data, "bench")
    table = plan.contestant["made"].simulate
    assert table is not None
    spec = engine_spec("w", plan.workload["w"], Address(host="made", port=1), seed=4)
    running = SimulatedExecutor({"made": table}).start({**spec, "interval_ns": spec["duration_ns"]})
    histograms, last = [], False
    while not last and (interval := running.next_interval(0.0)) is not None:
        last = interval["last"]
        for series in interval["series"]:
            if found := series["histograms"].get("response"):
                histograms.append(decode(found["v2"]))
    sample = from_histograms(histograms)
    return float(sample.events[sample.values_s > limit_s].sum()) / sample.n

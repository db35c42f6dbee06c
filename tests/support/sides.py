"""Sides of a comparison of known truth: rounds that settle at levels of their own, with noise on top."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from jostle.analysis.compare.side import Round, Side
from jostle.analysis.results import Estimate, WorkloadSummary
from jostle.analysis.stats.density import describe
from jostle.analysis.stats.over_rounds import RoundValue, quantiles_over_rounds, typical_over_rounds
from jostle.analysis.stats.sample import from_values, pool
from jostle.quantiles import LEVELS
from jostle.record.verdict import Verdict

MEDIAN_S = 0.01


def make_side(
    label: str,
    levels: NDArray[np.float64],
    *,
    scale: float = 1.0,
    noise: float = 0.04,
    requests: int = 120,
    failed: int = 0,
    run: str = "",
    rng: np.random.Generator,
) -> Side:
    """Response times around 10 ms times the round's level times `scale`; throughput goes the other way."""
    rounds = []
    for number, level in enumerate(levels, 1):
        own = level * scale * np.exp(rng.normal(0, noise))
        times = rng.lognormal(np.log(MEDIAN_S * own), 0.4, requests)
        rounds.append(Round(number, from_values(times.tolist()), 1000 / own, requests, failed))
    return side_of(label, rounds, run=run)


@dataclass(frozen=True)
class Known(Round):
    """A round whose figures are given, without requests that would have them."""

    values: Mapping[str, float] = field(default_factory=dict)

    def value(self, metric: str) -> RoundValue:
        return self.values.get(metric)


ENOUGH = from_values([0.01] * 100_000)


def known_side(label: str, values: Mapping[str, NDArray[np.float64]], *, workload: str = "w") -> Side:
    """A side of rounds whose throughput and quantiles are `values`, by metric."""
    rounds = [
        Known(
            n,
            ENOUGH,
            float(values["throughput"][n]),
            100_000,
            0,
            values={q: float(v[n]) for q, v in values.items()},
        )
        for n in range(len(values["throughput"]))
    ]
    known = {q: typical_over_rounds(list(v), "s") for q, v in values.items()}
    summary = replace(
        _summary(label, len(rounds)),
        workload=workload,
        throughput=known["throughput"],
        response={**dict.fromkeys(LEVELS, Estimate(None)), **known},
    )
    return Side(label, summary, rounds)


def side_of(label: str, rounds: list[Round], *, run: str = "") -> Side:
    """A side with the cell that the analysis would make of its rounds."""
    responses = [r.response for r in rounds]
    summary = replace(
        _summary(label, len(rounds)),
        throughput=typical_over_rounds([r.throughput for r in rounds], "/s"),
        response=quantiles_over_rounds(responses),
        outcomes={"ok": sum(r.ok for r in rounds)},
        response_distribution=describe(pool(responses)),
    )
    return Side(label, summary, rounds, run)


def _summary(label: str, rounds: int) -> WorkloadSummary:
    return WorkloadSummary(
        contestant=label,
        workload="w",
        title="A workload",
        rounds=rounds,
        verdict=Verdict.VALID,
        throughput=Estimate(None),
        response={},
        service={},
        outcomes={},
        error_share=0.0,
        response_distribution=describe(pool([])),
        service_distribution=describe(pool([])),
        server_cpu_s_per_request=Estimate(None),
        server_rss_max_bytes=None,
        trials=list(range(rounds)),
    )

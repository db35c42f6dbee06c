"""Sides of a comparison of known truth: rounds that settle at levels of their own, with noise on top."""

import numpy as np
from numpy.typing import NDArray

from jostle.analysis.compare.sides import Round, Side
from jostle.analysis.results import Estimate, WorkloadSummary
from jostle.analysis.stats.density import describe
from jostle.analysis.stats.over_rounds import mean_over_rounds, quantiles_over_rounds
from jostle.analysis.stats.sample import from_values, pool
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
    seed: int = 7,
    rng: np.random.Generator,
) -> Side:
    """Response times around 10 ms times the round's level times `scale`; throughput goes the other way."""
    rounds = []
    for number, level in enumerate(levels, 1):
        own = level * scale * np.exp(rng.normal(0, noise))
        times = rng.lognormal(np.log(MEDIAN_S * own), 0.4, requests)
        rounds.append(Round(number, from_values(times.tolist()), 1000 / own, requests, failed))
    return side_of(label, rounds, seed=seed)


def side_of(label: str, rounds: list[Round], *, seed: int = 7) -> Side:
    """A side with the cell that the analysis would make of its rounds."""
    responses = [r.response for r in rounds]
    summary = WorkloadSummary(
        contestant=label,
        workload="w",
        title="A workload",
        rounds=len(rounds),
        verdict=Verdict.VALID,
        throughput=mean_over_rounds([r.throughput for r in rounds], "/s"),
        response=quantiles_over_rounds(responses),
        service={},
        outcomes={"ok": sum(r.ok for r in rounds)},
        error_share=0.0,
        response_distribution=describe(pool(responses)),
        service_distribution=describe(pool([])),
        server_cpu_s_per_request=Estimate(None),
        server_rss_max_bytes=None,
        trials=list(range(len(rounds))),
    )
    return Side(label, summary, rounds, seed)

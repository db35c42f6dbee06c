"""What clients see while their number grows: the ramp-up of a load, in steps of equal length."""

import itertools

import numpy as np

from jostle.analysis.results import Phase, RampStep
from jostle.analysis.stats.sample import quantile_of
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.streaming import fold

__all__ = ["STEPS", "ramp_steps"]

STEPS = 10
"""Number of steps into which the ramp is divided."""


def ramp_steps(data: TrialData) -> list[RampStep]:
    """The steps in order; empty if the load has no ramp-up, or did not reach its end."""
    ramp = next((phase for phase in data.phases if phase.name == "ramp-up"), None)
    if ramp is None:
        return []
    edges = np.linspace(ramp.start_s, ramp.end_s, STEPS + 1).tolist()
    steps = [Phase("", start_s, end_s) for start_s, end_s in itertools.pairwise(edges)]
    masks = [data.within([step]) for step in steps]
    if not all(mask.any() for mask in masks):
        return []
    headers = fold(data.trial.interval_histograms("headers"), masks).parts
    found = []
    for step, mask, sample in zip(steps, masks, headers, strict=True):
        length_s = float(data.lengths_s[mask].sum())
        found.append(
            RampStep(
                end_s=step.end_s,
                open=int(data.counts.connections[mask].max(initial=0)),
                throughput_per_s=float(data.counts.ok[mask].sum()) / length_s,
                headers_mean_s=sample.mean_s,
                headers_deviation_s=sample.deviation_s,
                headers_p95_s=quantile_of(sample, 0.95),
                server_cpu=data.resource_usage.cores(round(step.start_s * 1e9), round(step.end_s * 1e9)),
            )
        )
    return found

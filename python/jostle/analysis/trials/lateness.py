"""What the generator's own lateness does to each response time that is reported.

A response time counts from the intended start: R = L + X, where L is how late the generator's own code ran
and X is what the response time would be without it. Quantiles of X are not in the record, but are bounded
from below, however L and X depend on one another:

- X is at least the service time S, so Q_X(p) ≥ Q_S(p). If no request waited for a connection, X = S.
- X ≤ x only if R ≤ x + l or L > l, so Q_X(p) ≥ Q_R(p - P(L > l)) - l for every l (Fréchet's inequality).

The larger of the two is used; lateness is never understated. What lateness did to the server's queue is not
included; the checks of the offered load and of the arrivals cover that.
Source: Makarov, Theory of Probability and its Applications 26 (1982).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jostle.analysis.stats.kaplan_meier import Curve, known_part
from jostle.analysis.stats.quantile_ci import samples_needed
from jostle.analysis.stats.sample import WeightedSample
from jostle.quantiles import NAMED

__all__ = ["Effect", "effects_of_lateness"]


@dataclass(frozen=True)
class Effect:
    """A response time as reported, and the least that it would be without the generator's lateness."""

    reported_s: float
    without_s: float

    @property
    def share(self) -> float:
        """Share of the reported time that may be the generator's lateness."""
        return 1 - self.without_s / self.reported_s if self.reported_s else 0.0


def effects_of_lateness(
    response: WeightedSample, answered: WeightedSample, service: WeightedSample, late: WeightedSample
) -> Mapping[str, Effect]:
    """The effect on each figure of response times that a trial has; empty if nothing was paced.

    `response`: all requests; `answered`: those with a right response.
    """
    if not late.n or not answered.n_events or not service.n_events:
        return {}
    quantiles = {name: p for name, p in NAMED.items() if p <= 0.5 or response.n >= samples_needed(p)}
    response_times, service_times = _Known.of(response), _Known.of(service)
    effects = {name: _effect(p, response_times, service_times, late) for name, p in quantiles.items()}
    effects["max"] = _effect(1.0, _Known.of(answered), service_times, late)
    mean_s = answered.mean_s or 0.0
    effects["mean"] = Effect(mean_s, max(mean_s - (late.mean_s or 0.0), service.mean_s or 0.0))
    return {name: effect for name, effect in effects.items() if effect}


@dataclass(frozen=True)
class _Known:
    """What is known of the distribution of `n` times."""

    curve: Curve
    n: int

    @classmethod
    def of(cls, sample: WeightedSample) -> "_Known":
        return cls(known_part(sample), sample.n)

    def estimate(self, p: float) -> float | None:
        return self.curve.estimate(p, self.n)


def _effect(p: float, response: _Known, service: _Known, late: WeightedSample) -> Effect | None:
    """The effect on the p-quantile as tables show it; None if too many requests were never answered.

    How much shorter it would be follows from times that were seen; the quantile itself may lie between two.
    """
    curve = response.curve
    reported_s = response.estimate(p)
    if reported_s is None:
        return None
    beyond = 1 - late.events.cumsum() / late.n
    seen_s = curve.values_s[curve.cdf.searchsorted(np.append(p - beyond, p) - 1e-9)]
    less_s = float(np.where(p - beyond > 0, seen_s[-1] - seen_s[:-1] + late.values_s, seen_s[-1]).min())
    without_s = service.estimate(p) or 0.0
    return Effect(reported_s, min(reported_s, max(without_s, reported_s - less_s)))

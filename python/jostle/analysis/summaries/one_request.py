"""The figures of one request over rounds, by the same rules as those of its whole workload."""

from collections.abc import Callable, Sequence

from jostle.analysis.results import Estimate
from jostle.analysis.stats.moderated import Usual, UsualOf, not_known, spread_of
from jostle.analysis.stats.over_rounds import (
    quantile_over_rounds,
    quantiles_over_rounds,
    typical_over_rounds,
    within_rounds,
)
from jostle.analysis.stats.proportion import share_over_rounds
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.summaries.disturbed import (
    left_without,
    left_without_others,
    undisturbed,
    without_disturbance,
)
from jostle.analysis.trials.one_request import OneRequest
from jostle.analysis.validity.wake_up import share_of_wake_up
from jostle.quantiles import NAMED

__all__ = ["estimate", "quantiles", "throughput", "within"]


def estimate(
    metric: str, rounds: Sequence[OneRequest], confidence: float = CONFIDENCE, usual: UsualOf = not_known
) -> Estimate:
    """A quantile by its name, "errors" or "throughput". `usual`: the spread that rounds usually have."""
    match metric:
        case "errors":
            return _errors(rounds, confidence)
        case "throughput":
            return throughput(rounds, confidence, usual)
        case _:
            return _quantile(metric, rounds, confidence, usual(metric))


def quantiles(rounds: Sequence[OneRequest], usual: UsualOf = not_known) -> dict[str, Estimate]:
    """The quantiles that tables show, and the longest time, by name."""
    found = quantiles_over_rounds([one.response for one in rounds], _tau(rounds), usual)
    return {
        name: _without_disturbance(name, one, rounds) if name in NAMED else one for name, one in found.items()
    }


def throughput(
    rounds: Sequence[OneRequest], confidence: float = CONFIDENCE, usual: UsualOf = not_known
) -> Estimate:
    """Right responses per second."""
    found = typical_over_rounds(
        [one.per_s for one in rounds], "/s", confidence, spread_of(usual("throughput"))
    )
    return undisturbed("throughput", found, [one.data for one in rounds])


def within(metric: str, rounds: Sequence[OneRequest]) -> float:
    """As `jostle.analysis.metrics.within`, of this request."""
    return within_rounds([one.response for one in rounds], NAMED[metric]) if metric in NAMED else 0.0


def _quantile(name: str, rounds: Sequence[OneRequest], confidence: float, usual: Usual | None) -> Estimate:
    samples = [one.response for one in rounds]
    found = quantile_over_rounds(samples, NAMED[name], confidence, _tau(rounds), usual)
    return _without_disturbance(name, found, rounds)


def _errors(rounds: Sequence[OneRequest], confidence: float) -> Estimate:
    pairs = [(one.failed, one.ended) for one in rounds if one.ended]
    failed, ended = sum(failed for failed, _ in pairs), sum(ended for _, ended in pairs)
    if not ended:
        return Estimate(None, unit="share", note="no request came to an end")
    low, high = share_over_rounds([f for f, _ in pairs], [e for _, e in pairs], confidence)
    return Estimate(failed / ended, low, high, "share", n=ended, rounds=tuple(f / e for f, e in pairs))


def _tau(rounds: Sequence[OneRequest]) -> Callable[[float], float]:
    """The autocorrelation time of "longer than this", which only matters for one round."""
    return rounds[0].autocorrelation_time if len(rounds) == 1 else lambda _: 1.0


def _without_disturbance(name: str, found: Estimate, rounds: Sequence[OneRequest]) -> Estimate:
    left = [
        left_without(
            one.lateness.get(name), share_of_wake_up(one.data, found.value) if NAMED[name] >= 0.5 else 0
        )
        * left_without_others(one.data, name, one.response)
        for one in rounds
    ]
    return without_disturbance(found, left)

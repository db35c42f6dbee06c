"""Quantiles of one workload on one contestant: one definition for everything that shows or judges them."""

from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.analysis.stats.moderated import Usual, UsualOf, not_known
from jostle.analysis.stats.over_rounds import quantile_over_rounds, quantiles_over_rounds
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sample import WeightedSample
from jostle.analysis.summaries.disturbed import left_of, without_disturbance
from jostle.analysis.summaries.usual import of_service
from jostle.analysis.trials.data import TrialData
from jostle.quantiles import NAMED

__all__ = ["quantile", "quantiles", "quartiles"]

NAMES = {p: name for name, p in NAMED.items()}


def quantile(
    trials: Sequence[TrialData],
    p: float,
    confidence: float = CONFIDENCE,
    *,
    service: bool = False,
    usual: Usual | None = None,
) -> Estimate:
    """The p-quantile of response times, or of service times, of a typical start; `trials` must be usable."""
    found = quantile_over_rounds(
        _times(trials, service), p, confidence, _AutocorrelationTime(trials, service), usual
    )
    return _reaching_down(NAMES[p], found, trials, service)


def quantiles(
    trials: Sequence[TrialData], *, service: bool = False, usual: UsualOf = not_known
) -> dict[str, Estimate]:
    """The quantiles that tables show, by name."""
    known = of_service(usual) if service else usual
    found = quantiles_over_rounds(_times(trials, service), _AutocorrelationTime(trials, service), known)
    return {
        name: _reaching_down(name, one, trials, service) if name in (*NAMED, "mean") else one
        for name, one in found.items()
    }


def quartiles(trials: Sequence[TrialData], usual: UsualOf = not_known) -> dict[str, Estimate]:
    """The first and third quartile by name, defined like the median, so that the three are in order."""
    return {name: quantile(trials, p, usual=usual(name)) for name, p in (("p25", 0.25), ("p75", 0.75))}


def _reaching_down(name: str, found: Estimate, trials: Sequence[TrialData], service: bool) -> Estimate:
    """With an interval that reaches down to what neither the generator nor other programs added."""
    figure = f"service {name}" if service else name
    return without_disturbance(found, [left_of(data, figure) for data in trials])


def _times(trials: Sequence[TrialData], service: bool) -> list[WeightedSample]:
    return [data.service if service else data.response for data in trials]


class _AutocorrelationTime:
    """The autocorrelation time of "longer than this", which only matters for one round's response times."""

    def __init__(self, trials: Sequence[TrialData], service: bool) -> None:
        self._data = trials[0] if len(trials) == 1 and not service else None

    def __call__(self, value_s: float) -> float:
        return 1.0 if self._data is None else self._data.autocorrelation_time(value_s)

"""Whether a quantile lies among the requests that failed: it is then longer than any limit."""

from collections.abc import Sequence

from jostle.analysis.stats.proportion import share_over_rounds
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.one_request import OneRequest
from jostle.plan.criteria.conditions import Condition
from jostle.quantiles import NAMED

__all__ = ["lies_among_failures"]


def lies_among_failures(
    condition: Condition, trials: Sequence[TrialData | OneRequest], confidence: float
) -> bool:
    """Whether the condition wants a quantile to be short, and surely too many requests failed for that.

    What the end of a trial or a timeout cut off did not fail in this sense: its time is only not known.
    """
    p = NAMED.get(condition.metric)
    if p is None or not condition.below:
        return False
    counts = [(data.never_answered, data.response.n) for data in trials if data.response.n]
    if not any(never for never, _ in counts):
        return False
    low, _ = share_over_rounds([never for never, _ in counts], [n for _, n in counts], confidence)
    return low > 1 - p

"""Whether a claim depends on how warm its servers were: what was measured, and what a further run might show.

Whether runs on one started server have settled shows in the throughput of the last one divided by that of the
one before. That figure is as noisy as any other, so its interval over rounds decides, and not its value: on a
machine whose runs differ by 5 %, two of them hardly ever agree to 3 %, however warm its servers are. If the
interval lies within what the claim allows, the runs have settled. Otherwise each round also says what a
further run would show if it changed once more by as much; this is an upper limit, as compilers do most of
their work early. The interval of the claim then spans both, so a claim that it decides is decided either way.
"""

from dataclasses import replace

from jostle.analysis.results import Estimate
from jostle.analysis.topics.preceding_runs import change_from_run_before
from jostle.analysis.trials.data import TrialData

__all__ = ["further_throughput", "have_settled", "reaching_over"]


def have_settled(change: Estimate, tolerance: float) -> bool:
    """Whether the runs have settled.

    `change`: throughput of the last run divided by that of the one before, over rounds. `tolerance`: 0.03 for
    3 % up or down.
    """
    if change.low is None or change.high is None or change.low <= 0:
        return False
    return max(change.high, 1 / change.low) <= 1 + tolerance


def further_throughput(data: TrialData) -> float | None:
    """Throughput per second if the runs of this trial changed once more by as much as they did last."""
    change = change_from_run_before(data)
    return None if change is None else data.throughput * change


def reaching_over(found: Estimate, further: Estimate) -> Estimate:
    """`found` with an interval that spans both; without an interval if either has none."""
    if found.value is None:
        return found
    if further.low is None or found.low is None:
        return replace(found, low=None, high=None, note="whether the runs had settled is not known")
    high = None if found.high is None or further.high is None else max(found.high, further.high)
    return replace(found, low=min(found.low, further.low), high=high)

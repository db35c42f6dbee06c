"""What a server that may still be warming up adds to the interval of a claim.

Whether runs on one started server have settled shows in the throughput of the last one in those of the one
before. That is a figure with noise in it like any other, so it is an interval over rounds that is asked, and
not a point: a machine whose runs differ by 5 % seldom has two that agree to 3 %, however warm its servers
are. Where the whole interval lies within what the claim allows, the runs have settled. Else a server is
taken to change once more by as much as it may have changed last (compilers do most of their work early, so
that what is still to come is less), and the interval of the claim is stretched by that on either side. A
claim that is decided by the stretched interval does not depend on whether the servers were warm.
"""

from dataclasses import dataclass, replace

from jostle.analysis.results import Estimate
from jostle.formatting import change as written

__all__ = ["Drift", "stretched"]


@dataclass(frozen=True)
class Drift:
    """By which factors a server's throughput may still change: from `low` (at most 1) to `high` (at least 1)."""

    low: float = 1.0
    high: float = 1.0

    @classmethod
    def of(cls, change: Estimate, within: float) -> "Drift | None":
        """`change`: the last run in the one before, over rounds; None where it has no interval.

        No drift at all where the whole interval lies within the factor 1 + `within`, up or down.
        """
        if change.low is None or change.high is None or change.low <= 0:
            return None
        if max(change.high, 1 / change.low) <= 1 + within:
            return cls()
        return cls(min(1.0, change.low), max(1.0, change.high))

    @property
    def text(self) -> str:
        """As people read it: "−2.1 % to +13 %"."""
        return f"{written(self.low)} to {written(self.high)}"


def stretched(found: Estimate, *drifts: Drift | None) -> Estimate:
    """`found` with its interval as wide as if its sides changed once more; with none where a drift is not
    known. `drifts`: that of the value, and, of a ratio, that of what it is divided by.
    """
    if None in drifts:
        return replace(found, low=None, high=None, note="whether the runs had settled is not known")
    left, right = (*(drift or Drift() for drift in drifts), Drift())[:2]
    low = None if found.low is None else found.low * left.low / right.high
    high = None if found.high is None else found.high * left.high / right.low
    return replace(found, low=low, high=high)

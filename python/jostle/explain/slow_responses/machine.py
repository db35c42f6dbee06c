"""Which stalls the machine on which jostle runs may have caused: those that fell into a halt of it."""

from collections.abc import Sequence

from jostle.explain.slow_responses.requests import Requests
from jostle.explain.slow_responses.stalls import Stall, stalls
from jostle.host.halts import Halt

__all__ = ["but_for", "pressure_besides"]

MOST = 0.5
"""A stall is the machine's if the machine stood still for this share of it."""


def but_for(requests: Requests, those: Sequence[Stall], halts: Sequence[Halt]) -> list[Stall]:
    """The stalls that the machine did not cause while their first requests were being answered."""
    known = sorted(halts, key=lambda one: one.begin_s)
    ends_s = requests.end_s
    return [
        one for one in those if _halted_s(one.begin_s, float(ends_s[one.first]), known) < MOST * one.length_s
    ]


def _halted_s(since_s: float, until_s: float, halts: Sequence[Halt]) -> float:
    """For how much of this time the machine stood still; several cores may have done so at once."""
    total_s = 0.0
    for halt in halts:
        begin_s, end_s = max(halt.begin_s, since_s), min(halt.end_s, until_s)
        if end_s > begin_s:
            total_s, since_s = total_s + end_s - begin_s, end_s
    return total_s


def pressure_besides(pressure: float | None, requests: Requests, halts: Sequence[Halt]) -> float | None:
    """The share of the time in which threads waited for a core, without the stalls that the machine did not
    cause: whatever computes for so long lets others wait.
    """
    if pressure is None:
        return None
    length_s = sum(one.length_s for one in but_for(requests, stalls(requests), halts))
    return max(0.0, pressure - length_s / requests.span_s)

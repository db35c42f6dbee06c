"""Whether fast requests wait for the end of a slow one, or only for their turn.

Both look alike beside a slow request that is hardly longer than a time slice. They differ in how the wait
grows: with the slow request if that runs to its end, not at all if the processor is shared in slices. So only
slow requests of many slices can decide, and a comparison with shorter ones takes its answer from longer ones
on the same server. Those must have as many slow requests at once: a server with two workers has one left
beside one slow request, and none beside two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jostle.errors import BadValue
from jostle.units import duration

__all__ = ["Waits", "WaitsFor", "slice_of", "waits_for"]

WaitsFor = Literal["its end", "a turn", "undecided"]

NEARLY_ALL = 0.7
"""A fast request that waits for this share of a slow one counts as waiting for its end."""

SLICES = 20
"""A slow request of this many time slices is long, if the server says how long its slices are."""

LONG_S = 0.3
"""A slow request of this time is long if the server does not say so: `NEARLY_ALL` of it is more than two
slices of 100 ms, the longest of any runtime in the roster (Ruby).
"""


@dataclass(frozen=True)
class Waits:
    """The waits of one comparison."""

    slow_s: float
    """How long a slow request took, or the part of it that the window saw."""
    longest_s: float | None
    """The longest response time of a fast request beside it, None if none was answered."""
    at_once: int = 1
    """How many clients send slow requests."""

    @property
    def reaches_its_end(self) -> bool:
        return self.longest_s is None or self.longest_s >= NEARLY_ALL * self.slow_s


def waits_for(this: Waits, others: Sequence[Waits], slice_s: float | None) -> WaitsFor:
    """What fast requests wait for in `this` comparison; `others` are of the same server.

    `slice_s`: the server's time slice, if known.
    """
    long_s = LONG_S if slice_s is None else SLICES * slice_s
    alike = [this, *(other for other in others if other.at_once == this.at_once)]
    of_long = [one for one in alike if one.slow_s >= long_s]
    if not of_long:
        return "undecided"
    return "its end" if all(one.reaches_its_end for one in of_long) else "a turn"


def slice_of(text: object) -> float | None:
    """The time slice that a contestant declares, in seconds; None for "4,000 reductions" or no text."""
    try:
        return duration(str(text)) or None
    except BadValue:
        return None

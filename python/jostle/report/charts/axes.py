"""Axes that several charts share: logarithmic times, with room at the end for requests without a response."""

from dataclasses import dataclass

from jostle.report.charts.picture import Spec
from jostle.report.views import View
from jostle.report.workload import span

__all__ = ["MIN_TIME_S", "TIME_LABEL", "TimeAxis", "at_least", "decades", "time_scale"]

MIN_TIME_S = 1e-6
"""Times are recorded to a microsecond; zero, which has no logarithm, is drawn here."""

TIME_LABEL = (
    "datum.value > 0.99 ? format(datum.value, ',~r') + ' s'"
    " : datum.value > 0.00099 ? format(datum.value * 1e3, '~r') + ' ms'"
    " : format(datum.value * 1e6, '~r') + ' µs'"
)
"""A Vega expression that writes seconds as a short duration."""

BLOCK = 0.22
"""The share of an axis that is kept for the requests without a response."""


def at_least(seconds: float) -> float:
    """The time, or the smallest one that is drawn if it is shorter."""
    return max(seconds, MIN_TIME_S)


def decades(low: float, high: float, *, fine: bool | None = None) -> list[float]:
    """Powers of ten between `low` and `high` (both > 0), in short ranges also 2 and 5 times these."""
    fine = high / low < 200 if fine is None else fine
    powers = [float(f"{step}e{power}") for power in range(-7, 16) for step in ((1, 2, 5) if fine else (1,))]
    return [value for value in powers if low <= value <= high]


def time_scale(low: float, high: float) -> Spec:
    """A logarithmic scale of seconds with a little room at both ends."""
    return {"type": "log", "domain": [at_least(low) / 1.25, high * 1.5], "nice": False, "clamp": True}


@dataclass(frozen=True)
class TimeAxis:
    """The axis of response times of some views, with a block at its end for requests without a response."""

    low: float
    high: float
    end: float
    block: float  # where the block begins; equal to `end` if all requests were answered
    title: str

    @classmethod
    def of(cls, *views: View) -> "TimeAxis":
        """The axis that includes all times of the views."""
        series = [s for view in views for p in view.panels for s in p.series]
        low, high = span(s.distribution for s in series)
        waited = [e.value for s in series for e in s.response.values() if e.value is not None]
        low, high = at_least(low), max([high, low * 4, *waited])
        title = f"response time{' of a fast request' if views[0].paired else ''} (logarithmic)"
        if not any(s.unanswered for s in series):
            return cls(low, high, high * 1.5, high * 1.5, title)
        block = high * 1.15
        end = block * (block / low * 1.25) ** (BLOCK / (1 - BLOCK))
        return cls(low, high, end, block, title)

    def gauge(self, share: float) -> float:
        """The position of a share within the block: 0 is its left edge, 1 its right one."""
        return self.block * float((self.end / self.block) ** share)

    @property
    def start(self) -> float:
        """The left end of the axis."""
        return self.low / 1.25

    @property
    def scale(self) -> Spec:
        """The scale for a channel with this axis."""
        return {"type": "log", "domain": [self.start, self.end], "nice": False, "clamp": True}

    def axis(self, *, title: bool = True, **more: object) -> Spec:
        """The axis for a channel, without labels within the block."""
        values = decades(self.start, min(self.block, self.end))
        shown = self.title if title else None
        return {"values": values, "labelExpr": TIME_LABEL, "title": shown, "grid": True, **more}

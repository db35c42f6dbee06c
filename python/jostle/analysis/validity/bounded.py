"""How far the figures of a closed loop may be the disturbance's, where others kept a core from it.

While server or generator wait for a core, all that clients can do is wait, too. So a share s of the time
costs each client at most the share s of its own: without it, throughput is higher by 1 ÷ (1 - s) at most, and
response times are shorter by s × clients × time ÷ requests at most, on average. The median is taken to grow
like the mean. Longer quantiles may grow more, as others come in bursts; how much at most, however the delay
is spread over requests, follows from its sum (`jostle.analysis.stats.undelayed`).

In an open loop the requests that come meanwhile wait behind those that wait: the sum has no such bound.
"""

from collections.abc import Iterable

from jostle.analysis.stats.kaplan_meier import known_part
from jostle.analysis.stats.quantile_ci import samples_needed
from jostle.analysis.stats.sample import WeightedSample
from jostle.analysis.stats.undelayed import quantile_before
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.figures import TIMES
from jostle.formatting import listed
from jostle.quantiles import NAMED
from jostle.units import format_duration

__all__ = ["UNBOUNDED", "has_bounds", "left_of_time", "left_of_times", "part_of_times", "unbounded"]

UNBOUNDED = 0.90
"""Share of a figure above which hardly anything is known to be the server's."""

SHOWN = ("p50", "p90", "p99")


def has_bounds(data: TrialData) -> bool:
    """Whether its clients, always as many, do nothing but wait for the server and think."""
    return data.closed is not None and data.steady_load and not data.has_background


def left_of_times(data: TrialData, share: float) -> float:
    """The share that is left of the mean response time without this share of the time; at least 0."""
    spent_s = data.responses.whole.total_s
    waited_s = share * (data.closed or {}).get("clients", 1) * data.duration_s
    return max(0.0, 1 - waited_s / spent_s) if spent_s else 1.0


def left_of_time(sample: WeightedSample, level: str, left: float) -> float:
    """The share that is left of a quantile of these times, or of their mean, if `left` is left of all."""
    p = NAMED.get(level, 0.5)
    if left >= 1 or p <= 0.5 or not sample.n_events:
        return left
    curve = known_part(sample)
    value, median = curve.quantile(p), curve.quantile(0.5)
    if not value or median is None:
        return left
    before_s = quantile_before(curve, p, (1 - left) * (sample.mean_s or 0.0))
    return min(1.0, max(before_s, left * median) / value)


def unbounded(data: TrialData, share: float) -> tuple[str, ...]:
    """The times of which hardly anything may be the server's."""
    left = left_of_times(data, share)
    return tuple(
        name
        for name in TIMES
        if name in NAMED or name.startswith("service ") or name == "mean"
        if left_of_time(_times(data, name), name.removeprefix("service "), left) < 1 - UNBOUNDED
    )


def part_of_times(data: TrialData, share: float) -> str:
    """ "up to 480 µs of p50 (2.0 ms) and 5.5 ms of p90 (7.5 ms)" """
    left = left_of_times(data, share)
    return f"up to {listed(list(_parts(data.response, left)))}"


def _parts(sample: WeightedSample, left: float) -> Iterable[str]:
    for name in SHOWN:
        value = known_part(sample).quantile(NAMED[name])
        if value and (NAMED[name] <= 0.5 or sample.n >= samples_needed(NAMED[name])):
            part_s = value * (1 - left_of_time(sample, name, left))
            yield f"{format_duration(part_s)} of {name} ({format_duration(value)})"


def _times(data: TrialData, name: str) -> WeightedSample:
    return data.service if name.startswith("service ") else data.response

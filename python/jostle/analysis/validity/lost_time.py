"""Time in which nothing was measured: the generator stood still, or the whole machine was suspended."""

from jostle.analysis.results import Check
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.bounded import has_bounds
from jostle.analysis.validity.figures import RATES, TIMES, quantiles_among
from jostle.analysis.validity.machine import ALL
from jostle.formatting import percent
from jostle.record.verdict import Verdict
from jostle.units import format_duration

__all__ = ["clock_was_set", "share_in_intervals", "time_was_lost"]

STILL_S = 0.25
"""A generator whose loop is late by this much is not merely busy: it was stopped, or had no processor."""

AGAIN, INVALID = 0.05, 0.50
"""Share of the trial from which on it is measured again, or in an open loop was another load than planned.
The clients of a closed one just went on, so all but what was in flight meanwhile is as good as the rest."""


def time_was_lost(data: TrialData) -> Check | None:
    """None if no time was lost. Requests that were in flight meanwhile have it in their response times."""
    late_s = data.counts.loop_lag_max_us / 1e6
    still = late_s >= STILL_S
    suspended_s, still_s = data.trial.suspended_s, float(late_s[still].sum())
    lost_s = suspended_s + still_s
    if not lost_s:
        return None
    share = lost_s / (data.duration_s + suspended_s)
    each = []
    if still_s:
        woke_s = data.counts.end_ns[still][0] / 1e9
        each.append(
            f"the generator stood still for {format_duration(still_s)}, until {format_duration(woke_s)} "
            "after the start or later"
        )
    if suspended_s:
        each.append(f"the machine was suspended for {format_duration(suspended_s)}")
    message = f"{' and '.join(each)}: {percent(share)} of the trial was not measured"
    went_on = data.closed is not None and not suspended_s
    verdict = Verdict.INVALID if share > INVALID and not went_on else Verdict.SUSPECT
    threshold = INVALID if verdict is Verdict.INVALID else 0
    remedy = "run it again, and neither stop jostle nor suspend or overload the machine meanwhile"
    affects = () if verdict is Verdict.INVALID else _affected(data, share, int(still.sum()))
    return Check(
        "lost time",
        verdict,
        share,
        threshold,
        "share",
        message,
        remedy,
        affects,
        "machine",
        again=share > AGAIN,
    )


def share_in_intervals(data: TrialData) -> float:
    """The share of a closed loop in which the generator stood still, if the intervals of its throughput and
    mean hold that.
    """
    late_s = data.counts.loop_lag_max_us / 1e6
    still_s = float(late_s[late_s >= STILL_S].sum())
    bounded = 0 < still_s <= ALL * data.duration_s and not data.trial.suspended_s and has_bounds(data)
    return still_s / data.duration_s if bounded else 0.0


def _affected(data: TrialData, share: float, stops: int) -> tuple[str, ...]:
    """The quantiles among the requests that were due or in flight meanwhile, and of a closed loop that lost
    most of its time, the rates and the mean.

    In an open one, what was due is sent afterwards, all at once: it delays those that are due until it is
    answered, which takes a server that is half busy as long again.
    """
    bounded = bool(share_in_intervals(data))
    if data.closed is not None:
        n = max(1, data.response.n)
        share = min(1.0, max(1, stops) * float(data.counts.clients.max(initial=1)) / n)
    else:
        share = min(1.0, 2 * share)
    quantiles = quantiles_among(share)
    return (
        *(RATES if data.closed is not None and not bounded else ()),
        *quantiles,
        *(f"service {name}" for name in quantiles if f"service {name}" in TIMES),
        "max",
        *(() if bounded else ("mean",)),
    )


def clock_was_set(data: TrialData) -> Check | None:
    """None if the wall clock was not set. Dates in the record depend on it, but no figure does."""
    by_s = data.trial.clock_set_s
    if not by_s:
        return None
    way = "forward" if by_s > 0 else "back"
    message = (
        f"the wall clock was set {way} by {format_duration(abs(by_s))} during the trial; "
        "response times are measured by another clock"
    )
    return Check("wall clock", Verdict.VALID, by_s, 0, "s", message)

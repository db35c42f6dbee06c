"""How much of each time may be the generator's own waking up, if it slept until a response came.

A record says when the generator read a response, and not when it had come. The time between is known from
this machine's floor, if that was measured with both kinds of generator, and otherwise from other machines; it
is never more than the median service time, which contains it. It is an upper bound: a generator that has more
to do than to wait does not sleep.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jostle.analysis.results import Check
from jostle.analysis.stats.kaplan_meier import known_part
from jostle.analysis.stats.quantile_ci import samples_needed
from jostle.analysis.stats.sample import WeightedSample
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.figures import RATES, TIMES
from jostle.formatting import listed, percent
from jostle.host.pressure import BUSY
from jostle.quantiles import NAMED
from jostle.record.verdict import Verdict
from jostle.units import format_duration

__all__ = ["SUSPECT_ABOVE", "WAKE_UP_S", "note", "share_of_wake_up", "shares_of_wake_up", "wake_up"]

WAKE_UP_S = 50e-6
"""Difference of the medians between a generator that sleeps and one that polls (docs/METHODOLOGY)."""

SUSPECT_ABOVE = 0.50
"""Share of a time above which it may be mostly waking up."""

UNBOUNDED = 0.90
"""Share of a time above which hardly anything is known to be the server's."""

MENTIONED_ABOVE = 0.05
"""Share of a median above which it is reported."""

SHOWN = ("p50", "p90", "p99")


def wake_up(data: TrialData) -> Check | None:
    """How far waking up reaches where it may be more than half of a time. None if there is no such time.

    Intervals reach down to what the time would be without it. In doubt are the rates of a closed loop, and
    times that may be nothing but waking up.
    """
    shares = shares_of_wake_up(data)
    touched = {name: share for name, share in shares.items() if share > SUSPECT_ABOVE}
    if not touched:
        return None
    unbounded = [name for name, share in touched.items() if share > UNBOUNDED]
    rates = RATES if "p50" in touched and data.closed is not None else ()  # waiting longer means sending less
    worst = max(touched.values())
    message = (
        "the generator slept until responses came: "
        f"{_wake_up_text(_known_s(data), {f: s for f, s in touched.items() if f in SHOWN} or touched)}"
    )
    remedy = "measure on an idle machine, where the generator polls; or make it poll (--busy-poll always)"
    affects = (*rates, *unbounded)
    verdict = Verdict.SUSPECT if affects else Verdict.VALID
    return Check(
        "wake-up", verdict, worst, SUSPECT_ABOVE, "share", message, remedy, affects, "generator", notable=True
    )


def note(trials: Sequence[TrialData], host: Mapping[str, Any]) -> str:
    """Why the generator slept, and how much of the times waking up may be; empty if it is hardly anything."""
    largest: dict[str, float] = {}
    for data in trials:
        for name, share in shares_of_wake_up(data).items():
            largest[name] = max(largest.get(name, 0.0), share)
    if largest.get("p50", 0.0) <= MENTIONED_ABOVE:
        return ""
    pressure = host.get("cpu_pressure", 0.0)
    why = (
        f", because other programs waited for a core {percent(pressure)} of the time just before the run"
        if pressure >= BUSY
        else ""
    )
    known_s = max(_known_s(data) for data in trials)
    shown = {name: largest[name] for name in SHOWN if name in largest}
    return (
        f"The generator slept instead of polling{why}: "
        f"{_wake_up_text(known_s, shown, 'any' if len(trials) > 1 else 'the')}."
    )


def _wake_up_text(known_s: float, shares: Mapping[str, float], of: str = "the") -> str:
    """ "waking up takes up to 50 µs, which may be more than half of the p50 and 40 % of the p90"."""
    mostly_waking = [f"{of} {name}" for name, share in shares.items() if share > SUSPECT_ABOVE]
    parts = [f"more than half of {listed(mostly_waking)}"] if mostly_waking else []
    parts += [f"{percent(share)} of {of} {name}" for name, share in shares.items() if share <= SUSPECT_ABOVE]
    return f"waking up takes up to {format_duration(known_s)}, which may be {listed(parts)}"


def shares_of_wake_up(data: TrialData) -> dict[str, float]:
    """What share of the median and longer quantiles, also of service times, may be waking up."""
    if data.busy_poll or data.trial.simulated:
        return {}
    delay_s = _delay_s(data)
    found = {
        f"{kind}{name}": delay_s / value
        for kind, sample in (("", data.responses.whole), ("service ", data.service))
        for name, value in _quantiles(sample)
    }
    headers = dict(_quantiles(data.parts["headers"].whole)).get("p50")
    if headers:
        found["time to headers"] = min(1.0, delay_s / headers)
    return {name: share for name, share in found.items() if name in TIMES}


def share_of_wake_up(data: TrialData, value_s: float | None) -> float:
    """What share of a time of one of its requests may be waking up."""
    if data.busy_poll or data.trial.simulated or not value_s:
        return 0.0
    return min(1.0, _delay_s(data) / value_s)


def _quantiles(sample: WeightedSample) -> Iterable[tuple[str, float]]:
    """The median and longer quantiles for which there are enough requests, as tables show them."""
    curve = known_part(sample) if len(sample.values_s) else None
    for name, p in NAMED.items():
        enough = p >= 0.5 and sample.n >= samples_needed(p)
        value = curve.estimate(p, sample.n) if curve and enough else None
        if value:
            yield name, value


def _delay_s(data: TrialData) -> float:
    """The most that waking up adds to any time, in seconds: no more than the median service time."""
    service = dict(_quantiles(data.service)).get("p50", math.inf)
    return max(0.0, min(_known_s(data), service))


def _known_s(data: TrialData) -> float:
    """The most that waking up adds to a median, in seconds: by the floor of this machine, or of others."""
    loads = (data.host.get("floor") or {}).get("loads", [])
    medians = {(load["title"], load.get("awake", False)): load["response_s"].get("p50") for load in loads}
    measured = [
        asleep - polling
        for (title, polls), asleep in medians.items()
        if not polls and asleep and (polling := medians.get((title, True)))
    ]
    return max(measured) if measured else WAKE_UP_S

"""What the generator's own lateness does to each response time that is reported.

A response time counts from the intended start: R = L + X, where L is how late the generator's own code ran
and X is what the response time would be without it. Quantiles of X are not in the record, but are bounded
from below, however L and X depend on one another:

- X is at least the service time S, so Q_X(p) ≥ Q_S(p). If no request waited for a connection, X = S.
- X ≤ x only if R ≤ x + l or L > l, so Q_X(p) ≥ Q_R(p - P(L > l)) - l for every l (Fréchet's inequality).

The larger of the two is used; lateness is never understated. What lateness did to the server's queue is not
included; the checks of the offered load and of the arrivals cover that.
Source: Makarov, Theory of Probability and its Applications 26 (1982).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jostle.analysis.results import Check
from jostle.analysis.stats.kaplan_meier import known_part
from jostle.analysis.stats.quantile_ci import samples_needed
from jostle.analysis.stats.sample import WeightedSample
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.figures import COMPOSED, NOT_SHOWN, RESPONSE_TIMES, SHOWN
from jostle.analysis.validity.machine import troubles
from jostle.formatting import listed, percent
from jostle.quantiles import NAMED
from jostle.record.verdict import Verdict
from jostle.units import format_duration

__all__ = ["Effect", "lateness", "lateness_effects", "mostly_lateness"]

SUSPECT, INVALID = 0.05, 0.50
"""Share of a reported time that is the generator's own lateness."""

REMEDY = "measure on an idle machine, or give the generator a core of its own"
DISTURBED = "stop what else runs on this machine (the generator had a core of its own)"
UNDISTURBED = "run it again: the generator had a core of its own, and nothing was seen to disturb it"

NEVER_INVALID = ("p5", "p25", "max")
"""The longest time is that of a single request, and nobody judges a server by its shortest ones."""


@dataclass(frozen=True)
class Effect:
    """A response time as reported, and the least that it would be without the generator's lateness."""

    reported_s: float
    without_s: float

    @property
    def share(self) -> float:
        """Share of the reported time that may be the generator's lateness."""
        return 1 - self.without_s / self.reported_s if self.reported_s else 0.0


def lateness_effects(data: TrialData) -> dict[str, Effect]:
    """The effect on each figure of response times that the trial has; empty if nothing was paced."""
    late, answered, service = data.pacing, data.responses.whole, data.service
    if not late.n or not answered.n_events or not service.n_events:
        return {}
    n = data.response.n
    quantiles = {name: p for name, p in NAMED.items() if p <= 0.5 or n >= samples_needed(p)}
    effects = {name: _effect(p, data.response, service, late) for name, p in quantiles.items()}
    effects["max"] = _effect(1.0, answered, service, late)
    mean_s = answered.mean_s or 0.0
    effects["mean"] = Effect(mean_s, max(mean_s - (late.mean_s or 0.0), service.mean_s or 0.0))
    return {name: effect for name, effect in effects.items() if effect}


def _effect(
    p: float, response: WeightedSample, service: WeightedSample, late: WeightedSample
) -> Effect | None:
    """The effect on the p-quantile as tables show it; None if too many requests were never answered.

    How much shorter it would be follows from times that were seen; the quantile itself may lie between two.
    """
    curve = known_part(response)
    reported_s = curve.estimate(p, response.n)
    if reported_s is None:
        return None
    beyond = 1 - late.events.cumsum() / late.n
    seen_s = curve.values_s[curve.cdf.searchsorted(np.append(p - beyond, p) - 1e-9)]
    less_s = float(np.where(p - beyond > 0, seen_s[-1] - seen_s[:-1] + late.values_s, seen_s[-1]).min())
    least_s = known_part(service).estimate(p, service.n) or 0.0
    return Effect(reported_s, min(reported_s, max(least_s, reported_s - less_s)))


def lateness(data: TrialData) -> Check | None:
    """Suspect: response times of which more than a twentieth is the generator's own lateness."""
    effects = lateness_effects(data)
    if not effects:
        return None
    touched = {n: e for n, e in effects.items() if e.share > SUSPECT and not _spoiled(n, e)}
    if not touched:
        share = max((e.share for e in effects.values() if e.share <= SUSPECT), default=0.0)
        which = "other response time" if any(e.share > SUSPECT for e in effects.values()) else "response time"
        message = f"the generator's own lateness is at most {percent(share)} of any {which}"
        return Check("lateness", Verdict.VALID, share, SUSPECT, "share", message, cause="generator")
    share = max(effect.share for effect in touched.values())
    affects = _with_composed(touched)
    message, remedy = _message(touched), _remedy(data)
    return Check(
        "lateness", Verdict.SUSPECT, share, SUSPECT, "share", message, remedy, affects, cause="generator"
    )


def mostly_lateness(data: TrialData) -> Check | None:
    """Invalid: response times that are mostly the generator's own lateness; all figures if the median is."""
    effects = lateness_effects(data)
    spoiled = {n: e for n, e in effects.items() if _spoiled(n, e)}
    if not spoiled:
        return None
    share = max(effect.share for effect in spoiled.values())
    affects = () if "p50" in spoiled else _with_composed(spoiled)
    message, remedy = _message(spoiled), _remedy(data)
    return Check(
        "mostly lateness", Verdict.INVALID, share, INVALID, "share", message, remedy, affects, "generator"
    )


def _remedy(data: TrialData) -> str:
    own_core = data.trial.description.get("placement", {}).get("shared") is False
    return REMEDY if not own_core else DISTURBED if troubles(data) else UNDISTURBED


def _spoiled(figure: str, effect: Effect) -> bool:
    return effect.share > INVALID and figure not in NEVER_INVALID


def _with_composed(touched: Mapping[str, Effect]) -> tuple[str, ...]:
    """The figures in the order of tables, together with those that are computed from them."""
    composed = {name for name, parts in COMPOSED.items() if any(part in touched for part in parts)}
    return tuple(name for name in RESPONSE_TIMES if name in touched or name in composed)


def _message(touched: Mapping[str, Effect]) -> str:
    shown = {SHOWN[n]: touched[n] for n in SHOWN if n in touched} or {
        NOT_SHOWN.get(n, n): effect for n, effect in touched.items()
    }
    (first, *others) = (
        (name, f"{format_duration(e.without_s)} instead of {format_duration(e.reported_s)}")
        for name, e in shown.items()
    )
    named = first[0].removeprefix("the ")
    each = [f"{named} could be {first[1]}", *(f"{name} {instead}" for name, instead in others)]
    return f"the generator sent requests late: had it been on time, this trial’s {listed(each)}"

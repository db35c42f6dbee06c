"""How far the generator's own lateness reaches into the response times.

Intervals reach down to what a time would be without it (`jostle.analysis.summaries.disturbed`). So it is a
part of the figure and no reason for doubt, unless most of the figure is lateness.
"""

from collections.abc import Mapping

from jostle.analysis.results import Check
from jostle.analysis.results.validity import IN_NO_TABLE
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.lateness import Effect
from jostle.analysis.validity.figures import COMPOSED, NOT_SHOWN, RESPONSE_TIMES, SHOWN
from jostle.analysis.validity.machine import troubles
from jostle.formatting import listed, percent
from jostle.record.verdict import Verdict
from jostle.units import format_duration

__all__ = ["INVALID", "SUSPECT", "TOLD", "lateness"]

TOLD, SUSPECT, INVALID = 0.10, 0.50, 0.90
"""Share of a reported time that may be the generator's own lateness."""

REMEDY = "measure on an idle machine, or give the generator a core of its own"
DISTURBED = "stop what else runs on this machine"
UNDISTURBED = "run it again: nothing was seen to disturb the generator"

OF_SINGLE_REQUESTS = ("max",)
"""It is told how far lateness reaches into them, but one request is no reason for doubt."""


def lateness(data: TrialData) -> Check | None:
    """Suspect: times that are mostly lateness. Invalid: nearly all of the median is, so nothing is known."""
    effects = data.lateness
    if not effects:
        return None
    reached = {name: effect for name, effect in effects.items() if effect.share > TOLD}
    mostly = {
        name: effect
        for name, effect in effects.items()
        if effect.share > SUSPECT and name not in OF_SINGLE_REQUESTS
    }
    worst = max((effect.share for effect in effects.values()), default=0.0)
    if not reached:
        message = f"the generator's own lateness is at most {percent(worst)} of any response time"
        return Check("lateness", Verdict.VALID, worst, SUSPECT, "share", message, cause="generator")
    message, remedy = _message(mostly or reached), _remedy(data)
    again = not IN_NO_TABLE.issuperset(mostly)
    if "p50" in mostly and mostly["p50"].share > INVALID:
        share = mostly["p50"].share
        return Check(
            "lateness", Verdict.INVALID, share, INVALID, "share", message, remedy, (), "generator", again=True
        )
    verdict = Verdict.SUSPECT if mostly else Verdict.VALID
    return Check(
        "lateness",
        verdict,
        worst,
        SUSPECT,
        "share",
        message,
        remedy,
        _with_composed(mostly),
        "generator",
        notable=not IN_NO_TABLE.issuperset(reached),
        again=again,
    )


def _remedy(data: TrialData) -> str:
    own_core = data.trial.description.get("placement", {}).get("shared") is False
    return REMEDY if not own_core else DISTURBED if troubles(data) else UNDISTURBED


def _with_composed(touched: Mapping[str, Effect]) -> tuple[str, ...]:
    """The figures in the order of tables, together with those that are computed from them."""
    composed = {name for name, parts in COMPOSED.items() if any(part in touched for part in parts)}
    return tuple(name for name in RESPONSE_TIMES if name in touched or name in composed)


def _message(touched: Mapping[str, Effect]) -> str:
    """ "the generator sent late, which may be up to 2.9 ms of p99 (9.2 ms)" """
    shown = {SHOWN[n]: touched[n] for n in SHOWN if n in touched} or {
        NOT_SHOWN.get(n, n): effect for n, effect in touched.items()
    }
    each = [
        f"{format_duration(e.reported_s - e.without_s)} of {name} ({format_duration(e.reported_s)})"
        for name, e in shown.items()
    ]
    return f"the generator sent late, which may be up to {listed(each)}"

"""How far the generator's own lateness reaches into the response times.

Intervals reach down to what a time would be without it (`jostle.analysis.summaries.disturbed`). So it is a
part of the figure, which a note tells, and nothing to be diagnosed, unless most of the figure is lateness.
"""

from collections.abc import Mapping, Sequence

from jostle.analysis.results import Check
from jostle.analysis.results.validity import IN_NO_TABLE
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.lateness import Effect
from jostle.analysis.validity.figures import COMPOSED, NOT_SHOWN, RESPONSE_TIMES, SHOWN
from jostle.analysis.validity.machine import troubles
from jostle.formatting import listed, percent
from jostle.record.verdict import Verdict
from jostle.units import format_duration

__all__ = ["INVALID_ABOVE", "MENTIONED_ABOVE", "SUSPECT_ABOVE", "lateness", "note"]

MENTIONED_ABOVE, SUSPECT_ABOVE, INVALID_ABOVE = 0.10, 0.50, 0.90
"""Share of a reported time that may be the generator's own lateness."""

REMEDY = "measure on an idle machine, or give the generator a core of its own"
DISTURBED = "stop what else runs on this machine"
UNDISTURBED = "run it again: nothing was seen to disturb the generator"

SINGLE_REQUEST_FIGURES = ("max",)
"""It is told how far lateness reaches into them, but one request is no reason for doubt."""


def lateness(data: TrialData) -> Check | None:
    """Suspect: times that are mostly lateness. Invalid: nearly all of the median is, so nothing is known."""
    effects = data.lateness
    if not effects:
        return None
    reached = {name: effect for name, effect in effects.items() if effect.share > MENTIONED_ABOVE}
    mostly = {
        name: effect
        for name, effect in effects.items()
        if effect.share > SUSPECT_ABOVE and name not in SINGLE_REQUEST_FIGURES
    }
    worst = max((effect.share for effect in effects.values()), default=0.0)
    if not reached:
        message = f"the generator's own lateness is at most {percent(worst)} of any response time"
        return Check("lateness", Verdict.VALID, worst, SUSPECT_ABOVE, "share", message, cause="generator")
    message, remedy = _message(mostly or reached), _remedy(data)
    again = not IN_NO_TABLE.issuperset(mostly)
    if "p50" in mostly and mostly["p50"].share > INVALID_ABOVE:
        share = mostly["p50"].share
        return Check(
            "lateness",
            Verdict.INVALID,
            share,
            INVALID_ABOVE,
            "share",
            message,
            remedy,
            (),
            "generator",
            again=True,
        )
    verdict = Verdict.SUSPECT if mostly else Verdict.VALID
    return Check(
        "lateness",
        verdict,
        worst,
        SUSPECT_ABOVE,
        "share",
        message,
        remedy,
        _with_composed(mostly),
        "generator",
        again=again,
    )


def note(trials: Sequence[TrialData]) -> str:
    """How far lateness reaches in the worst trial, where it is a part of the figures; "" if nowhere."""
    touched = [effects for data in trials if (effects := _in_intervals(data.lateness))]
    if not touched:
        return ""
    worst = max(touched, key=lambda effects: max(effect.share for effect in effects.values()))
    where = f"In {len(touched)} of {len(trials)} trials (worst shown), the" if len(trials) > 1 else "The"
    parts = listed([_part(SHOWN[name], effect) for name, effect in worst.items()])
    return f"{where} generator sent late, which may be up to {parts}; intervals reach down to what is left."


def _in_intervals(effects: Mapping[str, Effect]) -> dict[str, Effect]:
    """The times that have intervals, and of which lateness is a part to be told, but not most of them."""
    return {
        name: effects[name]
        for name in SHOWN
        if name in effects
        and name not in SINGLE_REQUEST_FIGURES
        and MENTIONED_ABOVE < effects[name].share <= SUSPECT_ABOVE
    }


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
    each = [_part(name, effect) for name, effect in shown.items()]
    return f"the generator sent late, which may be up to {listed(each)}"


def _part(name: str, effect: Effect) -> str:
    late_s = effect.reported_s - effect.without_s
    return f"{format_duration(late_s)} of {name} ({format_duration(effect.reported_s)})"

"""Whether the server answered throughout, or was away for a time."""

from jostle.analysis.results import Check
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.outage import away_at_least_s, away_s
from jostle.analysis.validity.figures import RATES
from jostle.formatting import listed, percent, plural
from jostle.record.verdict import Verdict
from jostle.units import format_duration, format_rate

__all__ = ["answered_throughout"]

MAX_SHOWN = 3

REMEDY = "look at the server's log at that time: did it end, restart or hang?"


def answered_throughout(data: TrialData) -> Check:
    """Suspect: rates, as means of a time with the server and one without. All else takes it into account."""
    found = data.outages
    if not found:
        return Check("outage", Verdict.VALID, 0, 0, "share", "the server answered throughout")
    away, more = away_s(found), len(found) - MAX_SHOWN
    times = listed([*map(str, found[:MAX_SHOWN]), *([plural(more, "more time")] if more > 0 else [])])
    least = away_at_least_s(found)
    most = f"{format_duration(least)} to " if least < away else ""
    message = f"{times}: {most}{format_duration(away)}, {percent(data.unavailable)} of the run"
    if data.duration_s > away:
        message += f", {format_rate(data.ok() / (data.duration_s - away))} while it answered"
    return Check("outage", Verdict.SUSPECT, data.unavailable, 0, "share", message, REMEDY, RATES)

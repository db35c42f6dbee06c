"""Whether the server answered throughout, or was away for a time."""

from jostle.analysis.results import Check
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.outage import away_s, outages
from jostle.formatting import listed, percent, plural
from jostle.record.verdict import Verdict
from jostle.units import format_duration

__all__ = ["answered_throughout"]

MAX_SHOWN = 3

REMEDY = (
    "look at the server's log at that time: did it end, restart or hang? The share of failed requests says "
    "little of it, as a client pauses after a refused connection, for up to 1 s"
)


def answered_throughout(data: TrialData) -> Check:
    found = outages(data)
    if not found:
        return Check("outage", Verdict.VALID, 0, 0, "share", "the server answered throughout")
    share = away_s(found) / data.duration_s
    more = len(found) - MAX_SHOWN
    times = listed([*map(str, found[:MAX_SHOWN]), *([plural(more, "more time")] if more > 0 else [])])
    message = f"{times}: {format_duration(away_s(found))}, {percent(share)} of the run"
    return Check("outage", Verdict.SUSPECT, share, 0, "share", message, REMEDY, spares=("errors",))

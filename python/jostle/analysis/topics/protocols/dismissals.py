"""Idle connections that the server ended with a response, such as 408 (RFC 9110, section 15.5.9)."""

from collections import Counter
from collections.abc import Sequence

from jostle.analysis.trials.data import TrialData
from jostle.formatting import plural, tallied

__all__ = ["dismissals_note"]

REQUEST_TIMEOUT = "408"


def dismissals_note(trials: Sequence[TrialData]) -> str:
    """How many, with which statuses; "" if there were none."""
    found = Counter[str]()
    for data in trials:
        for statuses in data.counts.dismissals.values():
            found.update(statuses)
    if not found:
        return ""
    ended = plural(found.total(), "idle connection")
    if set(found) == {REQUEST_TIMEOUT}:
        return (
            f"The server ended {ended} with 408, as its idle limit is shorter than the pause; the client "
            "connected again for its next request."
        )
    return (
        f"The server ended {ended} with a response that nobody had asked for ({tallied(found)}); the client "
        "connected again for its next request."
    )

"""Whether somebody changed the load while it ran."""

from jostle.analysis.results import Check
from jostle.analysis.trials.data import TrialData
from jostle.formatting import listed
from jostle.record.steered import described
from jostle.record.verdict import Verdict
from jostle.units import format_duration

__all__ = ["steered"]

MAX_NAMED = 3
"""Of more changes than this, the first ones are named."""


def steered(data: TrialData) -> Check | None:
    """A run whose load was changed can be trusted, but says nothing of the load that was planned."""
    changes = data.steered
    if not changes:
        return None
    named = [f"{described(one)} from {format_duration(one['at_ns'] / 1e9)} on" for one in changes[:MAX_NAMED]]
    if len(changes) > MAX_NAMED:
        named.append(f"{len(changes) - MAX_NAMED} more")
    message = f"the load was changed while it ran: {listed(named)}"
    if unreached := [why for one in changes for why in one["unreached"]]:
        message += f"; {'; '.join(dict.fromkeys(unreached))}"
    return Check("steered", Verdict.VALID, len(changes), None, "changes", message, cause="plan", notable=True)

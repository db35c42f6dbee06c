"""Whether right responses were all of one kind: a response that is right by its status may be another one."""

from collections.abc import Mapping

from jostle.analysis.results import Check
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.statuses import change_of_statuses, mixed
from jostle.record.verdict import Verdict

__all__ = ["MOSTLY", "REMEDY", "one_kind_of_response"]

MOSTLY = 0.5
"""Above this share, redirects are what was measured."""

REMEDY = (
    "look at what the server says there (curl -i), and name the statuses that are right, so that others "
    "fail: --expect-status 200; expect.status in a plan"
)

UNFOLLOWED = (
    "-L (redirects in a plan) follows them; if they are what is to be measured, say so: "
    "--expect-status; expect.status"
)

REDIRECTS = ("301", "302", "303", "307", "308")


def one_kind_of_response(data: TrialData) -> Check | None:
    """None for older records and for protocols without statuses."""
    statuses = data.statuses()
    if not statuses:
        return None
    if (change := change_of_statuses(data)) is not None:
        return Check("statuses", Verdict.SUSPECT, None, None, "", str(change), REMEDY)
    share = _redirected(data, statuses)
    if share > MOSTLY:
        message = f"right responses were {mixed(statuses)}: redirects, which were not followed"
        return Check("statuses", Verdict.SUSPECT, share, MOSTLY, "share", message, UNFOLLOWED)
    return Check("statuses", Verdict.VALID, share, MOSTLY, "share", f"right responses were {mixed(statuses)}")


def _redirected(data: TrialData, statuses: Mapping[str, int]) -> float:
    """The share of redirects that nobody followed, named as right, or asked for in a step of a journey."""
    workload = data.workload()
    named = any(request.get("expect", {}).get("status") for request in workload.get("requests", []))
    followed = (workload.get("redirects") or {}).get("most", 0)
    if named or followed or data.on_journeys:
        return 0.0
    return sum(statuses.get(status, 0) for status in REDIRECTS) / sum(statuses.values())

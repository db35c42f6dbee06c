"""Whether `jostle run --resume` can finish a run that was cut short."""

import shlex

from jostle.plan.criteria.conditions import SLO_PARAMETER
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.redaction.names import HIDDEN

__all__ = ["finish", "why_not_resumed"]


def finish(record: RunRecord) -> str:
    """The command that measures the rest of the run; empty if nothing is left, or if it would be refused."""
    if record.ended or record.in_progress or why_not_resumed(record):
        return ""
    return shlex.join(["jostle", "run", "--resume", str(record.folder)])


def why_not_resumed(record: RunRecord) -> str:
    """Why a run that has not ended cannot go on; empty if it can."""
    events = {entry["event"] for entry in record.journal}
    if "run started" not in events:
        return "its journal has lost how it began"
    if "trial started" not in events:
        return "it was stopped before its first trial, so there is nothing to keep"
    if HIDDEN in record.plan_text:
        return "the secrets of its plan are not kept in the record"
    if SLO_PARAMETER in RecordedPlan.parse(record.plan_text).parameters:
        return "it searched for a capacity, and such a search is not taken up again"
    return ""

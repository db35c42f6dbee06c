"""A run that is looked at while it goes on: how often, and the correction that its intervals need for it."""

from jostle.analysis.stats.sequential import ConfidenceRule, fixed, repeated_looks
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.record.journal_line import LookedAt
from jostle.record.layout import BUDGET_SPENT

__all__ = ["confidence_rule_of", "looks_of"]


def looks_of(record: RunRecord) -> list[LookedAt]:
    """Every look that the journal tells of, in order."""
    return [entry for entry in record.journal if entry["event"] == "looked at"]


def confidence_rule_of(record: RunRecord, plan: RecordedPlan) -> ConfidenceRule:
    """The correction for repeated looks.

    None is needed if the run's budget allowed no round after the first look. Where runs share a budget, what
    this one found may be why there was no further round.
    """
    looks = looks_of(record)
    shared = any(entry["event"] == "run waits" for entry in record.journal)
    one_look = record.complete and len(looks) == 1 and looks[0]["why"].endswith(BUDGET_SPENT)
    return repeated_looks if plan.until_decided and (shared or not one_look) else fixed

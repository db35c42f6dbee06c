"""Of a run whose load was changed while it ran nothing is claimed or required."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jostle.analysis.results import ClaimResult, RequirementResult
from jostle.analysis.trials.data import TrialData
from jostle.formatting import plural

__all__ = ["claims_of_steered", "requirements_of_steered", "steered_note"]

NOT_JUDGED = "not judged: the load was changed while it ran, so it is not the one that the plan is about"


def requirements_of_steered(requirements: Iterable[RequirementResult]) -> list[RequirementResult]:
    """The requirements, with their figures and without a verdict."""
    return [replace(one, verdict="undecided", message=NOT_JUDGED) for one in requirements]


def claims_of_steered(claims: Iterable[ClaimResult]) -> list[ClaimResult]:
    """The claims, without their verdicts."""
    return [replace(one, verdict="undecided", sentence=f"{NOT_JUDGED}.", criteria=[]) for one in claims]


def steered_note(data: Sequence[TrialData], *, judged: bool) -> str:
    """What a reader must know of these trials; "" if no load was changed. `judged`: the plan has claims or
    requirements."""
    changed = sum(bool(one.steered) for one in data)
    if not changed:
        return ""
    which = "" if changed == len(data) else f" of {plural(changed, 'trial')}"
    left_out = "claims, requirements and comparisons" if judged else "comparisons"
    return f"The load{which} was changed while it ran, so there are no {left_out} of this run."

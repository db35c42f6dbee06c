"""Whether a trial, a workload or a run can be trusted: the order, symbol and meaning of each response."""

from collections.abc import Iterable
from enum import StrEnum

__all__ = ["NOT_COMPLETE", "Verdict", "worst"]


class Verdict(StrEnum):
    """Whether figures can be trusted; the best verdict comes first."""

    VALID = "valid"
    SUSPECT = "suspect"
    INVALID = "invalid"

    @property
    def rank(self) -> int:
        """0 for valid, and higher for worse verdicts."""
        return _RANK[self]

    @property
    def symbol(self) -> str:
        """A symbol that says the same without colour."""
        return {"valid": "✓", "suspect": "?", "invalid": "✗"}[self]

    @property
    def style(self) -> str:
        """The colour in a terminal."""
        return {"valid": "green", "suspect": "yellow", "invalid": "red"}[self]

    @property
    def meaning(self) -> str:
        """What it means for the reader of the figures."""
        return _MEANING[self]


_RANK = {verdict: rank for rank, verdict in enumerate(Verdict)}

_MEANING = {
    Verdict.VALID: "Every check passed: the figures can be trusted, as far as their intervals say.",
    Verdict.SUSPECT: "Some checks failed: use the figures that they touch only with the reasons in mind.",
    Verdict.INVALID: "Some figures must not be used, and are named; what is not named stands.",
}

NOT_COMPLETE = (
    "No check failed, but the run is not complete: the first lines say what is missing. What is there stands."
)
"""What *suspect* means if the run was only cut short, or lost a part of its record."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of them; valid if there are none."""
    return max(verdicts, key=lambda verdict: verdict.rank, default=Verdict.VALID)

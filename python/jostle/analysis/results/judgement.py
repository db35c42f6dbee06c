"""What a plan demands and what an article claimed, held against what was measured."""

from dataclasses import dataclass
from typing import Literal

from jostle.analysis.results.estimate import Decision, Estimate

__all__ = ["Claim", "CriterionResult", "Requirement"]


@dataclass(frozen=True)
class Requirement:
    """A `[[require]]` of the plan on one workload of one contestant: the interval decides, not the value."""

    that: str
    contestant: str
    workload: str
    confidence: float
    estimate: Estimate  # its interval has this confidence
    limit: float
    verdict: Decision
    message: str


@dataclass(frozen=True)
class CriterionResult:
    """One thing that must hold if a claim is to be reproduced: the interval decides, not the value."""

    measure: str  # what is measured: "spread of node, closed / the same of go"
    rule: str  # "above 1.5"
    contestant: str
    workload: str
    quantity: str
    estimate: Estimate
    verdict: Literal["holds", "fails", "cannot tell"]
    message: str
    absent: str = ""  # the contestant that was not measured; "": all that the part is about was


@dataclass(frozen=True)
class Claim:
    """What an article says, and whether this run reproduces it."""

    statement: str
    published: str
    verdict: Literal["reproduced", "not reproduced", "cannot tell"]
    sentence: str  # names the part that decides
    criteria: list[CriterionResult]

    @property
    def absent(self) -> list[str]:
        """The contestants for want of which it cannot be judged; empty where something of it was measured."""
        names = [part.absent for part in self.criteria]
        return list(dict.fromkeys(names)) if self.verdict == "cannot tell" and names and all(names) else []

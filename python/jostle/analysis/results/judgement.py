"""What a plan demands and what an article claimed, compared with what was measured."""

from dataclasses import dataclass
from typing import Literal

from jostle.analysis.results.estimate import Decision, Estimate

__all__ = [
    "ARTICLE_VERDICTS",
    "OWN_VERDICTS",
    "ClaimResult",
    "ClaimVerdict",
    "CriterionResult",
    "PartVerdict",
    "RequirementResult",
]

PartVerdict = Literal["holds", "other size", "size undecided", "fails", "undecided"]
"""The verdict on one criterion. `other size`, `size undecided`: what the article says in words holds, but the
number that it gives does not, or may not.
"""

ClaimVerdict = Literal[
    "reproduced",
    "same direction, other size",
    "not reproduced",
    "holds",
    "does not hold",
    "undecided",
]

ARTICLE_VERDICTS: tuple[ClaimVerdict, ...] = (
    "reproduced",
    "same direction, other size",
    "not reproduced",
    "undecided",
)
"""Possible verdicts on a claim of an article, best first."""

OWN_VERDICTS: tuple[ClaimVerdict, ...] = ("holds", "does not hold", "undecided")
"""Possible verdicts on a check of our own."""


@dataclass(frozen=True)
class RequirementResult:
    """A `[[require]]` of the plan on one workload of one contestant: the interval decides, not the value.

    With `against`, it is about a difference, and a relative one is a factor in `estimate` and `limit`: 1.05
    is 5 % more. Of "not slower", it is the factor of the metric that decides.
    """

    that: str
    contestant: str
    workload: str
    confidence: float
    estimate: Estimate  # its interval has this confidence
    limit: float
    verdict: Decision
    message: str
    against: str = ""  # the contestant that it is compared with
    part: str = ""  # the request or the step that it is about; "": the whole workload

    @property
    def about(self) -> str:
        """Whose figure it is about, as far as the requirement says: "node, shop, search"."""
        return ", ".join(filter(None, [self.contestant, self.workload, self.part]))


@dataclass(frozen=True)
class CriterionResult:
    """One thing that must hold if a claim is to be reproduced: the interval decides, not the value."""

    subject: str  # what is judged: "spread of node, closed / the same of go"
    rule: str  # "above 1.5"
    contestant: str
    workload: str
    metric: str
    estimate: Estimate
    verdict: PartVerdict
    message: str
    absent: str = ""  # a contestant that was not measured; "": everything that it is about was
    published: float | None = None  # the published value, in the estimate's unit
    size: str = ""  # the published size: "between 1.07 and 1.32"; "": no size is judged
    rounds_needed: tuple[int, ...] = ()  # the fewest and the most that may decide it; empty: no forecast


@dataclass(frozen=True)
class ClaimResult:
    """What an article says, and whether this run reproduces it."""

    statement: str
    published: str
    verdict: ClaimVerdict
    sentence: str  # names the part that decides
    criteria: list[CriterionResult]
    ours: bool = False  # a check of our own, which the article does not make

    @property
    def absent(self) -> list[str]:
        """The contestants whose absence keeps it from being judged; empty if any criterion was measured."""
        names = [part.absent for part in self.criteria]
        return list(dict.fromkeys(names)) if self.verdict == "undecided" and names and all(names) else []

"""What was checked in a trial, and the verdict."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from jostle.record.verdict import Verdict, worst

__all__ = ["Cause", "Check", "Validity"]

IN_NO_TABLE = frozenset(("min", "p5", "p25", "p75", "p95", "mean", "spread", "quartile spread"))
"""Figures that are shown only where a requirement or a claim is about them, which asks for their verdict."""

Cause = Literal["generator", "machine", "server", "plan"]
"""What is to blame when a check fails."""


@dataclass(frozen=True)
class Check:
    """One validity check: a measured value, its threshold, and what to do when it fails."""

    name: str
    verdict: Verdict
    value: float | None
    threshold: float | None
    unit: str
    message: str
    remedy: str = ""
    affects: tuple[str, ...] = ()
    """The figures that it affects, as plans name them (`jostle.plan.criteria.metrics`); if empty, all but
    those that it `spares`."""
    cause: Cause = "server"
    spares: tuple[str, ...] = ()
    notable: bool = False
    """What the server did, or how far a disturbance reaches, which stands in the first lines although the
    check passed."""
    again: bool = False
    """A further measurement may be less disturbed."""

    def touches(self, figure: str) -> bool:
        return figure in self.affects if self.affects else figure not in self.spares

    @property
    def of_the_trial(self) -> Verdict:
        """What it means for the trial: a figure that no table shows spoils no verdict but its own."""
        if self.affects and IN_NO_TABLE.issuperset(self.affects):
            return Verdict.VALID
        return Verdict.SUSPECT if self.affects and self.verdict is Verdict.INVALID else self.verdict

    @property
    def severity(self) -> tuple[int, float]:
        """For comparing checks: the worse one is greater.

        The verdict comes first. Of failed checks, the one whose value is farthest from its threshold is the
        worst; of those that passed, the nearest.
        """
        if self.value is None or self.threshold is None:
            return self.verdict.rank, -math.inf
        distance = abs(self.value - self.threshold)
        return self.verdict.rank, -distance if self.verdict is Verdict.VALID else distance

    @property
    def is_minimum(self) -> bool:
        """Whether the threshold is a lower limit, inferred from the side of it on which the value lies."""
        if self.value is None or self.threshold is None:
            return False
        passed = self.verdict is Verdict.VALID
        return self.value > self.threshold if passed else self.value < self.threshold


@dataclass(frozen=True)
class Validity:
    """`verdict` is that of the whole trial: invalid if all of its figures are, suspect if only some are."""

    verdict: Verdict
    checks: list[Check]

    @classmethod
    def of(cls, checks: Iterable[Check]) -> "Validity":
        """The verdict that follows from these checks."""
        checks = list(checks)
        return cls(worst(check.of_the_trial for check in checks), checks)

    def with_check(self, check: Check) -> "Validity":
        """The same with one check more."""
        return Validity.of([*self.checks, check])

    @property
    def failed(self) -> list[Check]:
        """The checks that failed for figures that are shown, worst first."""
        failed = [c for c in self.checks if c.of_the_trial is not Verdict.VALID]
        return sorted(failed, key=lambda c: -c.verdict.rank)

    @property
    def notable(self) -> list[Check]:
        """The checks that passed, and say something that a reader must know first."""
        return [c for c in self.checks if c.notable and c.verdict is Verdict.VALID]

    @property
    def reasons(self) -> list[str]:
        """What the failed checks say, worst first."""
        return [c.message for c in self.failed]

    def verdict_of(self, figure: str) -> Verdict:
        """The verdict on one figure, by its name in plans: that of the worst check that affects it."""
        return worst(c.verdict for c in self.checks if c.touches(figure))

"""What was checked of a trial, and the verdict."""

from dataclasses import dataclass

from jostle.record.verdict import Verdict

__all__ = ["Check", "Validity"]


@dataclass(frozen=True)
class Check:
    """One validity check: a measured value beside its threshold, and what to do when it fails."""

    name: str
    verdict: Verdict
    value: float | None
    threshold: float | None
    unit: str
    message: str
    remedy: str = ""


@dataclass(frozen=True)
class Validity:
    """`verdict` is the worst of the checks."""

    verdict: Verdict
    checks: list[Check]

    @property
    def reasons(self) -> list[str]:
        """What the failed checks say, worst first."""
        failed = [c for c in self.checks if c.verdict is not Verdict.VALID]
        return [c.message for c in sorted(failed, key=lambda c: -c.verdict.rank)]

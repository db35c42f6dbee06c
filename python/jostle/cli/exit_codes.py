"""The exit codes of every command, and how the decisions of a run or a comparison become one."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jostle.analysis.results import Decision, RunResult

__all__ = [
    "ExitCode",
    "Undecided",
    "exit_code",
    "exit_code_of_all",
    "is_valid",
    "undecided_of",
    "was_measured",
]


class ExitCode(IntEnum):
    """The exit codes. README.md and docs/reference/exit-codes.md list them for users."""

    DONE = 0
    FAILED = 1
    """A requirement, a `--fail-if` or a check failed."""
    USAGE = 2
    """The user made a mistake, and nothing was done."""
    INVALID_RESULT = 3
    """No reliable result: invalid, incomplete, nothing answered, a contestant skipped, or not written."""
    UNDECIDED = 4
    """A requirement, a check of the plan's own, or a `--fail-if` can be neither confirmed nor ruled out."""


class Undecided(StrEnum):
    """What `--undecided` turns "undecided" and an invalid run into."""

    ok = "pass"
    fail = "fail"


def exit_code_of_all(codes: Iterable[int]) -> int:
    """The exit code of several results: that of the first in the order failed, untrusted, undecided, done."""
    order = (ExitCode.FAILED, ExitCode.INVALID_RESULT, ExitCode.UNDECIDED, ExitCode.DONE)
    return min(codes, key=order.index)


def was_measured(result: "RunResult") -> bool:
    """Whether all that the plan asks for was measured, and something answered.

    It follows from the record alone, so that whoever shows a run exits with the same code.
    """
    from jostle.record.outcomes import Outcome  # imported late: the models of records would delay `--help`

    answered = any(cell.outcomes.get(Outcome.OK) for cell in result.summaries)
    return answered and result.complete and not any(result.not_measured())


def is_valid(result: "RunResult") -> bool:
    """Whether no trial is invalid."""
    from jostle.record.verdict import Verdict

    return result.verdict is not Verdict.INVALID


def undecided_of(result: "RunResult") -> list[str]:
    """What the plan asks and the run does not decide: requirements, and checks of its own.

    Those beside the published claims of an article are no gate.
    """
    requirements = [f"{r.that} ({r.about})" for r in result.requirements if r.verdict == "undecided"]
    checks = [c.statement for c in result.claims if c.ours and c.verdict == "undecided"]
    return requirements + ([] if result.published else checks)


def exit_code(
    decisions: Iterable["Decision"], *, measured: bool, undecided: Undecided | None, valid: bool = True
) -> ExitCode:
    """The exit code. A failure outweighs everything, since only valid trials can decide it.

    What the machine made invalid is not decided either, so that noise alone fails no build if what is
    undecided passes. `measured`: whether all that is asked was.
    """
    found = set(decisions)
    if "fail" in found:
        return ExitCode.FAILED
    if not measured:
        return ExitCode.INVALID_RESULT
    if valid and "undecided" not in found:
        return ExitCode.DONE
    if undecided is not None:
        return ExitCode.DONE if undecided is Undecided.ok else ExitCode.FAILED
    return ExitCode.UNDECIDED if valid else ExitCode.INVALID_RESULT

"""The exit codes of every command, and how the decisions of a run or a comparison become one."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jostle.analysis.results import Decision, RunResult

__all__ = ["ExitCode", "Undecided", "exit_code", "exit_code_of_all", "is_trusted"]


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
    """A requirement or a `--fail-if` can be neither confirmed nor ruled out."""


class Undecided(StrEnum):
    """What `--undecided` turns "undecided" into."""

    ok = "pass"
    fail = "fail"


def exit_code_of_all(codes: Iterable[int]) -> int:
    """The exit code of several results: that of the first in the order failed, untrusted, undecided, done."""
    order = (ExitCode.FAILED, ExitCode.INVALID_RESULT, ExitCode.UNDECIDED, ExitCode.DONE)
    return min(codes, key=order.index)


def is_trusted(result: "RunResult") -> bool:
    """Whether all that the plan asks for was measured, something answered, and no trial is invalid.

    It follows from the record alone, so that whoever shows a run exits with the same code.
    """
    from jostle.record.outcomes import Outcome  # imported late: the models of records would delay `--help`
    from jostle.record.verdict import Verdict

    answered = any(cell.outcomes.get(Outcome.OK) for cell in result.summaries)
    all_measured = result.complete and not any(result.not_measured())
    return answered and all_measured and result.verdict is not Verdict.INVALID


def exit_code(decisions: Iterable["Decision"], *, trusted: bool, undecided: Undecided | None) -> ExitCode:
    """The exit code. A failure outweighs everything, since only valid trials can decide it."""
    found = set(decisions)
    if "fail" in found:
        return ExitCode.FAILED
    if not trusted:
        return ExitCode.INVALID_RESULT
    if "undecided" in found:
        return {None: ExitCode.UNDECIDED, Undecided.ok: ExitCode.DONE, Undecided.fail: ExitCode.FAILED}[
            undecided
        ]
    return ExitCode.DONE

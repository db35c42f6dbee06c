"""The exit codes of every command, and how the answers of a run or a comparison become one."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jostle.analysis.results import Decision

__all__ = ["ExitCode", "Undecided", "exit_code"]


class ExitCode(IntEnum):
    """README.md and docs/CI.md list them for users."""

    DONE = 0
    FAILED = 1
    """A requirement, a `--fail-if` or a check failed."""
    MISTAKE = 2
    """The user's: nothing was done."""
    UNTRUSTED = 3
    """No result to rely on: invalid, incomplete, nothing was answered, or it could not be written."""
    UNDECIDED = 4
    """A requirement or a `--fail-if` can be neither confirmed nor ruled out."""


class Undecided(StrEnum):
    """What `--undecided` makes of "cannot tell"."""

    ok = "pass"
    fail = "fail"


def exit_code(decisions: Iterable["Decision"], *, trusted: bool, undecided: Undecided | None) -> ExitCode:
    """A failure outweighs everything: it was decided by trials that are valid."""
    found = set(decisions)
    if "fail" in found:
        return ExitCode.FAILED
    if not trusted:
        return ExitCode.UNTRUSTED
    if "cannot tell" in found:
        return {None: ExitCode.UNDECIDED, Undecided.ok: ExitCode.DONE, Undecided.fail: ExitCode.FAILED}[
            undecided
        ]
    return ExitCode.DONE

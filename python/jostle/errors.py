"""The exceptions that jostle raises.

JostleError                 every message says what happened, where, and what to do next
├── UserError               the user's mistake: one message, no traceback, exit code 2
│   ├── PlanError           a plan file or an option that cannot be run
│   ├── UnknownName         a contestant, experiment or variant that does not exist
│   ├── NotARun             a folder that is not a run, or of another format
│   └── UnreachableTarget   nothing listens where the load should go
└── ContestantError         a server did not do its part
    ├── MissingRuntime      a command that the contestant needs is not installed
    ├── TooFewFiles         it cannot hold so many connections: too few open files, or a limit of its own
    ├── BuildFailed         with the last lines of the build
    ├── StartFailed         with the server's own last output
    └── ServerDied          in the middle of a trial, with its own last output
"""

import difflib
from collections.abc import Iterable

__all__ = [
    "BuildFailed",
    "ContestantError",
    "JostleError",
    "MissingRuntime",
    "NotARun",
    "PlanError",
    "ServerDied",
    "StartFailed",
    "TooFewFiles",
    "UnknownName",
    "UnreachableTarget",
    "UserError",
    "nearest",
]


class JostleError(Exception):
    """Base of all errors of jostle: `message` says what happened and where, `hint` what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UserError(JostleError):
    """The user's mistake."""


class PlanError(UserError):
    """A plan file or an option that cannot be run."""


class UnknownName(UserError):
    """A name that does not exist; the hint offers the nearest ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        super().__init__(f"there is no {kind} {name!r}", nearest(name, known))


class NotARun(UserError):
    """A folder that is not a run of jostle, or of a format that this version cannot read."""


class UnreachableTarget(UserError):
    """Nothing answers where the load should go."""


class ContestantError(JostleError):
    """A server did not do its part."""


class MissingRuntime(ContestantError):
    """A command that the contestant needs is not installed."""


class TooFewFiles(ContestantError):
    """The contestant cannot hold the connections that are asked for."""


class BuildFailed(ContestantError):
    """The contestant could not be built."""


class StartFailed(ContestantError):
    """The contestant did not become ready."""


class ServerDied(ContestantError):
    """The contestant ended while it was measured."""


def nearest(name: str, known: Iterable[str]) -> str:
    """One line that offers the names nearest to `name`, or all of them when none is near."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "known: " + (", ".join(known) if known else "none")

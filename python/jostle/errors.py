"""The exceptions that jostle raises.

JostleError                 every message says what happened, where, and what to do next
├── UserError               the user's mistake: one message, no traceback, exit code 2
│   ├── PlanError           a plan file or an option that cannot be run
│   │   ├── BadValue        a text that does not give the value that is needed; a ValueError too
│   │   ├── CannotServe     a workload in a protocol, on a route or of a size that a contestant does not have
│   │   └── StartRefused    a load that this machine has no room for
│   ├── UnknownName         a contestant, experiment or variant that does not exist
│   ├── NotARun             a folder that is not a run, or of another format
│   ├── NotComparable       two runs that cannot be compared
│   ├── UnreachableTarget   nothing listens where the load should go
│   └── ClusterRefused      a cluster on which no run can start
├── GeneratorsLost          no generator is left: the trial is over
│   └── ExecutorLost        what started the generators is gone: the run is over
│       └── ClusterLost     the head of the cluster is gone
├── RecordLost              the run's folder takes no more: a full disk, a folder that is gone
└── ContestantError         a server did not do its part
    ├── MissingRuntime      a command that the contestant needs is not installed
    ├── BuildFailed         with the last lines of the build
    ├── StartFailed         with the server's own last output
    └── ServerDied          in the middle of a trial, with its own last output
"""

from collections.abc import Iterable

__all__ = [
    "BadValue",
    "BuildFailed",
    "CannotServe",
    "ClusterLost",
    "ClusterRefused",
    "ContestantError",
    "ExecutorLost",
    "GeneratorsLost",
    "JostleError",
    "MissingRuntime",
    "NotARun",
    "NotComparable",
    "PlanError",
    "RecordLost",
    "ServerDied",
    "StartFailed",
    "StartRefused",
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


class BadValue(PlanError, ValueError):
    """A value that cannot be; the hint says what can. A `ValueError` too, so that models may raise it."""


class CannotServe(PlanError):
    """The contestant cannot serve this workload: a protocol, a route or connections that it does not have."""


class StartRefused(PlanError):
    """This load cannot run here; the message says what is missing."""


class UnknownName(UserError):
    """A name that does not exist; the hint offers the nearest ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        known = sorted(known)
        super().__init__(f"there is no {kind} {name!r}", nearest(name, known))


class NotARun(UserError):
    """A folder that is not a run of jostle, or of a format that this version cannot read."""


class NotComparable(UserError):
    """Two things that were not measured in the same way."""


class UnreachableTarget(UserError):
    """Nothing answers where the load should go."""


class ClusterRefused(UserError):
    """No run starts on this cluster: it is open to others, out of reach, or not of one version."""


class GeneratorsLost(JostleError):
    """No generator is left: what was recorded so far is all there is."""


class ExecutorLost(GeneratorsLost):
    """What the generators were started by is gone: no further trial can run."""


class ClusterLost(ExecutorLost):
    """The head is gone in the middle of a trial; generators stop by their lease."""


class RecordLost(JostleError):
    """What is measured cannot be written any more: the run is over, what was written stands."""


class ContestantError(JostleError):
    """A server did not do its part."""


class MissingRuntime(ContestantError):
    """A command that the contestant needs is not installed."""


class BuildFailed(ContestantError):
    """The contestant could not be built."""


class StartFailed(ContestantError):
    """The contestant did not become ready."""


class ServerDied(ContestantError):
    """The contestant ended while it was measured."""


def nearest(name: str, known: Iterable[str]) -> str:
    """One line that offers the names nearest to `name`, or all of them when none is near."""
    import difflib  # late: few runs end with a mistake

    known = list(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "known: " + (", ".join(known) if known else "none")

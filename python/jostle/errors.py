"""The exceptions that jostle raises.

JostleError                 every message says what happened, where, and what to do next
├── UserError               the user's mistake: one message, no traceback, exit code 2
│   ├── PlanError           a plan file or an option that cannot be run
│   │   ├── BadValue        a text that is not the kind of value that is needed; also a ValueError
│   │   ├── CannotServe     a workload whose protocol, routes or connections a contestant cannot serve
│   │   └── StartRefused    a load for which this machine has no room
│   ├── UnknownName         a contestant, experiment or variant that does not exist
│   ├── NotARun             a folder that is not a run, or has another format
│   ├── NotComparable       two runs that cannot be compared
│   ├── MissingExtra        what is wanted needs packages that only an extra brings
│   ├── SteerRefused        a change of a running load that cannot be made
│   ├── UnreachableTarget   nothing listens where the load should go
│   ├── ClusterRefused      a cluster on which a run cannot start
│   └── EngineMissing       jostle was not built for this platform; also an ImportError
├── GeneratorsLost          no generator is left: the trial is over
│   └── ExecutorLost        what started the generators is gone: the run is over
│       └── ClusterLost     the head of the cluster is gone
├── RecordLost              the run's folder cannot be written any more: a full disk, a missing folder
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
    "EngineMissing",
    "ExecutorLost",
    "GeneratorsLost",
    "JostleError",
    "MissingExtra",
    "MissingRuntime",
    "NotARun",
    "NotComparable",
    "PlanError",
    "RecordLost",
    "ServerDied",
    "StartFailed",
    "StartRefused",
    "SteerRefused",
    "UnknownName",
    "UnreachableTarget",
    "UserError",
    "nearest",
]


class JostleError(Exception):
    """Base of all errors of jostle: `message` says what happened and where, `hint` what to do next.

    Both may quote what the user gave, and end in logs and records: secrets in them are hidden.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        from jostle.redaction.texts import redact_text  # imported late: most commands make no mistake

        self.message = redact_text(message)
        self.hint = redact_text(hint)
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UserError(JostleError):
    """The user's mistake."""


class PlanError(UserError):
    """A plan file or an option that cannot be run."""


class BadValue(PlanError, ValueError):
    """A wrong value; the hint shows a right one. It is also a `ValueError`, so that models may raise it."""


class CannotServe(PlanError):
    """The contestant cannot serve this workload: it lacks the protocol, a route or enough connections."""


class StartRefused(PlanError):
    """This load cannot run here; the message says what is missing."""


class SteerRefused(UserError):
    """The load of a run is not changed; the message says why."""


class UnknownName(UserError):
    """A name that does not exist; the hint offers the nearest ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str], of: str = "") -> None:
        self.kind = kind
        known = sorted(known)
        super().__init__(f"there is no {kind} {name!r}" + (f" of {of}" if of else ""), nearest(name, known))


class NotARun(UserError):
    """A folder that is not a run of jostle, or has a format that this version cannot read."""


class NotComparable(UserError):
    """Two things that were not measured in the same way."""


class MissingExtra(UserError):
    """What is wanted needs packages that only an extra brings."""


class UnreachableTarget(UserError):
    """Nothing answers where the load should go."""


class ClusterRefused(UserError):
    """A run cannot start on this cluster: it is open to others, unreachable, or has several versions."""


class EngineMissing(UserError, ImportError):
    """The engine, which is compiled, cannot be loaded here."""


class GeneratorsLost(JostleError):
    """No generator is left: what was recorded so far is all there is."""


class ExecutorLost(GeneratorsLost):
    """What started the generators is gone, so that no further trial can run."""


class ClusterLost(ExecutorLost):
    """The head is gone in the middle of a trial; generators stop when their lease runs out."""


class RecordLost(JostleError):
    """Results cannot be written any more: the run is over, but what was written remains."""


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
    """One line with the known names nearest to `name`, or with all of them if none is near."""
    import difflib  # imported late: few runs end with a mistake

    known = list(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "known: " + (", ".join(known) if known else "none")

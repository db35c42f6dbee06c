"""What a command says of itself while it works: where it is, how far, and a line with a bar."""

from dataclasses import dataclass

from jostle.cli.terminal.line import Line, clipped
from jostle.record.verdict import Verdict
from jostle.text import one_line

__all__ = ["Status", "bar", "status_line"]

BAR = 20


@dataclass(frozen=True)
class Status:
    """A command at work."""

    text: str = ""
    """Where it is: "3/10 node fast"."""
    details: str = ""
    """How far: "about 2 min left"."""
    done: float = 0.0
    total: float | None = None
    """Of what is done; None if that is not known."""
    note: str = ""
    """What matters more than how far it is."""
    keys: bool = False
    """Whether the keys are to be shown."""
    verdict: Verdict | None = None
    """That of the last trial, once it is over."""


def status_line(status: Status, width: int) -> Line:
    """All of it in one line."""
    parts = [(one_line(status.text), "")]
    if status.total:
        parts.append((f" {bar(status.done / status.total, BAR)}", "32"))
    details = status.note or status.details
    return clipped([*parts, (f" {details}" if details else "", "2")], width)


def bar(share: float, width: int) -> str:
    """A line that is thick as far as something is done."""
    done = round(min(1.0, share) * width)
    return "━" * done + "─" * (width - done)

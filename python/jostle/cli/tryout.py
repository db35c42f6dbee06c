"""Shows a journey that was tried: each request, without its secrets, its response, and what was captured."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jostle.redaction.sent import redact_request
from jostle.redaction.texts import redact_text
from jostle.text import one_line, plain_lines

if TYPE_CHECKING:
    from jostle._engine import Trace
    from jostle.plan import Plan
    from jostle.runner.tryout import JourneyTryout

__all__ = ["show_tried"]

MAX_LINES = 12
"""The most lines that are shown of a request, head or body."""

MAX_COLUMNS = 160


def show_tried(plan: "Plan", label: str) -> bool:
    """Try the journeys of `plan` on `label`, and print them. Returns whether all were completed."""
    from jostle.runner.tryout import try_journeys

    good = True
    for tried in try_journeys(plan, label):
        for line in _lines(tried):
            print(line)
        good &= not tried.end
    return good


def _lines(tried: "JourneyTryout") -> Iterator[str]:
    yield ""
    yield f"journey {one_line(tried.journey)} (workload {one_line(tried.workload)})"
    for number, (name, trace) in enumerate(tried.steps, 1):
        yield ""
        yield f"{number}. {redact_text(one_line(name))}: {_how(trace)}"
        sent = redact_request(trace["request"].decode("utf-8", "replace")).encode()
        yield from _text("  > ", sent, len(sent))
        yield from _text("  < ", trace["head"], len(trace["head"]))
        yield from _text("  < ", trace["body"], trace["body_bytes"])
        for note in trace["notes"]:
            yield f"  ! {_short(note)}"
        for key, value in trace["captured"].items():
            yield f"  {one_line(key)} = {_short(value.decode('utf-8', 'replace'))}"
    yield ""
    yield f"ended early: {one_line(tried.end)}" if tried.end else "completed"


def _how(trace: "Trace") -> str:
    from jostle.formatting import amount
    from jostle.record.outcomes import outcome_label

    how = outcome_label(trace["outcome"])
    took_s = (trace["end_ns"] - trace["intended_ns"]) / 1e9
    time = f" in {amount(took_s, 's')}" if trace["end_ns"] else ""
    return f"{how}{time}" + (f" ({one_line(trace['why'])})" if trace["why"] else "")


def _text(mark: str, data: bytes, whole: int) -> Iterator[str]:
    """The first lines of what was sent or received; `whole`: its size in bytes."""
    if not data:
        return
    lines = list(plain_lines(data.decode("utf-8", "replace").strip("\r\n")))
    for line in lines[:MAX_LINES]:
        yield f"{mark}{_short(line)}".rstrip()
    if len(lines) > MAX_LINES or whole > len(data):
        yield f"{mark}… ({whole:,} bytes in all)"


def _short(text: str) -> str:
    safe = one_line(text)
    return safe if len(safe) <= MAX_COLUMNS else f"{safe[: MAX_COLUMNS - 1]}…"

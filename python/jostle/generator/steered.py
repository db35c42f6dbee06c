"""What generators say of a change of their load, each of its own, and all as one."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from jostle.errors import SteerRefused
from jostle.generator.api import Running, Steered
from jostle.plan.change import Change
from jostle.units import format_duration

__all__ = ["merged", "reply_to"]


def reply_to(running: Running, workload: int, kind: Any, value: float, at_ns: int) -> dict[str, Any]:
    """Make a change. Returns the fields of a `Steered`, and how late it was; or why it is "refused"."""
    try:
        made = asdict(running.steer(workload, Change(kind, value), at_ns))
    except SteerRefused as error:
        return {"refused": error.message}
    return made | {"late_ns": max(0, time.time_ns() - running.started_unix_ns - at_ns)}


def merged(replies: Mapping[str, Mapping[str, Any]]) -> Steered:
    """The change as those made it that acknowledged it, and who did not.

    `replies`: of each generator by its name. Raises `SteerRefused` if none made it.
    """
    made = [reply for reply in replies.values() if "refused" not in reply]
    refused = {name: reply["refused"] for name, reply in replies.items() if "refused" in reply}
    if made:
        unreached = [f"{name} goes on as before: {why}" for name, why in refused.items()]
        late_s = {name: reply.get("late_ns", 0) / 1e9 for name, reply in replies.items()}
        unreached += [f"{name} followed {format_duration(s)} later" for name, s in late_s.items() if s]
        return Steered(made[0]["at_ns"], made[0]["what"], made[0]["value"], unreached)
    alike = set(refused.values())
    raise SteerRefused(
        alike.pop() if len(alike) == 1 else "; ".join(f"{name}: {why}" for name, why in refused.items())
    )

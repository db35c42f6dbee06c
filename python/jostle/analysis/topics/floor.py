"""The floor: the time that the machine itself takes, measured with a server that does nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from jostle.analysis.trials.data import TrialData
from jostle.units import format_duration

__all__ = ["floor_note", "load_line"]


def floor_note(host: Mapping[str, Any], data: Sequence[TrialData]) -> str:
    """A sentence on the floor under loads of the kinds that were measured; empty if none is known."""
    kinds = {(kind, f.busy_poll) for f in data for kind in ("open", "closed") if getattr(f, kind) is not None}
    floor = host.get("floor") or {}
    loads = [load for load in floor.get("loads", []) if (load.get("kind"), load.get("awake", False)) in kinds]
    lines = [load_line(load) for load in loads]
    if not lines:
        return ""
    return (
        "Floor of this machine, from a server that answers immediately (measured "
        f"{str(floor.get('measured'))[:10]}): {'; '.join(lines)}. "
        "Response times close to it come from the machine and the generator."
    )


def load_line(load: Mapping[str, Any]) -> str:
    """The quantiles of the floor under one load."""
    times = ", ".join(
        f"{name} {format_duration(value)}" for name, value in load["response_s"].items() if value is not None
    )
    polling = ", polling" if load.get("awake") else ""
    return f"{load['title']}{polling}: {times}"

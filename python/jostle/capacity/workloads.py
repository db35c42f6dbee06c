"""The names of a search's workloads, by which its record is read again."""

from typing import NamedTuple

__all__ = ["ALONE", "DRAIN", "HYSTERESIS_CHECK", "LevelWorkload", "level_workload", "read_level"]

ALONE = "alone"
"""One request at a time, before all others."""

HYSTERESIS_CHECK = "above-and-back"
"""An overload, and then a load that the server should carry."""

DRAIN = "drain"
"""A few single requests, which wait until all that an overload left behind is done."""

_HELD_OUT = "-held-out"


class LevelWorkload(NamedTuple):
    """A level of the search."""

    level: float
    """Clients, or requests per second."""

    unit: str
    """The unit of levels: "clients" or "/s"."""

    held_out: bool
    """Whether a model is judged at it, and not fitted to it."""


def level_workload(level: LevelWorkload) -> str:
    """The name of a level's workload: "rate-400", "clients-32-held-out"."""
    kind = "clients" if level.unit == "clients" else "rate"
    return f"{kind}-{level.level:g}{_HELD_OUT if level.held_out else ''}"


def read_level(name: str) -> LevelWorkload:
    """The level of which `name` is the workload. Raises ValueError for any other name."""
    kind, _, rest = name.partition("-")
    unit = "clients" if kind == "clients" else "/s"
    return LevelWorkload(float(rest.removesuffix(_HELD_OUT)), unit, rest.endswith(_HELD_OUT))

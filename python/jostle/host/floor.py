"""The floor of this machine, as stored by `jostle doctor --calibrate`: what measuring itself costs."""

import json
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic accepts no other before Python 3.12

from jostle.errors import UserError
from jostle.host.cache import cache_folder
from jostle.host.files import write_json

__all__ = ["Floor", "FloorLoad", "MachineAndVersion", "store_floor", "stored_floor"]


class MachineAndVersion(TypedDict):
    """What a floor belongs to: with another kernel, processor or version of jostle it is different."""

    jostle: str
    kernel: str
    cpu_model: str
    usable_cores: list[int]


class FloorLoad(TypedDict):
    """The result of one load."""

    kind: Literal["closed", "open"]
    title: str
    awake: bool
    """The generator busy-polled."""
    verdict: str
    throughput_per_s: float | None
    response_s: dict[str, float | None]
    cpu_s_per_request: float
    pacing_s: dict[str, float | None] | None
    """How late it began the requests of an open loop."""


class Floor(TypedDict):
    """The floor of one machine."""

    measured: str
    """When, in ISO 8601."""
    load_average: float
    """Of the machine just before."""
    slowdown: float | None
    """How much longer a computation on a server's core takes while the generator busy-polls (0.3: 30 %); None
    if the generator has no core of its own."""
    loads: list[FloorLoad]


def store_floor(machine: MachineAndVersion, floor: Floor) -> None:
    """Store the floor of this machine in place of an older one."""
    write_json(_file(), {**machine, **floor})


def stored_floor(machine: MachineAndVersion) -> Floor | None:
    """The floor of exactly this machine; None if it was never measured."""
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
        if not isinstance(found, dict) or any(found.get(key) != value for key, value in machine.items()):
            return None
        return TypeAdapter(Floor).validate_python(found)
    except (OSError, ValueError, RecursionError, UserError, ValidationError):
        return None


def _file() -> Path:
    return cache_folder() / "floor.json"

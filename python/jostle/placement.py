"""Which cores the server gets and which the generator."""

import os
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Placement", "available_cores", "place"]


@dataclass(frozen=True)
class Placement:
    """Core numbers; `shared` when server and generator may use the same core, None when it is not known."""

    server_cores: list[int]
    generator_cores: list[int]
    shared: bool | None

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


def available_cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


def place(cores: list[int], share: bool) -> Placement:
    """Server and generator on separate cores: the generator has the last quarter, at least one.

    With a single core, or when asked to, both may use all of them.
    """
    if share or len(cores) < 2:
        return Placement(cores, cores, shared=True)
    generators = max(1, len(cores) // 4)
    return Placement(cores[:-generators], cores[-generators:], shared=False)

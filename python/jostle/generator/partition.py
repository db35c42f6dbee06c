"""One plan, several generators: who does what. Pure; the engine deals the load out by these numbers."""

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["partition"]


def partition(spec: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """The specification of each of `count` generators: together they are the plan.

    The engine deals clients, requests, arrivals, connections and parameters out to the threads of all
    generators in turn (`ShareSpec`), so every one has the whole load and its place. Threads are divided, at
    least one each; cores are taken in turn.
    """
    threads = math.ceil(spec["threads"] / count)
    cores = spec["cores"]
    return [
        {
            **spec,
            "threads": threads,
            "cores": [cores[(index * threads + n) % len(cores)] for n in range(threads)] if cores else [],
            "share": {"index": index, "of": count},
        }
        for index in range(count)
    ]

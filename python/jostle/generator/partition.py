"""How several generators divide one plan. Pure; the engine deals out the load by these numbers."""

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["partition"]


def partition(spec: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """The specification of each of `count` generators; together they make up the plan.

    The engine deals clients, requests, arrivals, connections and parameters to the threads of all generators
    in turn (`ShareSpec`), so each specification has the whole load and the generator's index. Threads are
    divided, with at least one for each generator; cores are taken in turn.
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

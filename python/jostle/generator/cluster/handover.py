"""A lost generator's share: when another generator may take it over, and what is left of it by then."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jostle.errors import StartRefused
from jostle.generator.api import Lost
from jostle.generator.cluster.clocks import Clock
from jostle.generator.cluster.follower import Follower
from jostle.generator.cluster.transport import Remote

__all__ = ["Handover", "Remainder", "first_interval", "refuse_countable_load", "remainder"]

PREPARE_S = 3.0
"""The time from the decision until a successor that is ready takes over, in which it prepares the load."""


@dataclass
class Handover:
    """The share of `follower`, which may move once its lease is over, from `not_before` on (monotonic, s).

    `successor`: the generator that takes it over and its clock, once it is ready.
    """

    follower: Follower
    lost: Lost
    not_before: float
    coming_up: bool = False
    successor: tuple[Remote, Clock] | None = None

    @property
    def index(self) -> int:
        return self.follower.index


def first_interval(spec: Mapping[str, Any], passed_ns: int) -> int:
    """The start of the first interval that a successor can record, in ns from the start of the load."""
    interval_ns: int = spec["interval_ns"]
    return math.ceil((passed_ns + PREPARE_S * 1e9) / interval_ns) * interval_ns


Remainder = tuple[dict[str, Any], list[list[int]]]
"""A specification and, for each workload, the number in the whole plan of each phase that is left."""


def refuse_countable_load(spec: Mapping[str, Any]) -> None:
    """Raise `StartRefused` for a load that counts requests or uses up the rows of a feed.

    How many a lost generator sent is not known.
    """
    for workload in spec["workloads"]:
        (load,) = workload["load"].values()
        if any(load.get(limit) is not None for limit in ("requests", "requests_per_client")):
            raise StartRefused(
                f"{workload['name']} counts its requests, so a lost generator's share cannot move",
                'let it last for a time, or leave out lost = "moves"',
            )
        feeds = (feed for journey in workload.get("journeys", []) for feed in journey["feeds"])
        if any(feed["order"] == "once" for feed in feeds):
            raise StartRefused(
                f"{workload['name']} sends each row of a feed once, so a lost generator's share cannot move",
                'let the feed have another order, or leave out lost = "moves"',
            )


def remainder(spec: Mapping[str, Any], from_ns: int) -> Remainder:
    """What is left of `spec` at `from_ns` after its start: the same clients and rates at the same times.

    Random arrivals are drawn anew from there on, and values taken in turn begin again.
    """
    duration = spec["duration_ns"]
    cut = {**spec, "duration_ns": None if duration is None else duration - from_ns}
    phases = []
    cut["workloads"] = []
    for workload in spec["workloads"]:
        load, numbers = _rest_of_load(workload["load"], from_ns)
        cut["workloads"].append({**workload, "load": load})
        phases.append(numbers)
    return cut, phases


def _rest_of_load(load: Mapping[str, Any], from_ns: int) -> tuple[dict[str, Any], list[int]]:
    ((kind, spec),) = load.items()
    if kind == "closed":
        phases, numbers = _rest(spec.get("phases", []), from_ns, _cut_phase)
        return {"closed": {**spec, "phases": phases}}, numbers
    rates, numbers = _rest(spec.get("rates", []), from_ns, _cut_rate)
    arrivals = spec["arrivals"]
    if isinstance(arrivals, Mapping):
        arrivals = {"trace": [at - from_ns for at in arrivals["trace"] if at >= from_ns]}
    return {"open": {**spec, "arrivals": arrivals, "rates": rates}}, numbers


Cut = Callable[[Mapping[str, Any], int], list[dict[str, Any]]]


def _rest(steps: list[Mapping[str, Any]], from_ns: int, cut: Cut) -> tuple[list[dict[str, Any]], list[int]]:
    """The steps that are left, the first of them cut, and the number of each among all steps."""
    left: list[dict[str, Any]] = []
    numbers: list[int] = []
    start_ns = 0
    for number, step in enumerate(steps):
        length = step.get("duration_ns")
        passed = max(0, from_ns - start_ns)
        if length is None or passed < length:
            parts = cut(step, passed) if passed else [dict(step)]
            left += parts
            numbers += [number] * len(parts)
        start_ns += length or 0
    return left, numbers


def _cut_rate(step: Mapping[str, Any], passed: int) -> list[dict[str, Any]]:
    length = step.get("duration_ns")
    if length is None:
        return [dict(step)]
    at = step["from"] + (step["to"] - step["from"]) * passed / length
    return [{**step, "from": at, "duration_ns": length - passed}]


def _cut_phase(step: Mapping[str, Any], passed: int) -> list[dict[str, Any]]:
    """Cut a phase. A ramp continues from where it is; a staircase becomes its remaining stairs, one by one.

    Clients are counted in whole numbers, as in `crates/engine/src/schedule/phases.rs`.
    """
    length, low, count = step["duration_ns"], step["from"], step.get("steps")
    change, sign = abs(step["to"] - low), 1 if step["to"] >= low else -1
    if not count:
        at = low + sign * (change * passed // length)
        return [{**step, "from": at, "duration_ns": length - passed}]
    ends = [-(-length * n // count) for n in range(count + 1)]
    stairs = []
    for n in range(count):
        if ends[n + 1] > passed:
            clients = low + sign * (change * (n + 1) // count)
            time = ends[n + 1] - max(passed, ends[n])
            stairs.append({**step, "from": clients, "to": clients, "duration_ns": time, "steps": None})
    return stairs

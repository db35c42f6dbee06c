"""Runs each journey of a plan once, with one client, to show what is sent, answered and captured."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jostle import contestant as contestants
from jostle.generator.inprocess import InProcessExecutor
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.plan import ClosedLoad, Plan
from jostle.plan.labels import split

if TYPE_CHECKING:
    from jostle._engine import Trace

__all__ = ["JourneyTryout", "running_contestant", "try_journeys"]

MAX_S = 60.0
"""How long a journey may take without its pauses."""


@dataclass(frozen=True)
class JourneyTryout:
    """One journey."""

    workload: str
    journey: str
    steps: list[tuple[str, "Trace"]]
    """Names and traces of what was sent."""
    end: str
    """How it ended; "" if completed."""


def running_contestant(plan: Plan) -> str:
    """The label of the first contestant that runs already, so that none must be started; "" if none does."""
    for label in plan.contestants:
        table = plan.contestant.get(split(label)[0])
        if table is not None and table.url:
            return label
    return ""


def try_journeys(plan: Plan, label: str) -> Iterator[JourneyTryout]:
    """Send every journey of the selected workloads once to a contestant that runs already, without pauses.

    Raises `PlanError` and `StartRefused`.
    """
    found = contestants.find(label, plan.contestant)
    assert found.url is not None
    address = Address.of(found.url)
    for name, workload in plan.selected.items():
        once = ClosedLoad.model_construct(clients=1, iterations_per_client=1)
        for journey in workload.journeys:
            alone = workload.model_copy(
                update={"journeys": {journey: 1}, "load": once, "background": None, "rows": False}
            )
            spec = engine_spec(name, alone, address, journeys=plan.journey, reflect=True)
            yield _try(name, journey, _without_pauses(spec))


def _without_pauses(spec: dict[str, Any]) -> dict[str, Any]:
    (workload,) = spec["workloads"]
    for journey in workload["journeys"]:
        for step in journey["steps"]:
            step["think"] = "none"
        if journey["script"] is not None:
            journey["script"]["sleeps"] = False
    return {**spec, "trace": True, "duration_ns": round(MAX_S * 1e9)}


def _try(workload: str, name: str, spec: dict[str, Any]) -> JourneyTryout:
    requests = [request["name"] for request in spec["workloads"][0]["requests"]]
    running = InProcessExecutor().start(spec)
    steps: list[tuple[str, Trace]] = []
    end, last = "it was not begun", False
    while not last:
        interval = running.next_interval(1.0)
        if interval is None:
            continue
        last = interval["last"]
        steps += [(requests[trace["step"]], trace) for trace in interval.get("traces", [])]
        for series in interval["journeys"]:
            if series["completed"]:
                end = ""
            elif series["unfinished"]:
                end = f"it took longer than {MAX_S:g} s"
            for ended in series["ended"]:
                end = f"the step {requests[ended['step']]!r} ended it"
        _failures(interval, requests, steps)
    return JourneyTryout(workload, name, steps, end)


def _failures(interval: Any, requests: list[str], steps: list[tuple[str, "Trace"]]) -> None:
    """Add the reasons of failures from the series, since a failed connection has no trace of its own."""
    for series in interval["series"]:
        for outcome, texts in series["failures"].items():
            name = requests[series["request"]]
            known = [trace for step, trace in steps if step == name and trace["outcome"] == outcome]
            if known:
                known[-1]["why"] = known[-1]["why"] or ", ".join(texts)
            else:
                steps.append((name, _unsent(outcome, ", ".join(texts))))


def _unsent(outcome: str, why: str) -> "Trace":
    empty = b""
    return {
        "journey": 0,
        "step": 0,
        "intended_ns": 0,
        "end_ns": 0,
        "outcome": outcome,
        "why": why,
        "request": empty,
        "head": empty,
        "body": empty,
        "body_bytes": 0,
        "notes": [],
        "captured": {},
    }

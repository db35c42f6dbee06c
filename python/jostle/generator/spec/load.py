"""A load for the engine: clients that wait for their responses, or arrivals at a rate."""

from pathlib import Path
from typing import Any

from jostle import units
from jostle.errors import BadValue, PlanError
from jostle.generator.spec.values import bytes_of, nanoseconds
from jostle.plan.load import ClosedLoad, OpenLoad, Trace
from jostle.plan.values import Think

__all__ = ["load_spec", "think_spec", "trace_starts"]


def load_spec(load: ClosedLoad | OpenLoad) -> dict[str, Any]:
    return {"closed": _closed(load)} if isinstance(load, ClosedLoad) else {"open": _open(load)}


def _closed(load: ClosedLoad) -> dict[str, Any]:
    return {
        "clients": load.most_clients,
        "think": think_spec(load.think),
        "requests": load.most,
        "requests_per_client": load.most_per_client,
        "renew": load.renew,
        "requests_per_connection": load.connection_limit,
        "phases": [
            {
                "name": phase.name,
                "duration_ns": nanoseconds(phase.for_),
                "from": phase.ends[0],
                "to": phase.ends[1],
                "steps": phase.steps,
            }
            for phase in load.course()
        ],
    }


def think_spec(think: Think) -> str | dict[str, Any]:
    """The engine's `ThinkSpec`: how a think time, or another time of the same form, is drawn."""
    if think.kind == "constant":
        return {"constant": {"ns": nanoseconds(think.seconds)}}
    if think.kind == "uniform":
        return {"uniform": {"ns": nanoseconds(think.seconds), "spread": think.spread}}
    if think.kind == "exponential":
        return {"exponential": {"mean_ns": nanoseconds(think.seconds)}}
    return {"list": {"ns": [nanoseconds(turn) for turn in think.turns]}} if think.kind == "list" else "none"


def _open(load: OpenLoad) -> dict[str, Any]:
    requests = load.most
    arrivals: str | dict[str, Any]
    if isinstance(load.arrivals, Trace):
        starts = trace_starts(load.arrivals.trace)
        requests = min(requests or len(starts), len(starts))
        arrivals = {"trace": starts}
    else:
        arrivals = load.arrivals
    steps = [(step.name, step.for_, *step.ends) for step in load.rates]
    if load.rate is not None:
        steps = [("", None, load.rate, load.rate)]
    return {
        "arrivals": arrivals,
        "rates": [
            {"name": name, "duration_ns": nanoseconds(seconds) if seconds else None, "from": begin, "to": end}
            for name, seconds, begin, end in steps
        ],
        "requests": requests,
        "max_connections": load.max_connections,
        "requests_per_connection": load.connection_limit,
    }


_TRACE_EXAMPLE = 'write a start per line: "1.25" (seconds) or "1250ms"'


def trace_starts(path: Path) -> list[int]:
    """Read the starts from a file, in ns; empty lines and comments (#) are skipped. Raises `PlanError`."""
    starts: list[int] = []
    for number, line in enumerate(bytes_of(path).decode("utf-8", "replace").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            start = nanoseconds(units.duration(text, bare="s"))
        except BadValue as error:
            raise PlanError(f"{path}, line {number}: {error.message}", _TRACE_EXAMPLE) from None
        if starts and start < starts[-1]:
            raise PlanError(f"{path}, line {number}: {text} comes before the line above", "sort the starts")
        starts.append(start)
    if not starts:
        raise PlanError(f"{path} holds no starts", _TRACE_EXAMPLE)
    return starts

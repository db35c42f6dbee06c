"""Whether a contestant has the routes that a workload requests, checked before anything starts."""

from collections.abc import Iterator, Mapping

from jostle import roster
from jostle.contestant.contestant import Contestant
from jostle.errors import CannotServe
from jostle.plan import Workload
from jostle.plan.contestant import OPTIONAL_ROUTES
from jostle.plan.journey import Journey

__all__ = ["check_routes"]


def check_routes(
    contestant: Contestant, name: str, workload: Workload, journeys: Mapping[str, Journey]
) -> None:
    """Raise `CannotServe` if the workload `name` requests a route that the contestant does not have.

    These are the routes that its file declares absent and, for contestants that come with jostle, the
    optional ones that it does not declare. What a script requests is not known.
    """
    absent = _absent(contestant)
    for path in _paths(workload, journeys):
        route = next((route for route in absent if _is_of(path, route)), None)
        if route is not None:
            because = f": {absent[route]}" if absent[route] else ""
            raise CannotServe(
                f"{contestant.label} has no {route}, which workload {name} asks for{because}",
                "leave out the contestant, or choose other workloads (--workloads)",
            )


def _absent(contestant: Contestant) -> dict[str, str]:
    """Absent routes, with the reason; empty for a server that answers every request alike."""
    file = contestant.file
    if "/" in file.absent:
        return {}
    declared = {route: why for route, why in file.absent.items() if route.startswith("/")}
    if contestant.name not in roster.names():
        return declared
    return {route: "" for route in OPTIONAL_ROUTES if route not in file.also} | declared


def _is_of(path: str, route: str) -> bool:
    path = path.partition("?")[0]
    return path == route or path.startswith(f"{route}/")


def _paths(workload: Workload, journeys: Mapping[str, Journey]) -> Iterator[str]:
    asked = [*workload.request, *([workload.background] if workload.background else [])]
    yield from (request.path for request in asked)
    yield from (step.path for name in workload.journeys for step in journeys[name].requests)

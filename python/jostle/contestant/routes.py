"""Whether a contestant has the routes that a workload requests, and takes the numbers in their paths, checked
before anything starts.
"""

import re
from collections.abc import Iterator, Mapping

from jostle import roster
from jostle.contestant.contestant import Contestant
from jostle.errors import CannotServe, PlanError
from jostle.plan import Workload
from jostle.plan.journeys.journey import Journey
from jostle.plan.requests.request import Call
from jostle.plan.servers.contestant import OPTIONAL_ROUTES

__all__ = ["MAX_NUMBERS", "check_routes"]

MAX_NUMBERS = {"/count": 10**10, "/fast": 10**6, "/slow": 60, "/fibs": 60, "/pair": 60, "/spawn": 10**6}
"""The largest number in a path of these routes; contestants answer others with 400."""


def check_routes(
    contestant: Contestant, name: str, workload: Workload, journeys: Mapping[str, Journey]
) -> None:
    """Raise `CannotServe` if the workload `name` requests a route that the contestant does not have.

    These are the routes that its file declares absent and, for contestants that come with jostle, the
    optional ones that it does not declare. What a script requests is not known. Raises `PlanError` for a path
    with a number that no contestant takes.
    """
    absent = _absent(contestant)
    for request in _requests(workload, journeys):
        if (
            contestant.name in roster.names()
            and "/" not in contestant.file.absent
            and 400 not in request.expect.status
        ):
            _check_numbers(name, request.path)
        route = next((route for route in absent if _is_of(request.path, route)), None)
        if route is not None:
            because = f": {absent[route]}" if absent[route] else ""
            raise CannotServe(
                f"{contestant.label} has no {route}, which workload {name} asks for{because}",
                "leave out the contestant, or choose other workloads (--workloads)",
            )


def _check_numbers(name: str, path: str) -> None:
    start, *numbers = path.partition("?")[0].removeprefix("/").split("/")
    if (max_number := MAX_NUMBERS.get(f"/{start}")) is None:
        return
    digits = len(str(max_number))
    for number in numbers:
        if "{" in number:  # filled in for each request
            continue
        if not re.fullmatch(rf"[0-9]{{1,{digits}}}", number) or int(number) > max_number:
            raise PlanError(
                f"workload {name} asks for {path}, but {number} is not a number from 0 to {max_number:,}",
                "change the path, or the parameter in it (--set)",
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


def _requests(workload: Workload, journeys: Mapping[str, Journey]) -> Iterator[Call]:
    yield from workload.request
    if workload.background:
        yield workload.background
    for name in workload.journeys:
        yield from journeys[name].requests

"""Whether a contestant can serve a workload at all, checked before anything starts."""

from collections.abc import Mapping

from jostle.contestant.connection_limit import check_connections
from jostle.contestant.contestant import Contestant
from jostle.contestant.protocols import check_protocol
from jostle.contestant.routes import check_routes
from jostle.plan import Workload
from jostle.plan.journeys.journey import Journey

__all__ = ["check_fit"]


def check_fit(contestant: Contestant, name: str, workload: Workload, journeys: Mapping[str, Journey]) -> None:
    """Raise `CannotServe` if it does not speak the protocol of the workload `name`, lacks one of its routes,
    or cannot hold its connections.
    """
    check_protocol(contestant, f"workload.{name}", workload.protocol(journeys))
    check_routes(contestant, name, workload, journeys)
    check_connections(contestant, workload.min_connections(journeys))

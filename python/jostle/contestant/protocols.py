"""Whether a contestant speaks what it will be asked in: known before anything starts."""

from jostle import roster
from jostle.contestant.contestant import Contestant
from jostle.errors import CannotServe
from jostle.formatting import listed
from jostle.plan.connection import Protocol

__all__ = ["check_protocol", "speaks_grpc_alone"]


def speaks_grpc_alone(contestant: Contestant) -> bool:
    """It is asked for the calls of roster/shared/grpc/echo.proto, where others are asked for routes."""
    return contestant.file.speaks == ["gRPC"]


def check_protocol(contestant: Contestant, what: str, protocol: Protocol | None) -> None:
    """Raises `CannotServe` where it does not speak it, with those of the roster that do.

    `what`: what is sent in the protocol, as a message calls it. Of a server that does not say what it speaks
    nothing is known: it is let pass.
    """
    speaks = contestant.file.speaks
    if protocol is None or not speaks or protocol in speaks:
        return
    others = [name for name in roster.names() if protocol in roster.load(name)[0].speaks]
    raise CannotServe(
        f"{what} is in {protocol}, and {contestant.label} speaks {listed(speaks)}",
        f"these speak {protocol}: {', '.join(others)}",
    )

"""Whether a contestant speaks the protocol that is needed, checked before anything starts."""

from jostle import roster
from jostle.contestant.contestant import Contestant
from jostle.errors import CannotServe
from jostle.formatting import listed
from jostle.plan.connection import Protocol

__all__ = ["EXPLAIN", "check_explained", "check_protocol"]

EXPLAIN = "what explain asks"


def check_protocol(contestant: Contestant, what: str, protocol: Protocol | None) -> None:
    """Raise `CannotServe` if it does not speak the protocol, naming the contestants of the roster that do.

    `what`: what is sent in the protocol, as messages call it. A server that does not say what it speaks
    passes.
    """
    speaks = contestant.file.speaks
    if protocol is None or not speaks or protocol in speaks:
        return
    others = [name for name in roster.names() if protocol in roster.load(name)[0].speaks]
    raise CannotServe(
        f"{what} is in {protocol}, and {contestant.label} speaks {listed(speaks)}",
        f"these speak {protocol}: {', '.join(others)}",
    )


def check_explained(contestant: Contestant, *, http2: bool = False) -> Protocol:
    """The protocol in which `jostle explain` sends: gRPC if the contestant speaks nothing else.

    Raises `CannotServe`.
    """
    alone: Protocol = "gRPC" if contestant.file.speaks == ["gRPC"] else "HTTP/1.1"
    protocol: Protocol = "HTTP/2" if http2 else alone
    check_protocol(contestant, EXPLAIN, protocol)
    return protocol

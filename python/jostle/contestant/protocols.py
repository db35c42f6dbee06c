"""Whether a contestant speaks what it will be asked in: known before anything starts."""

from jostle import roster
from jostle.contestant.contestant import Contestant
from jostle.errors import CannotServe
from jostle.formatting import listed
from jostle.plan.connection import Protocol

__all__ = ["EXPLAIN", "check_explained", "check_protocol"]

EXPLAIN = "what explain asks"


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


def check_explained(contestant: Contestant, *, http2: bool = False) -> Protocol:
    """The protocol that `jostle explain` asks it in: gRPC where it speaks nothing else.

    Raises `CannotServe`.
    """
    alone: Protocol = "gRPC" if contestant.file.speaks == ["gRPC"] else "HTTP/1.1"
    protocol: Protocol = "HTTP/2" if http2 else alone
    check_protocol(contestant, EXPLAIN, protocol)
    return protocol

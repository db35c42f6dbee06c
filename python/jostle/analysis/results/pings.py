"""Pings that clients send over their WebSockets."""

from dataclasses import dataclass

from jostle.analysis.results.estimate import Estimate

__all__ = ["PingResult"]


@dataclass(frozen=True)
class PingResult:
    """The pings of one workload on one contestant, over all rounds."""

    contestant: str
    workload: str
    sent: int
    answered: int
    unanswered: int  # no pong within the interval: the client gave its socket up
    round_trip: dict[str, Estimate]  # from when a ping was due to its pong; those without one lie beyond

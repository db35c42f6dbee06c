"""How much explain may ask of a server, and how much it has asked."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["GENTLE", "THOROUGH", "Budget", "Limits", "NoTime"]


@dataclass(frozen=True)
class Limits:
    """Limits that the probes never exceed.

    `rate_per_s`: requests per second, on average since the beginning. `connections`: how many may be open at
    once. `seconds`: total time, of which every probe gets a share. `stream_rate_per_s`: rate of the light
    stream.
    """

    name: str
    rate_per_s: float
    connections: int
    stream_rate_per_s: float
    seconds: float = 180.0

    @property
    def stated(self) -> str:
        """The limits in words, as they are announced before anything is sent."""
        return (
            f"at most {self.connections} connections at once, {self.rate_per_s:g} requests/s on average and "
            f"{self.seconds:g} s"
        )


GENTLE = Limits("gentle", rate_per_s=50.0, connections=16, stream_rate_per_s=50.0)
"""For a server that jostle did not start: others may be using it."""

THOROUGH = Limits("thorough", rate_per_s=1000.0, connections=64, stream_rate_per_s=200.0)
"""For a server that jostle started, which nobody else uses."""


class NoTime(Exception):
    """The time of the present stage is over, or what is to be sent does not fit into it."""


@dataclass
class Budget:
    """The time that is left, and what has been spent so far. `now`: a clock in seconds.

    The time is divided into stages. What one stage leaves is shared by those that follow.
    """

    limits: Limits
    now: Callable[[], float] = time.monotonic
    requests: int = 0
    connections: int = 0
    requests_before: int = 0
    slower_since_s: float = 0.0
    rate_per_s: float = field(init=False)
    """How many requests per second may be sent: that of the limits, or less if the server refuses more."""

    began: float = field(init=False)
    until_s: float = field(init=False)
    """When the present stage ends, in seconds since the beginning."""

    def __post_init__(self) -> None:
        self.began = self.now()
        self.rate_per_s = self.limits.rate_per_s
        self.until_s = self.limits.seconds

    @property
    def spent_s(self) -> float:
        return self.now() - self.began

    @property
    def left_s(self) -> float:
        """What is left of the present stage."""
        return max(0.0, self.until_s - self.spent_s)

    def begin(self, share: float) -> None:
        """Begin a stage with this share of all the time that is left."""
        self.until_s = self.spent_s + share * max(0.0, self.limits.seconds - self.spent_s)

    def need(self, seconds: float) -> None:
        """Raise `NoTime` unless so much is left of the stage."""
        if seconds > self.left_s:
            raise NoTime

    def sent(self, requests: int, connections: int) -> None:
        """Record what a probe sent, and how many connections it had open at once."""
        self.requests += requests
        self.connections = max(self.connections, connections)

    @property
    def rest_s(self) -> float:
        """How long nothing may be sent, so that no more than the allowed rate was sent on average."""
        requests, since_s = self.requests - self.requests_before, self.spent_s - self.slower_since_s
        return max(0.0, requests / self.rate_per_s - since_s)

    def slow_down(self, rate_per_s: float) -> None:
        """From now on send no more than this many requests per second."""
        self.rate_per_s = rate_per_s
        self.requests_before, self.slower_since_s = self.requests, self.spent_s

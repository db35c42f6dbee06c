"""The interface between the driver and whatever carries its calls to generators: place, call, read files.

Ray is one implementation (`jostle.generator.cluster.ray`); the driver's benchmark has another, with two
hundred generators.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["UP_S", "Call", "Gone", "Node", "Remote", "Transport", "Unavailable"]

UP_S = 60.0
"""How long a generator may take to get ready."""

Call = Any
"""A call that has been sent and may not have been answered yet."""


class Unavailable(Exception):
    """There is no response now; asking again may help."""


class Gone(Exception):
    """The generator has ended and will never answer."""


@dataclass(frozen=True)
class Node:
    """A machine that can generate load. Its `key` changes if it comes back after it was given up."""

    address: str
    key: str


class Remote(Protocol):
    """A generator on a node; its methods are those of `jostle.generator.cluster.agent.Agent`."""

    node: Node

    def call(self, method: str, *arguments: Any) -> Call:
        """Send the call without waiting for the response."""


class Transport(Protocol):
    """Places generators on nodes and calls them."""

    def nodes(self) -> Sequence[Node]:
        """The nodes that can generate load now, sorted by address."""

    def place(self, node: Node) -> Remote:
        """Place a new generator on the node. If it does not start, its responses say so."""

    def wait(self, calls: Sequence[Call], timeout_s: float) -> Sequence[Call]:
        """Wait until at least one call is answered or the time is up. Returns those that are answered."""

    def response(self, call: Call, timeout_s: float | None = None) -> Any:
        """The response to a call. Raises `Unavailable`, `Gone`, or a `JostleError` of the generator."""

    def read(self, node: Node, log: str, offset: int) -> Iterator[bytes]:
        """Read a log on the node, without its generator. Raises `Unavailable`, `Gone`."""

    def forget(self, node: Node, log: str) -> None:
        """Remove a log on the node that is no longer needed."""

    def end(self, remote: Remote) -> None:
        """End a generator that is no longer needed."""

    def head_is_gone(self) -> bool:
        """Whether nothing has been heard of the head for some seconds, so that the run cannot continue."""

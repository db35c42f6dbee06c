"""The seam between the driver and whatever carries its calls to generators: place, call, and read files.

Ray is one implementation (`jostle.generator.cluster.ray`); the driver's benchmark has another
one, with two hundred generators.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["UP_S", "Call", "Gone", "Node", "Remote", "Transport", "Unavailable"]

UP_S = 60.0
"""How long a generator may take to come up."""

Call = Any
"""A call that is on its way."""


class Unavailable(Exception):
    """No answer now; asking again may help."""


class Gone(Exception):
    """The generator has ended and will never answer."""


@dataclass(frozen=True)
class Node:
    """A machine that can generate load. `key` changes when it comes back after it was given up."""

    address: str
    key: str


class Remote(Protocol):
    """A generator on a node; its methods are those of `jostle.generator.cluster.agent.Agent`."""

    node: Node

    def call(self, method: str, *arguments: Any) -> Call:
        """Send the call, and do not wait for the answer."""


class Transport(Protocol):
    """Places generators on nodes and calls them."""

    def nodes(self) -> Sequence[Node]:
        """Those that can generate now, by address."""

    def place(self, node: Node) -> Remote:
        """A new generator there. It may turn out not to come up: its answers say so."""

    def wait(self, calls: Sequence[Call], timeout_s: float) -> Sequence[Call]:
        """Those that are answered, as soon as there is one or the time is up."""

    def answer(self, call: Call, timeout_s: float | None = None) -> Any:
        """What was answered. Raises `Unavailable`, `Gone`, and a `JostleError` of the generator."""

    def read(self, node: Node, log: str, offset: int) -> Iterator[bytes]:
        """A log on that node, without its generator. Raises `Unavailable`, `Gone`."""

    def forget(self, node: Node, log: str) -> None:
        """Remove a log there that nobody needs any more."""

    def end(self, remote: Remote) -> None:
        """The generator is not needed any more."""

    def head_is_gone(self) -> bool:
        """Nobody has heard of the head for some seconds: the run cannot go on."""

"""The transport over Ray: actors pinned to nodes. No other file uses Ray.

The agent's class is sent by name, since every node has jostle installed; plans carry only data.
"""

import contextlib
import ipaddress
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from jostle.errors import ClusterRefused, JostleError
from jostle.extras import require
from jostle.generator.cluster.agent import Agent
from jostle.generator.cluster.credentials import Credentials
from jostle.generator.cluster.node import RESOURCE
from jostle.generator.cluster.spool import forget_log, read_log
from jostle.generator.cluster.transport import Call, Gone, Node, Remote, Unavailable
from jostle.plan.cluster import head_at
from jostle.text import reason

__all__ = ["RayTransport"]

HEAD_GONE_S = 5.0
RESPONSE_S = 10.0
SHARE_OF_NODE = 0.001
"""How much of the resource a generator takes: a node may hold several, if one takes over another's share."""


class RayTransport:
    """A connection to the cluster at `address`, which lasts until the process ends."""

    def __init__(self, address: str) -> None:
        """Raises a `ClusterRefused` that says why, and what to do."""
        os.environ.update(Credentials.find().environment())  # before Ray reads it
        import numpy  # noqa: F401  Before Ray's threads: it sets variables, and their getenv could crash.

        require("cluster", "a run on several machines")
        import ray

        self._ray: Any = ray
        self._head = head_at(address)
        self.here = _own_address(self._head)
        _knock(address, self._head)
        _connect(ray, address, self.here)
        self._seen = time.monotonic()
        threading.Thread(target=self._watch_head, name="head", daemon=True).start()

    def nodes(self) -> Sequence[Node]:
        found = [
            Node(node["NodeManagerAddress"], node["NodeID"])
            for node in self._ray.nodes()
            if node["Alive"] and node["Resources"].get(RESOURCE)
        ]
        return sorted(found, key=lambda node: ipaddress.ip_address(node.address).packed)

    def place(self, node: Node) -> "_Actor":
        actor = self._ray.remote(Agent).options(
            **self._pinned(node), max_restarts=0, max_task_retries=0, max_concurrency=8
        )
        return _Actor(node, actor.remote())

    def wait(self, calls: Sequence[Call], timeout_s: float) -> Sequence[Call]:
        if not calls:
            time.sleep(timeout_s)
            return []
        ready: list[Call] = self._ray.wait(list(calls), num_returns=1, timeout=timeout_s)[0]
        if ready:  # and all others that have been answered by now
            ready = self._ray.wait(list(calls), num_returns=len(calls), timeout=0)[0]
        return ready

    def response(self, call: Call, timeout_s: float | None = RESPONSE_S) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(call, timeout=timeout_s)
        except (errors.ActorUnavailableError, errors.GetTimeoutError) as error:
            raise Unavailable(str(error)) from None
        except errors.RayActorError as error:
            raise Gone(_last_line(error)) from None
        except errors.RayTaskError as error:
            if isinstance(error.cause, JostleError):
                raise error.cause from None
            raise Gone(_last_line(error)) from None
        except errors.RayError as error:
            raise Unavailable(str(error)) from None

    def read(self, node: Node, log: str, offset: int) -> Iterator[bytes]:
        task = self._ray.remote(num_returns="streaming")(read_log)
        pieces = task.options(**self._pinned(node), _generator_backpressure_num_objects=4).remote(log, offset)
        while True:
            try:
                piece = pieces._next_sync(timeout_s=RESPONSE_S)
            except StopIteration:
                return
            if piece.is_nil():
                raise Unavailable(f"{node.address} gave nothing for {RESPONSE_S:g} s")
            yield self.response(piece)

    def forget(self, node: Node, log: str) -> None:
        with contextlib.suppress(Unavailable, Gone):
            self.response(self._ray.remote(forget_log).options(**self._pinned(node)).remote(log))

    def end(self, remote: Remote) -> None:
        assert isinstance(remote, _Actor)
        with contextlib.suppress(Exception):  # its node may be gone
            self._ray.kill(remote.actor)

    def head_is_gone(self) -> bool:
        return time.monotonic() - self._seen > HEAD_GONE_S

    def _pinned(self, node: Node) -> dict[str, Any]:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return {
            "num_cpus": 0,
            "resources": {RESOURCE: SHARE_OF_NODE},
            "scheduling_strategy": NodeAffinitySchedulingStrategy(node.key, soft=False),
        }

    def _watch_head(self) -> None:
        """Watch the head. Ray itself would end this process a minute after it, without a message."""
        while True:
            with contextlib.suppress(OSError), socket.create_connection(self._head, 1.0):
                self._seen = time.monotonic()
            time.sleep(1.0)


class _Actor:
    def __init__(self, node: Node, actor: Any) -> None:
        self.node = node
        self.actor = actor

    def call(self, method: str, *arguments: Any) -> Call:
        return getattr(self.actor, method).remote(*arguments)


def _own_address(head: tuple[str, int]) -> str:
    """The address of this machine that faces the head; nothing is sent."""
    try:
        family, *_, address = socket.getaddrinfo(*head, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(address)
            return str(probe.getsockname()[0])
    except OSError as error:
        raise ClusterRefused(f"cannot reach {head[0]}: {reason(error)}") from None


def _knock(address: str, head: tuple[str, int]) -> None:
    """Check that the head answers and lets us in. Ray itself would wait for a long time."""
    try:
        socket.create_connection(head, 5.0).close()
    except OSError as error:
        raise ClusterRefused(
            f"no cluster answers at {address}: {reason(error)}",
            "jostle cluster start on the head, then on the nodes: docs/CLUSTER.md",
        ) from None
    from ray import _raylet

    raylet: Any = _raylet

    try:
        raylet.GcsClient(address=address).get_all_node_info(timeout=5)
    except Exception as error:  # Ray's errors here have no common base
        raise ClusterRefused(
            f"the cluster at {address} does not let us in: {str(error).splitlines()[0]}",
            "do the head and this machine have the same token, and certificates from the same authority?",
        ) from None


def _connect(ray: Any, address: str, here: str) -> None:
    from ray._private import worker

    # Otherwise Ray prints messages about lost nodes into our output, whatever log_to_driver says.
    vars(worker)["print_to_stdstream"] = lambda *_, **__: None
    try:
        ray.init(
            address=address,
            _node_ip_address=here,
            log_to_driver=False,
            logging_level="ERROR",
            configure_logging=False,
        )
    except Exception as error:  # Ray's errors here have no common base
        says = " ".join(str(error).split())
        hint = "the driver must run on a node of the cluster: jostle cluster start on this machine too"
        if "ersion mismatch" in says:
            hint = "every node needs the same versions of Python, Ray and jostle: one image, or one lock file"
        raise ClusterRefused(f"cannot take part in the cluster at {address}: {says[:400]}", hint) from None


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__

"""Starts a node of the cluster: `ray start` with fixed ports, credentials, and only what jostle needs."""

import json
import os
import sys
from pathlib import Path

from jostle.errors import ClusterRefused
from jostle.extras import require
from jostle.generator.cluster.credentials import Credentials

__all__ = ["HEAD_PORT", "PORTS", "RESOURCE", "ray_command", "start_node", "stop_node"]

HEAD_PORT = 6379
"""The port on the head to which every node connects."""

WORKER_PORTS = (20000, 20099)

PORTS = {
    "node-manager-port": 20100,
    "object-manager-port": 20101,
    "dashboard-agent-listen-port": 20102,
    "dashboard-agent-grpc-port": 20103,
    "runtime-env-agent-port": 20104,
    "metrics-export-port": 20105,
    "min-worker-port": WORKER_PORTS[0],
    "max-worker-port": WORKER_PORTS[1],
}
"""The ports that must be open between all nodes, in both directions."""

RESOURCE = "jostle"
"""Nodes that have this resource generate load; the head need not have it."""

STORE_BYTES = 200_000_000


def ray_command(
    address: str, *, head: str | None, generate: bool, block: bool, starts: Path | None = None
) -> list[str]:
    """The arguments of `ray` that start the node with this address.

    `head`: "ADDRESS:PORT" of the head to join; None: be the head. `starts`: the file that `ray up` wrote on
    the head, with which the head starts the other nodes.
    """
    common = [
        f"--node-ip-address={address}",
        f"--object-store-memory={STORE_BYTES}",
        "--num-cpus=1",
        "--include-log-monitor=false",
        "--disable-usage-stats",
        *(f"--{name}={port}" for name, port in PORTS.items()),
    ]
    role = (
        ["--head", f"--port={HEAD_PORT}", "--include-dashboard=false"]
        if head is None
        else [f"--address={head}"]
    )
    resources = [f"--resources={json.dumps({RESOURCE: 1})}"] if generate else []
    others = [f"--autoscaling-config={starts}"] if starts is not None else []
    return ["start", *role, *common, *resources, *others, *(["--block"] if block else [])]


def start_node(
    address: str, *, head: str | None, generate: bool, block: bool, starts: Path | None = None
) -> None:
    """Replace this process by `ray start …`. Raises `ClusterRefused` without credentials or Ray."""
    if head is not None and starts is not None:
        raise ClusterRefused("a node that joins starts no others", "leave out --join or --autoscaling-config")
    environment = {**os.environ, **Credentials.find().environment()}
    ray = _ray()
    words = ray_command(address, head=head, generate=generate, block=block, starts=starts)
    os.execve(ray, [str(ray), *words], environment)


def stop_node() -> None:
    """Replace this process by `ray stop`. Raises `MissingExtra` without Ray."""
    ray = _ray()
    os.execv(ray, [str(ray), "stop"])


def _ray() -> Path:
    require("cluster", "a node of a cluster")
    return Path(sys.executable).with_name("ray")

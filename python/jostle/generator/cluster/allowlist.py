"""Where generators may send load, so that a mistaken plan cannot turn a cluster against someone's server."""

from collections.abc import Collection, Mapping
from typing import Any

from jostle.errors import StartRefused
from jostle.generator.files_and_ports import destinations_of
from jostle.host.loopback import host_of, is_loopback

__all__ = ["refuse_unlisted_targets"]


def refuse_unlisted_targets(spec: Mapping[str, Any], allowed: Collection[str]) -> None:
    """Raise `StartRefused` if a host that is not on loopback is not among `allowed`."""
    for workload in spec["workloads"]:
        hosts = map(host_of, destinations_of(workload["target"]))
        for host in (*hosts, *(workload.get("redirects") or {"hosts": ()})["hosts"]):
            if not is_loopback(host) and host not in allowed:
                raise StartRefused(
                    f"the cluster is not allowed to load {host}",
                    f"if it is yours, add --allow-target {host}, or in the plan: "
                    f'[cluster] allow-targets = ["{host}"]',
                )

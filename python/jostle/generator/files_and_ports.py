"""Whether this machine has room for the load: open files per process, and ports per pair of addresses.

Both are checked before anything starts, so that nobody waits for a run that cannot work.
"""

import ipaddress
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from jostle.errors import PlanError, StartRefused
from jostle.generator.spec.journeys import connections_of_a_client
from jostle.host.limits import (
    RESERVED_FILES,
    RESERVED_PORTS,
    connections_within,
    free_local_ports,
    open_files,
)
from jostle.host.loopback import host_of, is_loopback
from jostle.units import format_count

__all__ = [
    "connections_of",
    "destinations_of",
    "generator_processes",
    "local_ports",
    "processes_for",
    "with_sources",
]

MIN_PORTS = 2
"""With fewer local ports no load can be sent."""

MAX_ADDRESSES = 1000
"""Their ports are enough for all connections of a minute, after which those of closed ones are free again."""

PROCESSES_PER_CORE = 4
"""The most generator processes per core that are started unless the plan asks for more."""


def generator_processes(spec: Mapping[str, Any], wanted: int | None) -> int:
    """The number of generator processes: `wanted`, or what the connections need. Raises `StartRefused`."""
    return processes_for(sum(map(connections_of, spec["workloads"])), open_files().hard, wanted)


def connections_of(workload: Mapping[str, Any]) -> int:
    """The most connections it can have at once. A redirect or URL may lead each client to another host."""
    load = workload["load"]
    clients = int(load["closed"]["clients"] if "closed" in load else load["open"]["max_connections"])
    clients *= connections_of_a_client(workload)
    shared = (workload["target"].get("http2") or {}).get("connections")
    connections = clients if shared is None else min(clients, shared)
    return connections + clients if workload.get("redirects") else connections


def _connections_in_all(workload: Mapping[str, Any]) -> int:
    """Connections made over the whole run, if the number of requests tells; at least those open at once."""
    load = next(iter(workload["load"].values()))
    each, requests = load.get("requests_per_connection"), load.get("requests")
    made = math.ceil(requests / each) if each and requests else 0
    return max(made, connections_of(workload))


def processes_for(
    connections: int, files: int | None, wanted: int | None = None, cores: int = os.cpu_count() or 1
) -> int:
    """Generator processes for `connections`, if a process may have `files` open files (None: unlimited).

    Raises `StartRefused` if the `wanted` processes cannot hold them, or if so many processes are needed that
    the number of connections is probably a mistake.
    """
    if files is None:
        return wanted or 1
    room = connections_within(files)
    if room < 1:
        raise StartRefused(
            f"a process may have {format_count(files)} open files here, too few for any load",
            f"raise the limit to {connections + RESERVED_FILES} or more: ulimit -Hn",
        )
    needed = max(1, math.ceil(connections / room))
    if wanted is None and needed > cores * PROCESSES_PER_CORE:
        raise StartRefused(
            f"{format_count(connections)} connections at once need {needed} generator processes of "
            f"{format_count(files)} open files: more than {PROCESSES_PER_CORE} for each of {cores} cores",
            f"if that is intended, write processes = {needed} (--processes {needed})",
        )
    if wanted is not None and wanted < needed:
        raise StartRefused(
            f"{format_count(connections)} connections at once need {needed} generator processes: each may "
            f"have {format_count(files)} open files, {RESERVED_FILES} of them for itself; the plan has "
            f"{wanted}",
            f"write processes = {needed} (--processes {needed}) or leave it out, or raise the limit to "
            f"{math.ceil(connections / wanted) + RESERVED_FILES}: ulimit -Hn",
        )
    return wanted or needed


def local_ports() -> int:
    """How many connections one local address can have to one remote address and port."""
    free = free_local_ports()
    return max(free - RESERVED_PORTS, free // 2)


def with_sources(spec: Mapping[str, Any], ports: int | None = None) -> dict[str, Any]:
    """The specification with as many local addresses as its connections need.

    Each address has `ports` ports to each destination; None: as many as this machine has. On loopback every
    address 127.0.0.x is ours, so enough are taken for all connections of the whole run: a closed one may keep
    its port for a minute (TIME_WAIT). Elsewhere the given addresses must suffice for those that are open at
    once; otherwise raises `StartRefused` with the number needed. Raises `PlanError` for a given address that
    no connection could come from.
    """
    ports = local_ports() if ports is None else ports
    at_once, in_all = Counter[str](), Counter[str]()
    for workload in spec["workloads"]:
        # Workloads of one run go to the same destinations, and share their ports.
        key = repr(destinations_of(workload["target"]))
        at_once[key] += connections_of(workload)
        in_all[key] += _connections_in_all(workload)
    workloads = []
    for workload in spec["workloads"]:
        destinations = destinations_of(workload["target"])
        if destinations:
            _refuse_without_ports(ports)
            _refuse_unused_sources(workload["target"]["source_addresses"], destinations)
            key = repr(destinations)
            each = [math.ceil(total[key] / len(destinations)) for total in (at_once, in_all)]
            target = _with_room(workload["target"], destinations, each[0], each[1], ports)
            workload = {**workload, "target": target}
        workloads.append(workload)
    return {**spec, "workloads": workloads}


def _refuse_without_ports(ports: int) -> None:
    if ports < MIN_PORTS:
        raise StartRefused(
            "this machine has no local ports for connections: all but a few of net.ipv4.ip_local_port_range "
            "are set aside (ip_local_reserved_ports), or the range is empty",
            "widen it: sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'",
        )


def _refuse_unused_sources(sources: Iterable[str], destinations: Iterable[str]) -> None:
    """Refuse an IPv6 address if all destinations are IPv4, and the reverse; a name may lead to both."""
    versions = {_ip_version(host_of(place)) for place in destinations}
    for source in sources:
        if versions.isdisjoint({None, _ip_version(source)}):
            raise PlanError(
                f"no connection can come from {source}: all go over IPv{versions.pop()}, to "
                f"{', '.join(destinations)}",
                "give source addresses of that kind (connection.source-addresses, --source-address)",
            )


def _ip_version(host: str) -> int | None:
    """4 or 6; None for a name."""
    try:
        return ipaddress.ip_address(host).version
    except ValueError:
        return None


def _with_room(
    target: Mapping[str, Any], destinations: list[str], each: int, made: int, ports: int
) -> Mapping[str, Any]:
    """The target with addresses for `each` connections at once to every destination, and `made` in total."""
    needed = math.ceil(each / ports)
    given = target["source_addresses"]
    if all(map(_has_many_addresses, destinations)):
        # The kernel hands out ports of one parity first. Once these are used up, it searches all of them for
        # every further connection, which takes some hundred microseconds. More addresses cost nothing.
        wanted = needed if given else max(needed, min(MAX_ADDRESSES, math.ceil(made / (ports // 2))))
        if wanted > max(1, len(given)):
            first = ipaddress.IPv4Address("127.0.0.1")
            return {**target, "source_addresses": [str(first + n) for n in range(wanted)]}
    elif needed > max(1, len(given)):
        raise StartRefused(
            f"this many connections to {', '.join(destinations)} need {needed} local addresses: each has "
            f"{format_count(ports)} ports to one address and port",
            f"give connection.source-addresses with {needed} addresses of this machine, or more places in "
            "connection.connect-to, or widen net.ipv4.ip_local_port_range",
        )
    return target


def destinations_of(target: Mapping[str, Any]) -> list[str]:
    """HOST:PORT of every destination of its connections, without unix sockets, which need no ports."""
    to = target["connect_to"] or [f"{target['host']}:{target['port']}"]
    return sorted({place for place in to if not place.startswith("unix:")})


def _has_many_addresses(place: str) -> bool:
    """Whether HOST:PORT can be reached from every 127.0.0.x; over IPv6, loopback has one address, ::1."""
    host = host_of(place)
    return is_loopback(host) and ":" not in host

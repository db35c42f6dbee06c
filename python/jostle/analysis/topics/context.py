"""What this run used, one fact per line, to be shown beside what an article used."""

from collections.abc import Mapping, Sequence
from typing import Any

from jostle.analysis.trials.data import TrialData
from jostle.host.loopback import host_of, is_loopback
from jostle.units import format_bytes

__all__ = ["on_loopback", "used_here"]


def used_here(
    data: Sequence[TrialData], parameters: Mapping[str, int | float | str], host: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Pairs of fact and value, from the records alone."""
    found = [
        ("servers", "; ".join(dict.fromkeys(_server(f) for f in data))),
        ("machine", _machine(host)),
        ("cores", "; ".join(dict.fromkeys(_cores(f) for f in data))),
        ("network", "; ".join(dict.fromkeys(_network(f) for f in data))),
        ("rounds", str(len({f.trial.round for f in data}))),
        ("parameters", ", ".join(f"{key} {value}" for key, value in parameters.items())),
        ("measured by", f"jostle {host.get('jostle', '')}".rstrip()),
    ]
    return [(fact, value) for fact, value in found if value]


def _server(data: TrialData) -> str:
    server = data.trial.server
    version = " ".join(str(server.get(key) or "") for key in ("runtime", "version")).strip()
    label = str(server.get("label", data.trial.contestant))
    return f"{label} ({version})" if version else label


def _machine(host: Mapping[str, Any]) -> str:
    memory = host.get("memory_bytes")
    parts = [
        str(host.get("cpu_model", "")),
        f"{host['cores']} cores" if host.get("cores") else "",
        f"{format_bytes(memory)} of memory" if isinstance(memory, int | float) else "",
        str(host.get("distribution", "")),
        str(host.get("kernel", "")),
    ]
    return ", ".join(part for part in parts if part)


def _cores(data: TrialData) -> str:
    placement = data.trial.description.get("placement")
    if placement is None:
        return ""
    if placement["shared"] is None:
        return "where its owner put the server"
    if placement["shared"]:
        return "server and generator on the same cores"
    servers, generators = placement["server_cores"], placement["generator_cores"]
    cores = f"{_count(len(servers))} for the server, {_count(len(generators))} for the generator"
    return f"{cores}, which polled instead of sleeping" if data.busy_poll else cores


def _count(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"


def _network(data: TrialData) -> str:
    inside = on_loopback(data)
    return "" if inside is None else "loopback" if inside else "a network"


def on_loopback(data: TrialData) -> bool | None:
    """Whether the load goes over loopback, to a server on this machine; None if that is not known."""
    target = data.workload().get("target") or {}
    if places := target.get("connect_to"):
        return all(place.startswith("unix:") or is_loopback(host_of(place)) for place in places)
    return is_loopback(host) if (host := target.get("host")) else None

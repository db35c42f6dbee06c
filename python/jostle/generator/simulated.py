"""Load and server are both calculated: intervals come from `crates/simulator` instead of a measurement."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle._engine import Simulation
from jostle.errors import StartRefused, SteerRefused
from jostle.generator.api import Generator, Lost, Running, Steered
from jostle.generator.spec.load import think_spec
from jostle.plan.change import Change
from jostle.plan.servers.simulated import SHARED, Simulated
from jostle.plan.values import Think

if TYPE_CHECKING:
    from jostle._engine import Interval

__all__ = ["SimulatedExecutor"]

DEFAULT_SLICE_S = 0.01


class SimulatedExecutor:
    """Simulates trials. `servers`: the simulated servers, by the host that a trial's specification names."""

    here = "127.0.0.1"

    def __init__(self, servers: Mapping[str, Simulated]) -> None:
        self._servers = servers

    def prepare(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        if any(workload.get("journeys") for workload in spec["workloads"]):
            raise StartRefused(
                "journeys are not simulated: a calculated server has no responses to take values from",
                "leave them out, or measure a real server",
            )
        return {**spec, "busy_poll": False}

    def start(self, spec: Mapping[str, Any]) -> Running:
        server = self._servers[spec["workloads"][0]["target"]["host"]]
        try:
            return _Simulating(Simulation(json.dumps(spec), json.dumps(server_spec(server, spec))))
        except ValueError as error:
            raise StartRefused(str(error)) from None


def server_spec(server: Simulated, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The `ServerSpec` of `crates/simulator/src/spec.rs`: the discipline, and every request's service."""
    return {
        "discipline": _discipline(server),
        "services": [
            [_service(server, request["name"]) for request in workload["requests"]]
            for workload in spec["workloads"]
        ],
    }


def _discipline(server: Simulated) -> Any:
    if server.discipline == "gated-lifo":
        return server.discipline
    settings: dict[str, int] = (
        {"cores": server.cores or 1} if server.discipline in SHARED else {"workers": server.workers or 1}
    )
    if server.discipline == "round-robin":
        settings["slice_ns"] = round((server.slice or DEFAULT_SLICE_S) * 1e9)
    return {server.discipline: settings}


def _service(server: Simulated, request: str) -> dict[str, Any]:
    time = server.services.get(request, server.service)
    return {"time": _time(time), "waits": request in server.waits}


def _time(service: Think) -> Any:
    drawn = think_spec(service)
    # Think times of a list are taken in turn; measured service times are drawn at random.
    return {"measured": drawn["list"]} if isinstance(drawn, dict) and "list" in drawn else drawn


class _Simulating:
    lost: Sequence[Lost] = ()

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._stopped = False
        self.started_unix_ns = time.time_ns()
        self.generators = [Generator(1, 1, os.getpid(), self.started_unix_ns)]

    def next_interval(self, timeout_s: float) -> "Interval | None":  # noqa: ARG002 (it is calculated, not awaited)
        interval = self._simulation.next_interval()
        if interval is not None and self._stopped:
            interval["last"] = True
        return interval

    def steer(self, workload: int, change: Change, at_ns: int | None = None) -> Steered:  # noqa: ARG002
        raise SteerRefused(
            "the server is simulated, and its load is calculated at once: it cannot be steered",
            "write the change into the plan, as rates or phases",
        )

    def stop(self) -> None:
        """Make the next interval the last."""
        self._stopped = True

    def save_logs_to(self, folder: Path) -> None:
        """Nothing to do: everything is in the record of the trial."""

    def pull(self) -> None:
        """Nothing to do: all intervals have been returned."""

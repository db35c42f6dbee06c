"""The specification of one run of a workload: its load, and the background, if any."""

from collections.abc import Mapping, Sequence
from typing import Any

from jostle.generator.spec.address import Address
from jostle.generator.spec.grpc import Schemas
from jostle.generator.spec.journeys import connections_of_a_client, engine_journeys
from jostle.generator.spec.load import load_spec, think_spec
from jostle.generator.spec.request import request_spec
from jostle.generator.spec.target import redirects_spec, target_spec
from jostle.generator.spec.values import nanoseconds
from jostle.plan.journeys.journey import Journey
from jostle.plan.requests.request import Call
from jostle.plan.workload import Workload

__all__ = ["engine_spec", "interval_ns"]


def engine_spec(
    name: str,
    workload: Workload,
    address: Address,
    *,
    seed: int = 0,
    threads: int = 1,
    cores: Sequence[int] = (),
    real_time: bool = False,
    busy_poll: bool | None = False,
    allowed_hosts: Sequence[str] = (),
    journeys: Mapping[str, Journey] = {},
    reflect: bool = False,
) -> dict[str, Any]:
    """The specification of one run of a workload: the measured load first, then the background, if any.

    `allowed_hosts`: hosts to which redirects and URLs may lead, besides the server itself. `journeys`: those
    of the plan. `busy_poll`: None leaves it to the executor, which knows how many threads there will be.
    `reflect`: the server is running, and can be asked for its gRPC services. Files that the workload names
    are read here. Raises `PlanError` for a file that is missing.
    """
    target = target_spec(workload.connection, address)
    if workload.has_calls(journeys):
        target["http2"] = target["http2"] or {"connections": None}

    schemas = Schemas(target if reflect else None)

    def spec_of(request: Call) -> dict[str, Any]:
        return request_spec(request, address, schemas)

    timeouts = {
        "connect_ns": nanoseconds(workload.connect_timeout),
        "first_byte_ns": nanoseconds(workload.first_byte_timeout) if workload.first_byte_timeout else None,
        "total_ns": nanoseconds(workload.timeout),
    }
    redirects = redirects_spec(workload.redirects, address.host, allowed_hosts)
    followed = {"redirects": redirects if workload.redirects is not None else None}
    measured: dict[str, Any] = {
        "name": name,
        "role": "measured",
        "target": target,
        "requests": [spec_of(request) for request in workload.request],
        "order": workload.order,
        "load": load_spec(workload.load),
        "timeouts": timeouts,
        "body_limit": workload.body_limit,
        **followed,
    }
    if workload.journeys:
        measured |= engine_journeys(
            workload.journeys,
            journeys,
            request=spec_of,
            think=think_spec,
            redirects=redirects,
            http2=target["http2"] is not None,
        )
        _bound_by_feeds(measured)
        _share_connections(measured)
    workloads = [measured]
    if workload.background is not None:
        background = {
            "name": "background",
            "role": "background",
            "requests": [spec_of(workload.background)],
            **followed,
        }
        common = {key: value for key, value in measured.items() if key not in ("journeys", "slots")}
        workloads.append(
            {**common, **background, "order": "weighted", "load": load_spec(workload.background.load)}
        )
    seconds = workload.seconds()
    return {
        "seed": seed,
        "threads": threads,
        "cores": list(cores),
        "real_time": real_time,
        "busy_poll": busy_poll,
        "duration_ns": nanoseconds(seconds) if seconds is not None else None,
        "interval_ns": interval_ns(seconds),
        "rows": workload.rows,
        "start_unix_ns": None,
        "workloads": workloads,
    }


def interval_ns(seconds: float | None) -> int:
    """The length of an interval: at most a second, and at least 40 intervals in a run of 4 s or more."""
    if seconds is None or seconds >= 60:
        return 1_000_000_000
    return 250_000_000 if seconds >= 10 else 100_000_000


def _bound_by_feeds(workload: dict[str, Any]) -> None:
    """Limit the arrivals of an open load to the rows of its feeds with `order = "once"`.

    Which journey an arrival begins is drawn when it arrives, so the shortest feed bounds all together.
    """
    feeds = [feed for journey in workload["journeys"] for feed in journey["feeds"] if feed["order"] == "once"]
    load = workload["load"].get("open")
    if load is not None and feeds:
        rows = min(feed["rows"]["count"] // len(feed["columns"]) for feed in feeds)
        load["requests"] = min(load["requests"] or rows, rows)


def _share_connections(workload: dict[str, Any]) -> None:
    """Divide an open load's limit, as each journey in progress may use as many connections as a client."""
    load = workload["load"].get("open")
    if load is not None:
        load["max_connections"] //= connections_of_a_client(workload)

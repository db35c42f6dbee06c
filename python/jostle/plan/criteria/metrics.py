"""The metrics that conditions, claims and published figures are about, each with its unit.

`jostle.analysis.metrics` says how each is measured.
"""

from jostle.quantiles import LEVELS, NAMED

__all__ = ["BLOCKING", "INDICES", "LESS_FREQUENT", "METRICS", "STARVATION", "base_unit_of"]

STARVATION, BLOCKING = "starvation index", "blocking index"
INDICES = (STARVATION, BLOCKING)
"""Metrics that compare workloads with and without slow requests."""

LESS_FREQUENT = ("p50", "p90", "p99")
"""Quantiles of journeys, messages and pings: there are fewer of them than of requests."""

METRICS: dict[str, str] = {
    "throughput": "/s",
    **dict.fromkeys(("min", *NAMED, "max", "mean"), "s"),
    **{f"service {q}": "s" for q in LEVELS},
    **{f"journey {q}": "s" for q in LESS_FREQUENT},
    **{f"round trip {q}": "s" for q in LESS_FREQUENT},
    **{f"ping {q}": "s" for q in LESS_FREQUENT},
    "spread": "ratio",
    "quartile spread": "ratio",
    "dispersion": "ratio",
    "goodput": "/s",
    "errors": "share",
    "unavailable": "share",
    "memory": "bytes",
    "server cpu": "s",
    "database cpu": "s",
    "memory per thread": "bytes",
    "virtual memory per thread": "bytes",
    "time per thread": "s",
    "clients held": "share",
    "sustained throughput": "/s",
    "time to headers": "s",
    "time to connect": "s",
    "time to read body": "s",
    "growth of headers": "ratio",
    "growth of their deviation": "ratio",
    "clients in time": "clients",
    "server cores": "cores",
    "memory per connection": "bytes",
    "bytes per request": "bytes",
    "bytes per response": "bytes",
    "garbage collection": "share",
    "streams in time": "share",
    "longest gap": "s",
    "change from run before": "ratio",
    "throughput left": "ratio",
    STARVATION: "",
    BLOCKING: "ratio",
}
"""Unit of each metric: "s" (response times count from the moment a request was due), "/s", "bytes",
"share" (of requests, of clients or of the time), "cores" in use, "clients", "ratio" (may exceed 1, as the
blocking index does where requests queue up), or "" for an index from 0 to 1.
"""


def base_unit_of(metric: str) -> str | None:
    """The base unit of a metric: "s", "/s", "bytes", or "" for plain numbers; None if it is unknown."""
    unit = METRICS.get(metric)
    return "" if unit in ("share", "ratio", "cores", "clients") else unit

"""The quantities that conditions, claims and published figures are about: each with its unit.

How each is measured stands in `jostle.analysis.metrics`.
"""

__all__ = ["INDICES", "METRICS", "base_unit_of"]

INDICES = ("starvation index", "blocking index")
"""Quantities of a comparison with and without slow requests."""

_TIMES = ("min", "p5", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "max", "mean")

METRICS: dict[str, str] = {
    "throughput": "/s",
    **dict.fromkeys(_TIMES, "s"),
    **{f"service {q}": "s" for q in ("p50", "p90", "p99", "p99.9")},
    **{f"journey {q}": "s" for q in ("p50", "p90", "p99")},
    **{f"round trip {q}": "s" for q in ("p50", "p90", "p99")},
    **{f"ping {q}": "s" for q in ("p50", "p90", "p99")},
    "spread": "ratio",
    "quartile spread": "ratio",
    "dispersion": "ratio",
    "goodput": "/s",
    "errors": "share",
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
    "growth of headers": "ratio",
    "growth of their deviation": "ratio",
    "clients in time": "clients",
    "server cores": "cores",
    "memory per connection": "bytes",
    "bytes per request": "bytes",
    "bytes per answer": "bytes",
    "garbage collection": "share",
    "streams in time": "share",
    "longest gap": "s",
    "change from run before": "ratio",
    "throughput left": "ratio",
    **dict.fromkeys(INDICES, ""),
}
"""Name → unit: "s" of response times from the moment a request was due, "/s", "bytes", "share" of requests,
of clients or of the time, "cores" in use, "clients", "ratio" that may be more than 1, "" for an index of 0
to 1.
"""


def base_unit_of(quantity: str) -> str | None:
    """ "s", "/s", "bytes", or "" of plain numbers; None for a quantity that is not known."""
    unit = METRICS.get(quantity)
    return "" if unit in ("share", "ratio", "cores", "clients") else unit

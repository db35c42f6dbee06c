"""The quantiles that have a name, in the one table that plans, the analysis and reports share."""

from collections.abc import Mapping

__all__ = ["COMPARED", "LEVELS", "NAMED"]

NAMED: Mapping[str, float] = {
    "p5": 0.05,
    "p25": 0.25,
    "p50": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p99.9": 0.999,
}
"""All that a plan, a condition or an SLO may name."""

LEVELS: Mapping[str, float] = {name: NAMED[name] for name in ("p50", "p90", "p95", "p99", "p99.9")}
"""Those that tables show."""

COMPARED: Mapping[str, float] = {name: NAMED[name] for name in ("p50", "p90", "p99", "p99.9")}
"""Those that comparisons judge: each more is another test, and what the p95 says is said by its
neighbours."""

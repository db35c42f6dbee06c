"""What a failed or notable check found, in three words at most: for one line that names several."""

from collections.abc import Mapping

__all__ = ["BRIEFLY"]

BRIEFLY: Mapping[str, str] = {
    "end": "did not end",
    "steered": "load was changed",
    "statuses": "mixed statuses",
    "same responses": "unlike responses",
    "errors": "requests failed",
    "outage": "server was away",
    "warm-up": "slow beginning",
    "invalid-if": "plan forbids it",
    "framing": "wrong framing",
    "addresses": "addresses passed over",
    "responses": "too few responses",
    "generator CPU": "generator at limit",
    "offered load": "load not offered",
    "lateness": "late generator",
    "wake-up": "generator slept",
    "Little's law": "time unaccounted for",
    "interactive law": "time unaccounted for",
    "cores": "shared cores",
    "background": "background failed",
    "arrivals": "bunched arrivals",
    "steady state": "not settled",
    "clock resolution": "coarse clock",
    "lost time": "time was lost",
    "machine": "busy machine",
    "generator core": "generator kept waiting",
    "quota": "CPU quota reached",
    "stopped": "server was stopped",
    "rounds": "two speeds",
    "steal": "stolen processor time",
    "wall clock": "clock was set",
    "open files": "no files left",
    "local ports": "no ports left",
    "memory limit": "no memory limit",
    "generators": "generator was lost",
    "accounts": "records still missing",
    "same view": "generators disagree",
    "start": "started apart",
    "record": "record has gaps",
}
"""By the name of the check."""

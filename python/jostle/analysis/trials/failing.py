"""What a closed loop's clients do while a server fails: they wait, so counting failures says little of it.

A client whose connection is refused pauses, for up to 1 s, and one whose request times out sends no other
meanwhile. So failures are few however long the server is away, and are measured as time, too. The requests
that an outage kept from being sent count as failed, as many as were answered at other times.
"""

import numpy as np

from jostle.analysis.stats.sample import Bools, Floats
from jostle.analysis.trials.counters import Counts
from jostle.analysis.trials.outage import Outage, away_s

__all__ = ["clients_s", "missed"]


def clients_s(counts: Counts) -> Floats:
    """The time of all clients, interval by interval; at the end of a trial all of them leave."""
    clients = counts.clients.astype(float)
    if len(clients) > 1:
        clients[-1] = max(clients[-1], clients[-2])
    return np.asarray(clients * (counts.end_ns - counts.start_ns) / 1e9)


def missed(counts: Counts, found: list[Outage], inside: Bools) -> int:
    """Requests that were not sent because the server was away, at the rate at which others were answered."""
    away, whole_s = away_s(found), float((counts.end_ns - counts.start_ns).sum()) / 1e9
    if not away or whole_s <= away:
        return 0
    due = float(counts.ok.sum()) / (whole_s - away) * away
    return max(0, round(due - float(counts.failed[inside].sum())))

"""Connection attempts that the kernel dropped because the server had not accepted those before them."""

from collections import Counter
from collections.abc import Sequence

from jostle.analysis.topics.context import on_loopback
from jostle.analysis.trials.data import TrialData
from jostle.formatting import plural, tallied

__all__ = ["backlog_note"]


def backlog_note(trials: Sequence[TrialData]) -> str:
    """How often, on which servers and under which workloads; "" if never.

    The kernel counts for each socket that listens on the server's port here, so nothing is said of servers
    that may be on another machine.
    """
    found = Counter[str]()
    for data in trials:
        if on_loopback(data) and (count := data.backlog_drops):
            found[f"{data.trial.contestant} under {data.trial.workload}"] += count
    if not found:
        return ""
    several = len({(data.trial.contestant, data.trial.workload) for data in trials}) > 1
    where = f" ({tallied(found)})" if several else ""
    return (
        f"The kernel dropped {plural(found.total(), 'connection attempt')} because the server's backlog was "
        f"full: it accepts more slowly than they come{where}. An attempt is repeated after 1 s, then 2 s, "
        "4 s and so on; each counts here, and response times include the wait."
    )

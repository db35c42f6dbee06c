"""What a thread costs, seen from outside: the time and memory of a request to /spawn/N, divided by N.

Memory is what the server holds; address space is what it may use. A stack is reserved in full, but held only
as far as it was touched.
"""

import re
from collections.abc import Mapping, Sequence

from jostle.analysis.results import Estimate, PublishedFigure, Threads
from jostle.analysis.results.keys import Key
from jostle.analysis.results.published_figure import figure
from jostle.analysis.stats.over_rounds import typical_over_rounds
from jostle.analysis.summaries.trial import rss_max
from jostle.analysis.trials.data import TrialData

__all__ = ["memory_per_thread", "started_threads", "threads", "time_per_thread", "virtual_memory_per_thread"]

SPAWN = re.compile(r"/spawn/([0-9]+)(\?kind=os)?$")


def started_threads(data: TrialData) -> int:
    """How many threads each request of the trial starts; 0 if the trial does not measure threads."""
    paths = [SPAWN.match(str(request.get("path", ""))) for request in data.workload().get("requests", [])]
    return int(paths[0][1]) if len(paths) == 1 and paths[0] else 0


def memory_per_thread(data: TrialData) -> float | None:
    """The most memory that the server's process tree held, less what it held before, in bytes per thread."""
    count, before, peak = started_threads(data), _before(data), _peak(data)
    if not count or not data.ok() or before is None or peak is None:
        return None
    return max(0.0, peak - before) / count


def virtual_memory_per_thread(data: TrialData) -> float | None:
    """The most address space that the process tree had, less what it had before, in bytes per thread."""
    count, sample = started_threads(data), data.trial.description.get("before")
    before = sample.get("peak_virtual_bytes") if sample else None
    peak = data.resource_usage.peak_virtual_bytes
    if not count or not data.ok() or not before or not peak:
        return None
    return max(0.0, peak - before) / count


def time_per_thread(data: TrialData) -> float | None:
    """The mean service time in seconds per thread, in which it is started, held and ended."""
    count, mean_s = started_threads(data), data.service.mean_s
    return mean_s / count if count and mean_s is not None else None


def _before(data: TrialData) -> float | None:
    before = data.trial.description.get("before")
    return before.get("rss_bytes") if before else None


def _peak(data: TrialData) -> float | None:
    """The peak that the kernel recorded, or the largest sample if that peak was before the load."""
    before = data.trial.description.get("before")
    peak = data.resource_usage.peak_rss_bytes
    return peak if peak > (before.get("peak_rss_bytes", 0) if before else 0) else rss_max(data)


def threads(
    grouped: Mapping[Key, Sequence[TrialData]], published: Sequence[PublishedFigure]
) -> list[Threads]:
    """A row for each contestant and workload that starts threads."""
    return [
        _threads(key, group, published)
        for key, group in grouped.items()
        if any(started_threads(data) for data in group)
    ]


def _threads(key: Key, group: Sequence[TrialData], published: Sequence[PublishedFigure]) -> Threads:
    contestant, workload = key
    usable = [f for f in group if f.trial.status != "failed" and f.ok()]
    known = figure(published, contestant, workload, "memory per thread")
    return Threads(
        contestant=contestant,
        workload=workload,
        count=max(map(started_threads, group)),
        memory_bytes=_over_rounds([memory_per_thread(f) for f in usable], "bytes"),
        virtual_bytes=_over_rounds([virtual_memory_per_thread(f) for f in usable], "bytes"),
        time_s=_over_rounds([time_per_thread(f) for f in usable], "s"),
        before_bytes=_over_rounds([_before(f) for f in usable], "bytes"),
        peak_bytes=_over_rounds([_peak(f) for f in usable], "bytes"),
        published_bytes=known.amount if known else None,
    )


def _over_rounds(values: Sequence[float | None], unit: str) -> Estimate:
    return typical_over_rounds([value for value in values if value is not None], unit)

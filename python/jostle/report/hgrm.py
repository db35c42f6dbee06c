"""Percentile distributions in HdrHistogram's own text form, for its plotters.

One file per contestant and workload; times in milliseconds, 5 steps per half distance.
Source: `outputPercentileDistribution` and `PercentileIterator` of the Java HdrHistogram 2.2.2.
"""

import math
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from jostle.host.files import write_whole
from jostle.record import RunRecord

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

__all__ = ["percentiles", "write_hgrms"]

US_PER_MS = 1000.0

TICKS = 5
"""Lines per half distance to 100 %."""


def percentiles(histogram: "HdrHistogram") -> str:
    """The percentile distribution of a histogram in microseconds, as the Java library prints it.

    Not by hdrh's own output: its steps differ, and its standard deviation keeps the other unit.
    """
    total = histogram.get_total_count()
    lines = [f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}", ""]
    level, last = 0.0, ""
    for item in histogram.get_recorded_iterator():
        reached = item.total_count_to_this_value
        value = f"{item.value_iterated_to / US_PER_MS:12.3f}"
        while 100.0 * reached / total >= level:
            share = level / 100.0
            lines.append(f"{value} {share:2.12f} {reached:10} {1 / (1 - share):14.2f}")
            if reached == total:
                break
            level += 100.0 / (TICKS * 2 ** (int(math.log2(100.0 / (100.0 - level))) + 1))
        last = f"{value} {1.0:2.12f} {reached:10}"
    mean, deviation, largest = (
        figure / US_PER_MS
        for figure in (histogram.get_mean_value(), histogram.get_stddev(), histogram.get_max_value())
    )
    lines += [
        last,
        f"#[Mean    = {mean:12.3f}, StdDeviation   = {deviation:12.3f}]",
        f"#[Max     = {largest:12.3f}, Total count    = {total:12}]",
        f"#[Buckets = {histogram.bucket_count:12}, SubBuckets     = {histogram.sub_bucket_count:12}]",
    ]
    return "\n".join(lines) + "\n"


def write_hgrms(record: RunRecord, folder: Path | str) -> list[Path]:
    """Write CONTESTANT-WORKLOAD.hgrm with the response times of all answered requests; the paths."""
    merged: dict[tuple[str, str], HdrHistogram] = {}
    for trial in record.trials:
        if trial.status == "failed":
            continue
        found, key = trial.histogram("response"), (trial.contestant, trial.workload)
        if key in merged:
            merged[key].add(found)
        else:
            merged[key] = found
    paths = []
    taken: Counter[str] = Counter()
    for key, histogram in merged.items():
        if not histogram.get_total_count():
            continue
        name = "-".join(re.sub(r"[^\w.=-]+", "-", part).strip("-.") or "unnamed" for part in key)
        taken[name] += 1
        number = f"-{taken[name]}" if taken[name] > 1 else ""
        path = Path(folder) / f"{name}{number}.hgrm"
        write_whole(path, percentiles(histogram))
        paths.append(path)
    return paths

"""Percentile distributions in HdrHistogram's own text form, for its plotters.

One file per contestant and workload; times in milliseconds, 5 steps per half distance.
Source: `outputPercentileDistribution` of the Java HdrHistogram.
"""

import io
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from jostle.record import RunRecord

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

__all__ = ["percentiles", "write_hgrms"]

US_PER_MS = 1000.0


def percentiles(histogram: "HdrHistogram") -> str:
    """The percentile distribution of a histogram in microseconds."""
    out = io.BytesIO()
    histogram.output_percentile_distribution(out, US_PER_MS)
    return out.getvalue().decode()


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
        path.write_text(percentiles(histogram), encoding="utf-8")
        paths.append(path)
    return paths

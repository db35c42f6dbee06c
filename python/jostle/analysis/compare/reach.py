"""Which changes a comparison finds, by how much its rounds varied."""

import math
from collections.abc import Iterable

from jostle.analysis.results import Comparison
from jostle.analysis.stats.power import POWER, detectable_with
from jostle.formatting import listed, percent

__all__ = ["reach"]

METRICS = ("p50", "p90", "p99")


def reach(c: Comparison) -> str:
    """ "10 rounds find 4 % in the p50, 6 % in the p90 and 12 % in the p99"; "" if there are no intervals."""
    finds = [f"{percent(change)} in the {metric}" for metric, change in _detectable(c)]
    if not finds:
        return ""
    return (
        f"{c.workload}: {min(c.rounds)} rounds find {listed(finds)}: changes of this size, in "
        f"{percent(POWER)} of runs like this one."
    )


def _detectable(c: Comparison) -> Iterable[tuple[str, float]]:
    """The smallest change of each metric that is found, in whole percent."""
    for d in c.differences:
        if d.metric in METRICS and d.log_error is not None and d.log_df is not None:
            yield d.metric, math.ceil(100 * detectable_with(d.log_error, d.log_df)) / 100

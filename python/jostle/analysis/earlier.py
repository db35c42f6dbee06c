"""What earlier runs of a plan on this machine say of how much its rounds vary."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from jostle.analysis.history import METRICS, IndexedFigures, IndexedRun
from jostle.analysis.results import Estimate
from jostle.analysis.stats.moderated import Spread
from jostle.record.journal_line import EarlierSpread
from jostle.record.verdict import Verdict

__all__ = ["spreads_of"]


def spreads_of(runs: Sequence[IndexedRun]) -> list[EarlierSpread]:
    """How much rounds varied in each cell: within these runs, and between those that have a single round."""
    cells = defaultdict[tuple[str, str], list[IndexedFigures]](list)
    for run in runs:
        for figures in run.figures:
            if figures.verdict is not Verdict.INVALID:
                cells[figures.contestant, figures.workload].append(figures)
    found = list[EarlierSpread]()
    for (contestant, workload), every in cells.items():
        for metric in METRICS:
            spread = _pooled(list(_logs([getattr(figures, metric) for figures in every])))
            if spread is not None:
                sd = math.sqrt(spread.variance)
                found.append(
                    {
                        "contestant": contestant,
                        "workload": workload,
                        "metric": metric,
                        "sd": sd,
                        "df": spread.df,
                    }
                )
    return found


def _logs(estimates: Sequence[Estimate]) -> Iterator[list[float]]:
    """The logarithms of each run's rounds; of runs of one round, all together, as if they were one run."""
    single = []
    for estimate in estimates:
        if estimate.bound or not estimate.value or min(estimate.rounds, default=estimate.value) <= 0:
            continue
        if len(estimate.rounds) > 1:
            yield [math.log(value) for value in estimate.rounds]
        else:
            single.append(math.log(estimate.value))
    yield single


def _pooled(runs: Sequence[Sequence[float]]) -> Spread | None:
    """The variance within runs; None if no run has two rounds."""
    spreads = [Spread.of(logs) for logs in runs if len(logs) > 1]
    df = sum(spread.df for spread in spreads)
    return Spread(sum(one.df * one.variance for one in spreads) / df, df) if df else None

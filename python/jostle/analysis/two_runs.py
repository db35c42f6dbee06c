"""Two single runs, judged by how much runs of the same plan on the same machine differed before."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jostle.analysis.compare.sentences import in_words, summary
from jostle.analysis.compare.sides import finding_of
from jostle.analysis.history import METRICS, IndexedRun, history
from jostle.analysis.results import CompareResult, Comparison, Difference
from jostle.analysis.stats import student
from jostle.analysis.stats.enough import TWO_RUNS
from jostle.analysis.stats.moderated import Spread
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.record import RunRecord
from jostle.record.setting import setting_of
from jostle.record.verdict import Verdict

__all__ = ["by_earlier_runs"]

MIN_EARLIER = 3
"""Fewer earlier runs say too little of how much runs differ."""


def by_earlier_runs(result: CompareResult, first: RunRecord, second: RunRecord) -> CompareResult:
    """The comparison of two runs, with intervals from the spread of other runs in the same folder.

    As it is unless both runs, and at least three others there, have the same plan and machine.
    """
    base, setting = second.folder.parent, setting_of(second.plan_text, second.host)
    if first.folder.resolve().parent != base.resolve() or setting_of(first.plan_text, first.host) != setting:
        return result
    compared = {first.folder.name, second.folder.name}
    entries, _ = history(base)
    earlier = [e for e in entries if e.setting == setting and e.complete and e.folder not in compared]
    if len(earlier) < MIN_EARLIER:
        return result
    notes = [note for note in result.notes if not note.startswith(TWO_RUNS.capitalize())]
    said = (
        f"Decided by how much {len(earlier)} other runs of this plan on this machine differ, as there is one "
        "run on each side. What changed in between, on the machine or in the server, is part of every "
        "difference."
    )
    found = [_decided(c, earlier) for c in result.comparisons]
    return replace(result, comparisons=found, notes=[*notes, said])


def _decided(c: Comparison, earlier: Sequence[IndexedRun]) -> Comparison:
    contestant = c.a.removesuffix(" in the first run")
    spreads = {metric: _spread(earlier, contestant, c.workload, metric) for metric in METRICS}
    known = {metric: spread for metric, spread in spreads.items() if spread is not None}
    if not known:
        return c
    differences = [
        _with_interval(d, known[d.metric], c) if d.metric in known and d.ratio.value else d
        for d in c.differences
    ]
    decided = replace(c, differences=differences, earlier_runs=len(earlier))
    return replace(decided, sentence=summary(decided))


def _spread(earlier: Sequence[IndexedRun], contestant: str, workload: str, metric: str) -> Spread | None:
    """The spread of ln(metric) from run to run."""
    values = [
        getattr(f, metric).value
        for entry in earlier
        for f in entry.figures
        if (f.contestant, f.workload) == (contestant, workload) and f.verdict is not Verdict.INVALID
    ]
    logs = [math.log(value) for value in values if value]
    return Spread.of(np.array(logs)) if len(logs) >= MIN_EARLIER else None


def _with_interval(d: Difference, spread: Spread, c: Comparison) -> Difference:
    assert d.ratio.value is not None
    middle, error = math.log(d.ratio.value), math.sqrt(2 * spread.variance)
    half = student.quantile(spread.df, (1 + CONFIDENCE) / 2) * error
    ratio = replace(d.ratio, low=math.exp(middle - half), high=math.exp(middle + half), note="")
    finding, within = finding_of(ratio, d.difference)
    p = 2 * student.cdf(spread.df, -abs(middle) / error)
    found = replace(
        d, ratio=ratio, finding=finding, within=within, p=p, p_of_all=p, log_error=error, log_df=spread.df
    )
    return replace(found, sentence=in_words(found, c.a, c.b))

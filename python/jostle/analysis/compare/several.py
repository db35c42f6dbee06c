"""Several runs against several others: the run is the unit, as their differences include what varies per run.

Source: Kalibera and Jones, Rigorous Benchmarking in Reasonable Time (ISMM 2013): repeat at the topmost
level that varies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from jostle.analysis.compare.pairs import Key, differs, side
from jostle.analysis.compare.side import Side, WholeRun
from jostle.analysis.compare.sides import compare_sides
from jostle.analysis.results import CompareResult, WorkloadSummary
from jostle.analysis.stats.enough import LEAST_ROUNDS
from jostle.analysis.stats.over_rounds import typical_over_rounds
from jostle.analysis.stats.quantile_ci import LEVELS
from jostle.analysis.trial.data import TrialData
from jostle.errors import NotComparable, PlanError
from jostle.record.verdict import worst

__all__ = ["MeasuredRun", "compare_several"]

MeasuredRun = tuple[Mapping[Key, Sequence[TrialData]], Mapping[Key, WorkloadSummary]]
"""Trials and summaries of a run, by contestant and workload."""


def compare_several(first: Sequence[MeasuredRun], second: Sequence[MeasuredRun]) -> CompareResult:
    """The second runs against the first, for every contestant and workload that all have.

    Raises PlanError for fewer than three runs on a side, NotComparable if they have nothing in common, or if
    workloads of the same name differ.
    """
    if min(len(first), len(second)) < LEAST_ROUNDS:
        raise PlanError(
            f"comparing runs with runs takes at least {LEAST_ROUNDS} on each side",
            "measure more, or both sides in one run: jostle compare --interleaved PLAN_A PLAN_B",
        )
    everywhere = [key for key in first[0][1] if all(key in summaries for _, summaries in (*first, *second))]
    if not everywhere:
        raise NotComparable("the runs have no contestant and workload in common", "measure the same in each")
    comparisons = []
    for key in everywhere:
        for grouped, _ in (*first, *second):
            if another := differs(first[0][0][key], grouped[key]):
                raise NotComparable(
                    f"the workload {key[1]!r} is not the same in all runs: {another}",
                    "compare runs of one plan: differences would come from it as well",
                )
        comparisons.append(compare_sides(_side(key, first, "first"), _side(key, second, "second")))
    names = f"{len(first)} runs", f"{len(second)} runs"
    note = (
        "The run is the unit: intervals are Student's over runs (Welch); the rounds of a run make one value."
    )
    return CompareResult(f"{names[1]} against {names[0]}", *names, comparisons, [], [note])


def _side(key: Key, runs: Sequence[MeasuredRun], name: str) -> Side:
    sides = [side(grouped[key], summaries[key], key[0]) for grouped, summaries in runs]
    rounds = [WholeRun.of_rounds(n, s.rounds) for n, s in enumerate(sides, 1) if s.rounds]
    whole = Side(f"{key[0]} in the {name} runs", sides[0].summary, rounds, name)
    summary = replace(
        sides[0].summary,
        rounds=sum(len(s.rounds) for s in sides),
        verdict=worst(s.summary.verdict for s in sides),
        throughput=typical_over_rounds([r.throughput for r in rounds], "/s"),
        response={
            **sides[0].summary.response,
            **{q: typical_over_rounds(whole.values(q), "s") for q in LEVELS},
        },
    )
    return replace(whole, summary=summary)

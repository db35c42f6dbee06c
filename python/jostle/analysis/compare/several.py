"""Several runs against several others: the run is the unit, as their differences include what varies per run.

Source: Kalibera and Jones, Rigorous Benchmarking in Reasonable Time (ISMM 2013): repeat at the topmost
level that varies.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from jostle.analysis.compare.pairs import definition, differs, side, without_given_rate
from jostle.analysis.compare.side import Side, WholeRun, doubts
from jostle.analysis.compare.sides import compare_sides
from jostle.analysis.results import CompareResult, Estimate, WorkloadSummary
from jostle.analysis.results.keys import Key
from jostle.analysis.stats.enough import MIN_ROUNDS
from jostle.analysis.stats.moderated import not_known
from jostle.analysis.stats.over_rounds import RoundValue, typical_over_rounds
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.statuses import added
from jostle.errors import NotComparable, PlanError
from jostle.quantiles import COMPARED
from jostle.record.verdict import worst

__all__ = ["MeasuredRun", "compare_several"]

MeasuredRun = tuple[Mapping[Key, Sequence[TrialData]], Mapping[Key, WorkloadSummary]]
"""Trials and summaries of a run, by contestant and workload."""


def compare_several(
    first: Sequence[MeasuredRun], second: Sequence[MeasuredRun], *, metrics: Collection[str] = ()
) -> CompareResult:
    """The second runs against the first, for every contestant and workload that all have.

    `metrics`: those to compare besides the usual ones.

    Raises PlanError for fewer than three runs on a side, NotComparable if they have nothing in common, or if
    workloads of the same name differ.
    """
    if min(len(first), len(second)) < MIN_ROUNDS:
        raise PlanError(
            f"comparing runs with runs takes at least {MIN_ROUNDS} on each side",
            "measure more, or both sides in one run: jostle compare --interleaved PLAN_A PLAN_B",
        )
    runs = [*first, *second]
    known = dict.fromkeys(key for _, summaries in runs for key in summaries)
    everywhere = [key for key in known if all(key in summaries for _, summaries in runs)]
    if not everywhere:
        raise NotComparable("the runs have no contestant and workload in common", "measure the same in each")
    comparisons, notes = [], []
    for key in known:
        if key not in everywhere:
            notes.append(f"{key[1]} was not measured on {key[0]} in every run, so it is not compared")
    for key in everywhere:
        # All are compared with one that was measured, if there is one.
        measured = next((grouped[key] for grouped, _ in runs if definition(grouped[key])), first[0][0][key])
        for grouped, _ in runs:
            if another := differs(measured, grouped[key]):
                raise NotComparable(
                    f"the workload {key[1]!r} is not the same in all runs: {another}",
                    "compare runs of one plan: differences would come from it as well",
                )
        sides = _side(key, first, "first"), _side(key, second, "second")
        compared = compare_sides(*sides, more=metrics)
        comparisons.append(without_given_rate(compared, measured))
        notes += doubts(*sides)
    names = f"{len(first)} runs", f"{len(second)} runs"
    notes.append(
        "The run is the unit: intervals are Student's over runs (Welch); the rounds of a run make one value."
    )
    return CompareResult(f"{names[1]} against {names[0]}", *names, comparisons, [], notes)


def _side(key: Key, runs: Sequence[MeasuredRun], name: str) -> Side:
    sides = [side(grouped[key], summaries[key], key[0], not_known) for grouped, summaries in runs]
    rounds = [WholeRun.of_rounds(n, s.rounds) for n, s in enumerate(sides, 1) if s.rounds]
    whole = Side(f"{key[0]} in the {name} runs", sides[0].summary, rounds, name, of_runs=True)
    judged = ("throughput", *COMPARED, "errors")
    summary = replace(
        sides[0].summary,
        rounds=sum(len(s.rounds) for s in sides),
        verdict=worst(s.summary.verdict for s in sides),
        statuses=added(s.summary.statuses for s in sides),
        verdicts={q: worst(s.summary.verdict_of(q) for s in sides) for q in judged},
        throughput=_typical(whole.values("throughput"), "/s"),
        response={**sides[0].summary.response, **{q: _typical(whole.values(q), "s") for q in COMPARED}},
    )
    return replace(whole, summary=summary)


def _typical(runs: Sequence[RoundValue], unit: str) -> Estimate:
    found = typical_over_rounds(runs, unit)
    if any(value is None for value in runs):
        return replace(found, note="in some run it has no value: too few requests, or rounds far apart")
    return found

"""Two runs, or two contestants of one run: what `jostle compare` says."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jostle.analysis.compare.family import ALONE, ComparisonFamily, usual_differences
from jostle.analysis.compare.overall import TESTED, judge_overall
from jostle.analysis.compare.pairs import differs, not_compared, side, without_given_rate
from jostle.analysis.compare.several import compare_several
from jostle.analysis.compare.side import Side, doubts, pair
from jostle.analysis.compare.sides import compare_sides
from jostle.analysis.invalid_if import as_the_plan_says
from jostle.analysis.results import (
    CompareResult,
    Comparison,
    ConditionResult,
    Decision,
    Estimate,
    WorkloadSummary,
)
from jostle.analysis.results.keys import Key
from jostle.analysis.results.rule import decide
from jostle.analysis.stats.enough import TWO_RUNS
from jostle.analysis.stats.moderated import UsualOf
from jostle.analysis.stats.sequential import ConfidenceRule
from jostle.analysis.summaries.counted import counted, note
from jostle.analysis.summaries.looks import confidence_rule_of
from jostle.analysis.summaries.usual import usual_in
from jostle.analysis.summaries.workload import by_workload, summarize_all
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.checks import judge_data
from jostle.errors import NotComparable, PlanError, UnknownName
from jostle.plan.criteria.conditions import Condition, OverallChange
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.record.verdict import Verdict

__all__ = [
    "compare_contestants",
    "compare_many",
    "compare_records",
    "compare_runs",
    "judge_conditions",
    "metrics_of",
]


@dataclass(frozen=True)
class _Run:
    name: str
    data: Sequence[TrialData]
    counted: Sequence[TrialData]
    grouped: Mapping[Key, Sequence[TrialData]]
    summaries: Mapping[Key, WorkloadSummary]
    usual: UsualOf
    confidence_rule: ConfidenceRule

    @classmethod
    def of(cls, record: RunRecord) -> "_Run":
        data = [TrialData(trial) for trial in record.trials]
        plan = RecordedPlan.parse(record.plan_text)
        validities = as_the_plan_says({f.trial.number: judge_data(f) for f in data}, data, plan)
        kept = counted(record, data, validities, plan)
        grouped = by_workload(kept)
        usual = usual_in(record, grouped)
        summaries = summarize_all(grouped, validities, plan, usual, distributions=False)
        return cls(
            record.folder.name, data, kept, grouped, summaries, usual, confidence_rule_of(record, plan)
        )

    def contestants(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.summaries))

    def left_out(self, contestants: Container[str]) -> list[str]:
        """Notes on those of the contestants' trials that do not count."""
        data, kept = (
            [one for one in trials if one.trial.contestant in contestants]
            for trials in (self.data, self.counted)
        )
        return list(filter(None, [note(data, kept)]))

    def workloads(self, contestant: str) -> list[str]:
        return [workload for name, workload in self.summaries if name == contestant]


def metrics_of(conditions: Iterable[Condition | OverallChange]) -> set[str]:
    """The metrics that these are about, and those that are tested as a whole."""
    return {*TESTED, *(one.metric for one in conditions if isinstance(one, Condition))}


def compare_records(
    records: Sequence[RunRecord], contestants: Sequence[str] | None, metrics: Collection[str] = ()
) -> CompareResult:
    """Two runs, or two contestants of one. Raises PlanError for anything else, NotComparable for one run that
    is given twice. `metrics`: those to compare besides the usual ones.
    """
    _refuse_repeated(records)
    match records, contestants:
        case [record], [a, b]:
            return compare_contestants(record, a, b, metrics)
        case [a_run, b_run], None:
            return compare_runs(a_run, b_run, metrics)
    raise PlanError(
        "compare takes two runs, or one run and two contestants",
        "jostle compare runs/before runs/after\njostle compare runs/2026-… --contestants node,go",
    )


def _refuse_repeated(records: Sequence[RunRecord]) -> None:
    """A run that counts twice makes intervals too narrow, and differs from itself by nothing."""
    given = Counter(record.folder.resolve() for record in records)
    for folder, times in given.items():
        if times > 1:
            raise NotComparable(
                f"the run {folder} is given {times} times, and is one measurement", "name each run once"
            )


def compare_many(
    first: Sequence[RunRecord], second: Sequence[RunRecord], metrics: Collection[str] = ()
) -> CompareResult:
    """The runs of `second` against those of `first`, at least three on each side.

    Raises the same errors as `compare_several`, and NotComparable for a run that is given twice.
    """
    _refuse_repeated([*first, *second])
    runs = [[_Run.of(record) for record in records] for records in (first, second)]
    sides = ([(run.grouped, run.summaries) for run in group] for group in runs)
    found = compare_several(*sides, metrics=metrics)
    every = [run for group in runs for run in group]
    left_out = [f"{run.name}: {said}" for run in every for said in run.left_out(run.contestants())]
    return replace(found, notes=[*left_out, *found.notes])


def compare_contestants(record: RunRecord, a: str, b: str, metrics: Collection[str] = ()) -> CompareResult:
    """`b` against `a`, for every workload that both were measured under, paired by round.

    Raises UnknownName for a contestant that is not in the run, NotComparable if they have nothing in common
    or are the same one.
    """
    if a == b:
        raise NotComparable(f"{a} is compared with itself", "name two contestants")
    run = _Run.of(record)
    for name in (a, b):
        if name not in run.contestants():
            raise UnknownName("contestant in this run", name, run.contestants())
    keys = [((a, workload), (b, workload)) for workload in _either(run.workloads(a), run.workloads(b))]
    comparisons, notes = _compared(run, run, keys, ("", ""), metrics)
    notes += run.left_out((a, b))
    return CompareResult(f"{b} against {a}", a, b, comparisons, [], notes)


def compare_runs(first: RunRecord, second: RunRecord, metrics: Collection[str] = ()) -> CompareResult:
    """The second run against the first: every contestant and workload that both have.

    If each run has one contestant, these are compared whatever their names. Raises NotComparable if they have
    nothing in common, or if workloads of the same name differ.
    """
    a, b = _Run.of(first), _Run.of(second)
    ours, theirs = a.contestants(), b.contestants()
    common = [(name, name) for name in ours if name in theirs]
    if not common and len(ours) == len(theirs) == 1:
        common = [(ours[0], theirs[0])]
    if not common:
        raise NotComparable(
            "the runs have no contestant in common",
            f"{a.name}: {', '.join(ours) or 'none'}\n{b.name}: {', '.join(theirs) or 'none'}",
        )
    keys = [((x, w), (y, w)) for x, y in common for w in _either(a.workloads(x), b.workloads(y))]
    comparisons, notes = _compared(a, b, keys, (str(first.folder), str(second.folder)), metrics)
    alone = [(name, a) for name in ours if name not in dict(common)]
    alone += [(name, b) for name in theirs if name not in dict(common).values()]
    notes += [f"{name} was measured in {run.name} only, so it is not compared" for name, run in alone]
    notes += a.left_out(ours) + b.left_out(theirs)
    notes.append(
        f"{TWO_RUNS.capitalize()}, and what changed on the machine in between is part of every difference. "
        "So nothing is decided. To decide, measure both in one run, with interleaved rounds: "
        "`jostle compare --interleaved PLAN_A PLAN_B`; or compare three runs of each: "
        "`jostle compare A1 A2 A3 vs B1 B2 B3`."
    )
    return CompareResult(f"{b.name} against {a.name}", a.name, b.name, comparisons, [], notes)


def _compared(
    a: _Run,
    b: _Run,
    keys: Sequence[tuple[Key, Key]],
    runs: tuple[str, str],
    metrics: Collection[str],
) -> tuple[list[Comparison], list[str]]:
    """The comparisons, and notes on what only one side has and on trials that are in doubt."""
    pairs, notes, doubtful = list[tuple[Side, Side]](), list[str](), list[str]()
    loads: list[Sequence[TrialData]] = []
    paired = runs[0] == runs[1]
    for ours, theirs in keys:
        if ours not in a.summaries or theirs not in b.summaries:
            run, (contestant, workload) = (a, ours) if ours in a.summaries else (b, theirs)
            where = contestant if a is b else f"{contestant} in {run.name}"
            notes.append(f"{workload} was measured on {where} only, so it is not compared")
            continue
        another = differs(a.grouped[ours], b.grouped[theirs])
        if another:
            places = f"on {ours[0]} and on {theirs[0]}" if a is b else f"in {a.name} and in {b.name}"
            raise NotComparable(
                f"the workload {ours[1]!r} is not the same {places}: {another}",
                "measure both under the same workload: differences would come from it as well",
            )
        labels = _labels(ours[0], theirs[0])
        left = side(a.grouped[ours], a.summaries[ours], labels[0], a.usual, runs[0])
        right = side(b.grouped[theirs], b.summaries[theirs], labels[1], b.usual, runs[1])
        pairs.append(pair(left, right) if paired else (left, right))
        loads.append(a.grouped[ours])
        doubtful += doubts(left, right)
    if not pairs:
        raise NotComparable("they have no workload in common", "\n".join(notes) or "measure both first")
    family = (
        ComparisonFamily(confidence_rule=a.confidence_rule, usual=usual_differences(pairs))
        if paired
        else ALONE
    )
    compared = [
        without_given_rate(compare_sides(*two, family, metrics), load)
        for two, load in zip(pairs, loads, strict=True)
    ]
    return compared, notes + doubtful


def _either(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """What is in `first`, then what is only in `second`."""
    return list(dict.fromkeys([*first, *second]))


def _labels(ours: str, theirs: str) -> tuple[str, str]:
    """Names to tell the sides apart."""
    if ours != theirs:
        return ours, theirs
    return f"{ours} in the first run", f"{theirs} in the second"


def judge_conditions(result: CompareResult, conditions: Sequence[Condition | OverallChange]) -> CompareResult:
    """The result with each condition judged for each comparison: "fail" if it surely holds."""
    comparisons = len(result.comparisons)
    judged = [_judged(one, c, comparisons) for one in conditions for c in result.comparisons]
    return replace(result, conditions=judged)


def _judged(condition: Condition | OverallChange, c: Comparison, comparisons: int) -> ConditionResult:
    if isinstance(condition, OverallChange):
        overall = judge_overall(c, condition, comparisons)
        return ConditionResult(condition.text, c.workload, c.a, c.b, overall.verdict, overall.message)
    found = next((d for d in c.differences if d.metric == condition.metric), None)
    if found is None:
        message = not_compared(condition.metric)
        return ConditionResult(condition.text, c.workload, c.a, c.b, "undecided", message)
    estimate = _as_change(found.ratio) if condition.relative else found.difference
    holds = decide(condition, estimate)
    opposite: dict[Decision, Decision] = {"pass": "fail", "fail": "pass", "undecided": "undecided"}
    verdict, message = opposite[holds], found.sentence
    if found.verdict is Verdict.INVALID:  # its sentence says so
        verdict = "undecided"
    return ConditionResult(condition.text, c.workload, c.a, c.b, verdict, message)


def _as_change(ratio: Estimate) -> Estimate:
    value, low, high = (None if x is None else x - 1 for x in (ratio.value, ratio.low, ratio.high))
    return replace(ratio, value=value, low=low, high=high)

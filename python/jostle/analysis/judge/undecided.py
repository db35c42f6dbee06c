"""What more rounds could still decide, and how soon, for runs that continue until all is decided."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jostle.analysis import metrics
from jostle.analysis.compare.sides import SAME
from jostle.analysis.judge.claims import CellMetric, Measurements, missing, rounds_needed, sides_of
from jostle.analysis.results import (
    ClaimResult,
    Comparison,
    CriterionResult,
    Estimate,
    RequirementResult,
    RunResult,
)
from jostle.analysis.results.keys import Key
from jostle.analysis.results.rule import Rule, rule_of
from jostle.analysis.stats.enough import MIN_ROUNDS
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sequential import MAX_ROUNDS
from jostle.analysis.summaries.workload import by_workload
from jostle.analysis.trials.data import TrialData
from jostle.plan.criteria.claims import Claim, Part
from jostle.plan.criteria.conditions import Condition
from jostle.plan.criteria.requirement import Requirement
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.record.verdict import Verdict

__all__ = ["Question", "questions"]

EQUAL = Rule(high=1.0)
"""What a comparison asks of a ratio: on which side of it the value lies."""


@dataclass(frozen=True)
class Question:
    """A requirement, a claim or a comparison."""

    text: str
    cells: frozenset[Key]
    """The contestants and workloads that it is about; of a claim, those of its undecided parts."""
    open: bool
    """It is not decided, and more rounds could decide it. They cannot if something was not measured, was
    invalid, or needs more requests in each round."""
    further_rounds: float = math.inf
    """If it is open, the number of rounds that will probably decide it; infinite if there may not be so
    many."""


def questions(record: RunRecord, result: RunResult) -> list[Question]:
    """The requirements and claims of the run's plan; if it has neither, its comparisons.

    `result`: the analysis of `record`, with intervals that hold under repeated looks.
    """
    plan = RecordedPlan.parse(record.plan_text)
    measured = Measurements(
        by_workload([TrialData(trial) for trial in record.trials]),
        {(cell.contestant, cell.workload): cell for cell in result.summaries},
        result.starvation,
        result.skipped,
        result.skipped_workloads,
        plan.parameters,
    )
    builder = _QuestionBuilder(measured)
    required = {one.text: one for one in plan.require}
    found = [
        *(builder.of_requirement(one, required.get(one.that)) for one in result.requirements),
        *(builder.claim(*pair) for pair in zip(plan.claim, result.claims, strict=True)),
    ]
    return found or [_comparison(one) for one in result.comparisons]


@dataclass(frozen=True)
class _QuestionBuilder:
    measured: Measurements

    def of_requirement(self, one: RequirementResult, required: Requirement | None) -> Question:
        if required is None:  # this version cannot read it
            key = (one.contestant, one.workload)
            return Question(f"{one.that} ({one.about})", frozenset([key]), open=False)
        if required.of_difference:
            return self.difference(one, required)
        return self.requirement(one, required.condition)

    def requirement(self, one: RequirementResult, condition: Condition) -> Question:
        text, key = f"{one.that} ({one.about})", (one.contestant, one.workload)
        figures = [(cell, condition.metric) for cell in self.measured.behind(condition.metric, key)]
        undecided = one.verdict == "undecided" and not self.measured.invalid(figures)
        rule = rule_of(condition)
        can_narrow = _can_narrow(one.estimate, [rule])
        foreseeable = condition.metric not in metrics.COUNTED
        needed = rounds_needed(rule, one.estimate, CONFIDENCE) if foreseeable else ()
        further_rounds = _further_rounds(one.estimate, needed)
        return Question(text, _cells(figures), undecided and can_narrow, further_rounds)

    def difference(self, one: RequirementResult, required: Requirement) -> Question:
        """It is open until a change is found, or none that counts remains possible."""
        text = f"{one.that} ({one.contestant} against {one.against}, {one.workload})"
        cells = frozenset({(one.contestant, one.workload), (one.against, one.workload)})
        if required.unwanted:
            rule = Rule(high=max(one.limit, 1 + SAME))
        else:
            rule = rule_of(replace(required.condition, limit=one.limit))
        not_found = required.unwanted is not None and one.verdict == "pass"
        is_open = one.verdict == "undecided" or (not_found and rule.judge(one.estimate) != "holds")
        further_rounds = _further_rounds(one.estimate, rounds_needed(rule, one.estimate, CONFIDENCE))
        return Question(text, cells, is_open and _can_narrow(one.estimate), further_rounds)

    def claim(self, one: Claim, judged: ClaimResult) -> Question:
        sides = [(part, pair) for part in one.holds for pair in sides_of(part, self.measured)]
        figures = [self.measured.figures(part, pair) for part, pair in sides]
        everything = [figure for of_part in figures for figure in of_part]
        blocking = [
            (part, criterion, of_part)
            for (part, _), criterion, of_part in zip(sides, judged.criteria, figures, strict=True)
            if criterion.verdict in ("undecided", "size undecided")
        ]
        can_narrow = all(
            _can_narrow(criterion.estimate, _rules(part)) and not criterion.absent
            for part, criterion, _ in blocking
        )
        cells = _cells([figure for *_, of_part in blocking for figure in of_part])
        undecided = judged.verdict == "undecided" and not self.measured.invalid(everything)
        if not (undecided and can_narrow and cells) or missing(one.needs, sorted(cells), self.measured):
            return Question(one.says, cells, open=False)
        further_rounds = _until_judged([(part, criterion) for part, criterion, _ in blocking])
        return Question(one.says, cells, open=True, further_rounds=further_rounds)


def _cells(figures: Sequence[CellMetric]) -> frozenset[Key]:
    return frozenset(cell for cell, _ in figures)


def _rules(part: Part) -> list[Rule]:
    return [Rule(*limits) for limits in (part.limits, part.size) if limits is not None]


def _comparison(one: Comparison) -> Question:
    cells = frozenset({(one.a, one.workload), (one.b, one.workload)})
    text = f"{one.b} against {one.a} ({one.workload})"
    primary = next((d for d in one.differences if d.metric == one.primary), None)
    if primary is None:  # both kept up with the rate of an open loop
        return Question(text, cells, open=False)
    undecided = primary.finding in ("undecided", "may be chance") and primary.verdict is not Verdict.INVALID
    further_rounds = _further_rounds(primary.ratio, rounds_needed(EQUAL, primary.ratio, CONFIDENCE))
    return Question(text, cells, undecided and _can_narrow(primary.ratio), further_rounds)


def _further_rounds(estimate: Estimate, needed: tuple[int, ...]) -> float:
    """In how many rounds a figure will probably be decided; infinite if there may not be so many.

    `needed`: the forecast for a new run with ordinary intervals. The intervals of this one are wider, so it
    only says which figure comes first. Without a forecast, or once it has passed, it is as many rounds again.
    """
    done = 1 if estimate.this_run_only else len(estimate.rounds) or estimate.n
    if done < MIN_ROUNDS:
        return float(MIN_ROUNDS - done)
    expected = math.sqrt(math.prod(needed)) if needed else done
    if expected > MAX_ROUNDS:
        return math.inf
    return expected - done if expected > done else float(done)


def _until_judged(blocking: Sequence[tuple[Part, CriterionResult]]) -> float:
    """In how many rounds a claim will probably be decided: one part refutes it, but all must confirm it."""
    refuting, confirming = list[float](), list[float]()
    for part, criterion in blocking:
        value = criterion.estimate.value
        holds = value is None or Rule(*part.limits).holds_at(value)
        (confirming if holds else refuting).append(
            _further_rounds(criterion.estimate, criterion.rounds_needed)
        )
    return min(refuting) if refuting else max(confirming)


def _can_narrow(estimate: Estimate, rules: Sequence[Rule] = ()) -> bool:
    """Whether there is an interval, which more rounds would shorten, or only too few rounds for one.

    If only a lower bound is known, that will not change. Then more rounds only raise the lower end of the
    interval towards the value, which must be enough for a verdict.
    """
    if estimate.value is None:
        return False
    if estimate.this_run_only or (len(estimate.rounds) or estimate.n) < MIN_ROUNDS:
        return True
    if estimate.bound:
        narrow = replace(estimate, low=estimate.value)
        return all(rule.judge(narrow) != "undecided" for rule in rules)
    return estimate.low is not None

"""What more rounds could still decide, for runs that continue until all is decided."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jostle.analysis.compare.pairs import Key
from jostle.analysis.judge.claims import Measured, missing, sides_of
from jostle.analysis.judge.requirements import rule_of
from jostle.analysis.judge.rule import Rule
from jostle.analysis.results import Claim, Comparison, Estimate, Requirement, RunResult
from jostle.analysis.stats.enough import LEAST_ROUNDS
from jostle.analysis.summaries import by_workload
from jostle.analysis.trial.data import TrialData
from jostle.plan import claims as asked
from jostle.plan.conditions import Condition
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.record.verdict import Verdict

__all__ = ["Question", "questions"]


@dataclass(frozen=True)
class Question:
    """A requirement, a claim or a comparison. `cells`: the contestants and workloads that it is about.

    `open`: it is not decided, and more rounds could decide it. They cannot if something was not measured, was
    invalid, or needs more requests in each round.
    """

    text: str
    cells: frozenset[Key]
    open: bool


def questions(record: RunRecord, result: RunResult) -> list[Question]:
    """The requirements and claims of the run's plan; if it has neither, its comparisons.

    `result`: the analysis of `record`, with intervals that hold under repeated looks.
    """
    plan = RecordedPlan.parse(record.plan_text)
    measured = Measured(
        by_workload([TrialData(trial) for trial in record.trials]),
        {(cell.contestant, cell.workload): cell for cell in result.summaries},
        result.starvation,
        result.skipped,
        result.skipped_workloads,
        plan.parameters,
    )
    conditions = {one.condition.text: one.condition for one in plan.require}
    found = [
        *(_requirement(one, conditions.get(one.that), measured) for one in result.requirements),
        *(_claim(*pair, measured) for pair in zip(plan.claim, result.claims, strict=True)),
    ]
    return found or [_comparison(one) for one in result.comparisons]


def _requirement(one: Requirement, condition: Condition | None, measured: Measured) -> Question:
    text, key = f"{one.that} ({one.contestant}, {one.workload})", (one.contestant, one.workload)
    if condition is None:  # this version cannot read it
        return Question(text, frozenset([key]), open=False)
    figures = [(cell, condition.quantity) for cell in measured.behind(condition.quantity, key)]
    undecided = one.verdict == "cannot tell" and not measured.invalid(figures)
    can_narrow = _can_narrow(one.estimate, [rule_of(condition)])
    return Question(text, frozenset(cell for cell, _ in figures), undecided and can_narrow)


def _claim(one: asked.Claim, judged: Claim, measured: Measured) -> Question:
    sides = [(part, pair) for part in one.holds for pair in sides_of(part, measured)]
    figures = [figure for part, pair in sides for figure in measured.figures(part, pair)]
    cells = frozenset(cell for cell, _ in figures)
    blocking = [
        (part, criterion)
        for (part, _), criterion in zip(sides, judged.criteria, strict=True)
        if criterion.verdict in ("cannot tell", "size unclear")
    ]
    undecided = judged.verdict == "cannot tell" and blocking and not measured.invalid(figures)
    can_narrow = all(
        _can_narrow(criterion.estimate, _rules(part)) and not criterion.absent for part, criterion in blocking
    )
    lacking = missing(one.needs, sorted(cells), measured)
    return Question(one.says, cells, bool(undecided) and can_narrow and not lacking)


def _rules(part: asked.Part) -> list[Rule]:
    return [Rule(*limits) for limits in (part.limits, part.size) if limits is not None]


def _comparison(one: Comparison) -> Question:
    (primary,) = [d for d in one.differences if d.quantity == one.primary] or one.differences[:1]
    undecided = primary.finding in ("unclear", "may be chance") and primary.verdict is not Verdict.INVALID
    cells = frozenset({(one.a, one.workload), (one.b, one.workload)})
    text = f"{one.b} against {one.a} ({one.workload})"
    return Question(text, cells, undecided and _can_narrow(primary.ratio))


def _can_narrow(estimate: Estimate, rules: Sequence[Rule] = ()) -> bool:
    """Whether there is an interval, which more rounds would shorten, or only too few rounds for one.

    If only a lower bound is known, that will not change. Then more rounds only raise the lower end of the
    interval towards the value, which must be enough for an answer.
    """
    if estimate.value is None:
        return False
    if estimate.this_run_only or (len(estimate.rounds) or estimate.n) < LEAST_ROUNDS:
        return True
    if estimate.bound:
        narrow = replace(estimate, low=estimate.value)
        return all(rule.judge(narrow) != "cannot tell" for rule in rules)
    return estimate.low is not None

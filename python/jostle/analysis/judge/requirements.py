"""The plan's `[[require]]`: pass, fail, or cannot tell: the whole interval lies on one side of the limit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jostle.analysis import metrics
from jostle.analysis.judge.rule import Answer, Rule, distrusted
from jostle.analysis.results import Decision, Estimate, Requirement, WorkloadSummary
from jostle.analysis.stats.enough import TOO_FEW_ROUNDS
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.topics.starvation import Form, compare
from jostle.analysis.trial.data import TrialData
from jostle.errors import PlanError
from jostle.formatting import interval
from jostle.plan.conditions import INDICES, Condition, requirement
from jostle.plan.labels import meant
from jostle.record.verdict import Verdict
from jostle.units import share

__all__ = ["decide", "judge_requirements"]


@dataclass(frozen=True)
class _Asked:
    """One `[[require]]`."""

    condition: Condition
    workload: str
    contestant: str
    confidence: float

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "_Asked":
        return cls(
            requirement(str(table.get("that", ""))),
            str(table.get("workload", "")),
            str(table.get("contestant", "")),
            share(str(table.get("confidence", CONFIDENCE))),
        )

    def of_whom(self, contestants: Sequence[str]) -> list[str]:
        """Those of a run's contestants that it is about."""
        return meant(self.contestant, contestants) if self.contestant else list(contestants)


def judge_requirements(
    plan: Mapping[str, Any],
    grouped: Mapping[tuple[str, str], Sequence[TrialData]],
    summaries: Mapping[tuple[str, str], WorkloadSummary],
    skipped: Mapping[str, str],
) -> list[Requirement]:
    """Every requirement for every cell that it is about; one whose cells were not measured cannot be told."""
    found: list[Requirement] = []
    for table in plan.get("require", []):
        try:
            asked = _Asked.of(table)
        except PlanError as error:  # the plan of another version of jostle
            found.append(_unreadable(table, error))
            continue
        whom = asked.of_whom([*(contestant for contestant, _ in summaries), *skipped])
        judged = list(_judge(asked, whom, plan, grouped, summaries))
        found += judged or [_not_measured(asked, whom, skipped)]
    return found


def _judge(
    asked: _Asked,
    whom: Sequence[str],
    plan: Mapping[str, Any],
    grouped: Mapping[tuple[str, str], Sequence[TrialData]],
    summaries: Mapping[tuple[str, str], WorkloadSummary],
) -> Iterator[Requirement]:
    forms = list(map(Form.of, plan.get("starvation", [])))
    for (contestant, workload), summary in summaries.items():
        if contestant not in whom or asked.workload not in ("", workload):
            continue
        if asked.condition.quantity not in INDICES:
            measured = [data for data in grouped[contestant, workload] if data.usable]
            estimate = metrics.estimate(asked.condition.quantity, measured, asked.confidence)
            yield _requirement(asked, contestant, workload, estimate, [summary])
            continue
        for form in forms:
            if workload != form.beside and not (asked.workload and workload == form.alone):
                continue
            own = {w: group for (name, w), group in grouped.items() if name == contestant}
            own_cells = {w: c for (name, w), c in summaries.items() if name == contestant}
            if form.alone in own and form.beside in own:
                compared = compare(form, own, own_cells, [], asked.confidence)
                index = compared.index if asked.condition.quantity == INDICES[0] else compared.blocking
                both = [own_cells[form.alone], own_cells[form.beside]]
                yield _requirement(asked, contestant, form.beside, index, both)


def decide(condition: Condition, estimate: Estimate) -> Decision:
    """ "pass" where the condition surely holds, "fail" where it surely does not."""
    rule = Rule(high=condition.limit) if condition.below else Rule(low=condition.limit)
    answers: dict[Answer, Decision] = {"holds": "pass", "fails": "fail", "cannot tell": "cannot tell"}
    return answers[rule.judge(estimate)]


def _requirement(
    asked: _Asked, contestant: str, workload: str, estimate: Estimate, summaries: Sequence[WorkloadSummary]
) -> Requirement:
    condition = asked.condition
    verdict = decide(condition, estimate)
    message = f"{condition.quantity} {interval(estimate, condition.unit)}"
    if any(summary.verdict is Verdict.INVALID for summary in summaries):
        verdict, message = "cannot tell", distrusted("", message)
    elif estimate.this_run_only:
        message += f": of this run only; {TOO_FEW_ROUNDS}"
    elif verdict == "cannot tell" and estimate.value is not None and not estimate.note:
        message += ": the limit lies within the interval; more rounds would narrow it"
    return Requirement(
        condition.text, contestant, workload, asked.confidence, estimate, condition.limit, verdict, message
    )


def _unreadable(table: Mapping[str, Any], error: PlanError) -> Requirement:
    that, contestant, workload = (str(table.get(key, "")) for key in ("that", "contestant", "workload"))
    unknown = Estimate(None, unit="", note=error.message)
    return Requirement(that, contestant, workload, CONFIDENCE, unknown, 0.0, "cannot tell", error.message)


def _not_measured(asked: _Asked, whom: Sequence[str], skipped: Mapping[str, str]) -> Requirement:
    whys = [f"{name}: {why}" for name, why in skipped.items() if name in whom]
    message = "not measured" + (f" ({'; '.join(whys)})" if whys else "")
    nothing = Estimate(None, unit=asked.condition.unit, note=message)
    condition = asked.condition
    about = (asked.contestant, asked.workload)
    return Requirement(
        condition.text, *about, asked.confidence, nothing, condition.limit, "cannot tell", message
    )

"""The plan's `[[require]]`: pass or fail if the whole interval is on one side of a limit, else undecided."""

from collections.abc import Iterator, Mapping, Sequence

from jostle.analysis.judge.among_failures import lies_among_failures
from jostle.analysis.judge.differences import judge_difference
from jostle.analysis.judge.few_rounds import Judged, judged, judged_request
from jostle.analysis.results import Estimate, RequirementResult, WorkloadSummary
from jostle.analysis.results.rule import decide, distrusted
from jostle.analysis.stats.enough import TOO_FEW_ROUNDS
from jostle.analysis.stats.moderated import UsualOf
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sequential import ConfidenceRule, fixed
from jostle.analysis.topics.starvation.indices import compare, index_of, workloads_behind
from jostle.analysis.trials.data import TrialData, by_round, common_rounds
from jostle.analysis.trials.one_request import requests_named
from jostle.formatting import is_or_are, with_interval
from jostle.plan.criteria.conditions import INDICES
from jostle.plan.criteria.requirement import Requirement
from jostle.plan.labels import resolve_label
from jostle.plan.model import Starvation
from jostle.plan.recorded import RecordedPlan, Unreadable
from jostle.record.verdict import Verdict

__all__ = ["judge_requirements"]

DISTURBED = "other programs or the generator itself may have made it so; the first lines say by how much"
"""A disturbance makes figures worse and never better: what passes in spite of it passes."""

MORE_ROUNDS = "more rounds would narrow it"


def judge_requirements(
    plan: RecordedPlan,
    grouped: Mapping[tuple[str, str], Sequence[TrialData]],
    summaries: Mapping[tuple[str, str], WorkloadSummary],
    skipped: Mapping[str, str],
    skipped_workloads: Mapping[str, Mapping[str, str]],
    usual: UsualOf,
    confidence_rule: ConfidenceRule = fixed,
    round_s: float | None = None,
) -> list[RequirementResult]:
    """Every requirement for every cell that it is about; without measured cells the verdict is "undecided".

    Those that this version cannot read come last. `usual`: the spread that rounds usually have.
    `confidence_rule`: the correction for repeated looks. `round_s`: how long a round took, if known.
    """
    found: list[RequirementResult] = []
    for required in plan.require:
        known = [*(contestant for contestant, _ in summaries), *skipped]
        whom = resolve_label(required.contestant, known) if required.contestant else known
        if required.of_difference:
            first = next(iter(plan.contestants), "")
            judged = judge_difference(required, whom, first, grouped, summaries, usual, confidence_rule)
        else:
            judged = list(
                _judge(required, whom, plan.starvation, grouped, summaries, usual, confidence_rule, round_s)
            )
        found += judged or [_not_measured(required, whom, skipped, skipped_workloads)]
    return found + [_unreadable(one) for one in plan.unreadable if one.key == "require"]


def _judge(
    required: Requirement,
    whom: Sequence[str],
    forms: Sequence[Starvation],
    grouped: Mapping[tuple[str, str], Sequence[TrialData]],
    summaries: Mapping[tuple[str, str], WorkloadSummary],
    usual: UsualOf,
    confidence_rule: ConfidenceRule,
    round_s: float | None,
) -> Iterator[RequirementResult]:
    metric = required.condition.metric
    for (contestant, workload), summary in summaries.items():
        if contestant not in whom or required.workload not in ("", workload):
            continue
        measured = [data for data in grouped[contestant, workload] if data.usable]
        if required.part:
            if alone := requests_named(required.part, measured):
                figure = judged_request(
                    metric, alone, confidence_rule(required.confidence, len(alone)), usual
                )
                beyond = lies_among_failures(required.condition, alone, required.confidence)
                yield _requirement(required, contestant, workload, figure, [summary], round_s, beyond=beyond)
            continue
        if metric not in INDICES:
            figure = judged(metric, measured, confidence_rule(required.confidence, len(measured)), usual)
            beyond = lies_among_failures(required.condition, measured, required.confidence)
            yield _requirement(required, contestant, workload, figure, [summary], round_s, beyond=beyond)
            continue
        for form in forms:
            if workload != form.with_ and not (required.workload and workload == form.alone):
                continue
            own = {w: group for (name, w), group in grouped.items() if name == contestant}
            own_cells = {w: c for (name, w), c in summaries.items() if name == contestant}
            if form.alone in own and form.with_ in own:
                rounds = len(common_rounds(by_round(own[form.alone]), by_round(own[form.with_])))
                compared = compare(form, own, own_cells, [], confidence_rule(required.confidence, rounds))
                index = index_of(metric, compared)
                measured_cells = [own_cells[name] for name in workloads_behind(metric, compared)]
                yield _requirement(required, contestant, form.with_, Judged(index), measured_cells, round_s)


def _requirement(
    required: Requirement,
    contestant: str,
    workload: str,
    figure: Judged,
    summaries: Sequence[WorkloadSummary],
    round_s: float | None,
    *,
    beyond: bool = False,
) -> RequirementResult:
    condition, estimate = required.condition, figure.estimate
    verdict = decide(condition, estimate)
    message = f"{condition.metric} {is_or_are(condition.metric)} {with_interval(estimate, condition.unit)}"
    if figure.aside:
        message += f" ({figure.aside})"
    if any(summary.verdict_of(condition.metric) is Verdict.INVALID for summary in summaries):
        verdict, message = "undecided", distrusted("", message)
    elif beyond:
        verdict, message = "fail", f"{message}: it lies among the requests that failed"
    elif verdict == "fail" and any(condition.metric in summary.disturbed for summary in summaries):
        verdict, message = "undecided", f"{message}: {DISTURBED}"
    elif estimate.this_run_only:
        message += f" in this run; {TOO_FEW_ROUNDS}"
    elif verdict == "undecided" and estimate.value is not None and not estimate.note:
        more = figure.more_rounds(condition.limit, required.confidence, round_s) or MORE_ROUNDS
        message += f": the limit lies within the interval; {more}"
    about = (condition.text, contestant, workload, required.confidence)
    return RequirementResult(*about, estimate, condition.limit, verdict, message, part=required.part)


def _unreadable(one: Unreadable) -> RequirementResult:
    table = one.data if isinstance(one.data, dict) else {}
    that, contestant, workload = (str(table.get(key, "")) for key in ("that", "contestant", "workload"))
    unknown = Estimate(None, unit="", note=one.reason)
    return RequirementResult(that, contestant, workload, CONFIDENCE, unknown, 0.0, "undecided", one.reason)


def _not_measured(
    required: Requirement,
    whom: Sequence[str],
    skipped: Mapping[str, str],
    skipped_workloads: Mapping[str, Mapping[str, str]],
) -> RequirementResult:
    whys = [f"{name}: {why}" for name, why in skipped.items() if name in whom]
    for name, reasons in skipped_workloads.items():
        if name in whom and (why := reasons.get(required.workload)):
            whys.append(f"{name}: {why}")
    message = "it was not measured" + (f" ({'; '.join(whys)})" if whys else "")
    condition = required.condition
    unit, limit = ("ratio", 1.0) if required.of_difference else (condition.unit, condition.limit)
    nothing = Estimate(None, unit=unit, note=message)
    about = (required.contestant, required.workload)
    return RequirementResult(
        required.text, *about, required.confidence, nothing, limit, "undecided", message, part=required.part
    )

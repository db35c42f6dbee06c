"""How a run stands by some of its trials: its cells, and what its plan requires and claims of them.

Of all trials it is what the report says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jostle.analysis.judge.claims import Measurements, judge_claims, unreadable_claim
from jostle.analysis.judge.published import published_figures
from jostle.analysis.judge.requirements import judge_requirements
from jostle.analysis.judge.steered import claims_of_steered, requirements_of_steered
from jostle.analysis.results import (
    ClaimResult,
    PublishedFigure,
    RequirementResult,
    StarvationResult,
    Validity,
    WorkloadSummary,
)
from jostle.analysis.results.keys import Key
from jostle.analysis.stats.moderated import UsualOf
from jostle.analysis.stats.sequential import ConfidenceRule
from jostle.analysis.summaries.counted import counted
from jostle.analysis.summaries.looks import confidence_rule_of
from jostle.analysis.summaries.usual import usual_in
from jostle.analysis.summaries.workload import by_workload, summarize_all
from jostle.analysis.topics.modes import with_modes
from jostle.analysis.topics.requests.statuses import with_unlike_responses
from jostle.analysis.topics.starvation.indices import compare_all
from jostle.analysis.trials.data import TrialData
from jostle.plan.model import Starvation
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord

__all__ = ["Standing", "standing_of", "took_s"]


@dataclass(frozen=True)
class Standing:
    """What follows from the trials that count."""

    kept: Sequence[TrialData]
    """The trials that count."""
    grouped: Mapping[Key, Sequence[TrialData]]
    """The same by cell, in the plan's order."""
    validities: Mapping[int, Validity]
    """The verdicts of all trials, by their numbers, with what only a comparison of them shows."""
    usual: UsualOf
    """The spread that rounds usually have."""
    confidence_rule: ConfidenceRule
    """The correction for repeated looks."""
    skipped: Mapping[str, str]
    """Why contestants did not take part."""
    skipped_workloads: Mapping[str, Mapping[str, str]]
    """The same of single workloads."""
    summaries: Mapping[Key, WorkloadSummary]
    published: Sequence[PublishedFigure]
    starvation: Sequence[StarvationResult]
    requirements: Sequence[RequirementResult]
    claims: Sequence[ClaimResult]

    @property
    def steered(self) -> bool:
        """Whether the load of a trial was changed while it ran."""
        return any(one.steered for one in self.kept)


def standing_of(
    record: RunRecord,
    plan: RecordedPlan,
    data: Sequence[TrialData],
    validities: Mapping[int, Validity],
    *,
    distributions: bool,
) -> Standing:
    """`data`: trials of the run. `validities`: their verdicts, by their numbers.

    Without `distributions`, what only a picture needs is left out.
    """
    kept = counted(record, data, validities, plan)
    grouped = _in_order(by_workload(kept), plan, record)
    validities = with_modes(with_unlike_responses(validities, grouped), grouped)
    usual = usual_in(record, grouped)
    summaries = summarize_all(grouped, validities, plan, usual, distributions=distributions)
    skipped, skipped_workloads = _skipped(record), _skipped_workloads(record)
    published = published_figures(plan.published, grouped, usual)
    starvation = _starvation(plan.starvation, grouped, summaries, published)
    confidence_rule = confidence_rule_of(record, plan)
    requirements = judge_requirements(
        plan,
        grouped,
        summaries,
        skipped,
        skipped_workloads,
        usual,
        confidence_rule,
        _round_s(record, summaries),
    )
    measured = Measurements(
        grouped, summaries, starvation, skipped, skipped_workloads, plan.parameters, usual
    )
    claims = [
        *judge_claims(plan.claim, measured, confidence_rule),
        *(unreadable_claim(one) for one in plan.unreadable if one.key == "claim"),
    ]
    steered = any(one.steered for one in kept)
    return Standing(
        kept=kept,
        grouped=grouped,
        validities=validities,
        usual=usual,
        confidence_rule=confidence_rule,
        skipped=skipped,
        skipped_workloads=skipped_workloads,
        summaries=summaries,
        published=published,
        starvation=starvation,
        requirements=requirements_of_steered(requirements) if steered else requirements,
        claims=claims_of_steered(claims) if steered else claims,
    )


def _round_s(record: RunRecord, summaries: Mapping[Key, WorkloadSummary]) -> float | None:
    """How long a round took on average, in seconds, if that is known."""
    rounds, took = max((summary.rounds for summary in summaries.values()), default=0), took_s(record)
    return took / rounds if took and rounds else None


def took_s(record: RunRecord) -> float | None:
    """Time from the first event to the last one, in seconds; None if there are no events.

    Pauses before a resume are included, the turns of other runs are not.
    """
    events = [(e["at"], e["event"]) for e in record.journal if isinstance(e.get("at"), int)]
    if not events:
        return None
    times = [at for at, _ in events]
    waited = sum(after - at for (at, event), (after, _) in pairwise(events) if event == "run waits")
    return (max(times) - min(times) - waited) / 1e9


def _in_order(
    grouped: Mapping[Key, list[TrialData]], plan: RecordedPlan, record: RunRecord
) -> dict[Key, list[TrialData]]:
    """Cells by workload, then by contestant, in the plan's order; those that it does not have come last."""
    started = (e.get("contestants", []) for e in record.journal if e["event"] == "run started")
    workloads, contestants = list(plan.workload), next(started, [])

    def rank(key: Key) -> tuple[int, int]:
        contestant, workload = key
        return _place(workload, workloads), _place(contestant, contestants)

    return {key: grouped[key] for key in sorted(grouped, key=rank)}


def _place(name: str, known: list[str]) -> int:
    return known.index(name) if name in known else len(known)


def _skipped(record: RunRecord) -> dict[str, str]:
    return {
        str(e.get("contestant")): str(e.get("why", ""))
        for e in record.journal
        if e["event"] == "contestant skipped" and "workload" not in e
    }


def _skipped_workloads(record: RunRecord) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for e in record.journal:
        if e["event"] == "contestant skipped" and "workload" in e:
            found.setdefault(str(e.get("contestant")), {})[str(e["workload"])] = str(e.get("why", ""))
    return found


def _starvation(
    forms: Sequence[Starvation],
    grouped: Mapping[Key, Sequence[TrialData]],
    summaries: Mapping[Key, WorkloadSummary],
    published: Sequence[PublishedFigure],
) -> list[StarvationResult]:
    """Every form for every contestant that was measured in both of its workloads, form by form."""
    found = []
    for contestant in dict.fromkeys(name for name, _ in summaries):
        trials = {workload: group for (name, workload), group in grouped.items() if name == contestant}
        cells = {workload: cell for (name, workload), cell in summaries.items() if name == contestant}
        found += compare_all(forms, trials, cells, published)
    order = [form.form for form in forms]
    return sorted(found, key=lambda one: order.index(one.form))

"""One workload on one contestant, over all rounds."""

import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from jostle.analysis.results import Estimate, Validity, WorkloadSummary
from jostle.analysis.results.keys import Key
from jostle.analysis.stats.density import describe
from jostle.analysis.stats.moderated import UsualOf, spread_of
from jostle.analysis.stats.over_rounds import all_requests, quantiles_over_rounds, typical_over_rounds
from jostle.analysis.stats.sample import pool
from jostle.analysis.summaries.disturbed import share_lost, undisturbed
from jostle.analysis.summaries.quantiles import quantiles, quartiles
from jostle.analysis.summaries.trial import cpu_per_request, rss_max
from jostle.analysis.trials.data import PARTS, TrialData
from jostle.analysis.trials.statuses import statuses_of
from jostle.analysis.validity.figures import disturbed_figures, verdicts_of_figures
from jostle.plan.recorded import RecordedPlan
from jostle.record.outcomes import Outcome, error_share
from jostle.record.verdict import worst

__all__ = ["by_workload", "seed_of", "summarize", "summarize_all"]


def summarize(
    trials: Sequence[TrialData],
    validities: Sequence[Validity],
    title: str,
    usual: UsualOf,
    *,
    distributions: bool,
) -> WorkloadSummary:
    """Summarise at least one trial. Trials that are not usable count towards the verdict only."""
    first = trials[0].trial
    measured = [data for data in trials if data.usable]
    responses, services = [f.response for f in measured], [f.service for f in measured]
    outcomes: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for data in measured:
        outcomes.update(data.outcomes())
        for kind in {*data.outcomes(), Outcome.SCRIPT_FAILED}:
            reasons[kind].update(data.reasons(kind))
    cpu = [share for data in measured if (share := cpu_per_request(data)) is not None]
    return WorkloadSummary(
        contestant=first.contestant,
        workload=first.workload,
        title=title,
        rounds=len(measured),
        verdict=worst(validity.verdict for validity in validities),
        throughput=undisturbed(
            "throughput",
            typical_over_rounds(
                [data.throughput for data in measured], "/s", usual=spread_of(usual("throughput"))
            ),
            measured,
        ),
        response=quantiles(measured, usual=usual),
        service=quantiles(measured, service=True, usual=usual),
        quartiles=quartiles(measured, usual),
        response_of_all_requests=all_requests(responses),
        outcomes=dict(outcomes),
        error_share=error_share(outcomes),
        response_distribution=describe(pool(responses), shape=distributions),
        service_distribution=describe(pool(services), shape=distributions),
        server_cpu_s_per_request=typical_over_rounds(cpu, "s", usual=spread_of(usual("server cpu"))),
        server_rss_max_bytes=max((m for data in measured if (m := rss_max(data)) is not None), default=None),
        trials=[data.trial.number for data in trials],
        parts=_parts(measured),
        failures={kind: dict(texts.most_common()) for kind, texts in reasons.items() if texts},
        statuses=statuses_of(measured),
        kept_waiting=max(map(share_lost, measured), default=0.0),
        unavailable=_unavailable(measured),
        disturbed=disturbed_figures(validities),
        verdicts=verdicts_of_figures(validities),
    )


def _title(data: TrialData, plan: RecordedPlan) -> str:
    name = data.trial.workload
    return str(data.trial.description.get("title") or plan.workload_title(name) or name)


def summarize_all(
    grouped: Mapping[Key, Sequence[TrialData]],
    validities: Mapping[int, Validity],
    plan: RecordedPlan,
    usual: UsualOf,
    *,
    distributions: bool,
) -> dict[Key, WorkloadSummary]:
    """The summaries by contestant and workload; `validities` are by the trials' numbers."""
    return {
        key: summarize(
            group,
            [validities[f.trial.number] for f in group],
            _title(group[0], plan),
            usual,
            distributions=distributions,
        )
        for key, group in grouped.items()
    }


def _unavailable(measured: Sequence[TrialData]) -> float:
    whole_s = sum(data.duration_s for data in measured)
    return sum(data.unavailable * data.duration_s for data in measured) / whole_s if whole_s else 0.0


def _parts(measured: Sequence[TrialData]) -> dict[str, dict[str, Estimate]]:
    """Quantiles of each part that some request had, over the rounds in which one had it."""
    found = {part: [sample for data in measured if (sample := data.parts[part].whole).n] for part in PARTS}
    return {part: quantiles_over_rounds(samples) for part, samples in found.items() if samples}


def seed_of(*names: str) -> int:
    """A seed from `names` only, so that a record has the same intervals whatever else is analysed with it."""
    return zlib.crc32("\0".join(names).encode())


def by_workload(trials: Sequence[TrialData]) -> Mapping[Key, list[TrialData]]:
    """Trials by contestant and workload, in the order in which these first ran."""
    summaries: dict[Key, list[TrialData]] = {}
    for data in trials:
        summaries.setdefault((data.trial.contestant, data.trial.workload), []).append(data)
    return summaries

"""A whole run: every trial, every cell, every comparison, and the overall verdict.

result = analyse(RunRecord.open("runs/2026-11-21T18-52-34-starvation"))
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from jostle.analysis.compare.page import by_chance
from jostle.analysis.compare.pairs import with_the_first
from jostle.analysis.invalid_if import as_the_plan_says
from jostle.analysis.judge.claims import Measurements, judge_claims, unreadable_claim
from jostle.analysis.judge.published import published_figures
from jostle.analysis.judge.ratios import ratios
from jostle.analysis.judge.requirements import judge_requirements
from jostle.analysis.judge.steered import claims_of_steered, requirements_of_steered, steered_note
from jostle.analysis.notes import notes_of, of_the_generator
from jostle.analysis.results import (
    Check,
    PublishedFigure,
    RunResult,
    StarvationResult,
    TrialResult,
    Validity,
    WorkloadSummary,
)
from jostle.analysis.results.keys import Key
from jostle.analysis.resuming import finish
from jostle.analysis.summaries.counted import counted
from jostle.analysis.summaries.looks import confidence_rule_of
from jostle.analysis.summaries.trial import describe_trial
from jostle.analysis.summaries.usual import usual_in
from jostle.analysis.summaries.workload import by_workload, summarize_all
from jostle.analysis.topics.context import used_here
from jostle.analysis.topics.growing_load.phased import phased_loads
from jostle.analysis.topics.modes import with_modes
from jostle.analysis.topics.preceding_runs import earlier_runs
from jostle.analysis.topics.protocols.head_of_line import head_of_line
from jostle.analysis.topics.protocols.pings import pings
from jostle.analysis.topics.protocols.streams import streams
from jostle.analysis.topics.requests.goodput import goodputs
from jostle.analysis.topics.requests.journeys import journeys
from jostle.analysis.topics.requests.mix import requests
from jostle.analysis.topics.requests.statuses import with_unlike_responses
from jostle.analysis.topics.server.garbage import garbage_collections
from jostle.analysis.topics.server.threads import threads
from jostle.analysis.topics.starvation.indices import compare_all
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.checks import judge_data
from jostle.plan.model import Starvation
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord, TrialRecord
from jostle.record.verdict import Verdict, worst
from jostle.redaction.commands import rerun

__all__ = ["analyse", "judge", "rerun_of", "took_s"]

COMMANDS = ("capacity", "hit", "race", "run", "simulate")

CONTESTANT = ("title", "runtime", "version", "discipline", "variants", "lines_of_code")


def analyse(record: RunRecord, *, distributions: bool = True) -> RunResult:
    """Everything that a report shows.

    Without `distributions`, comparisons and what only a picture needs are left out, as they take the longest.
    """
    plan = RecordedPlan.parse(record.plan_text)
    data = [TrialData(trial) for trial in record.trials]
    trials = [_described(f) for f in data]
    validities = as_the_plan_says({trial.number: trial.validity for trial in trials}, data, plan)
    trials = [replace(trial, validity=validities[trial.number]) for trial in trials]
    kept = counted(record, data, validities, plan)
    grouped = _in_order(by_workload(kept), plan, record)
    trials = with_modes(with_unlike_responses(trials, grouped), grouped)
    validities = {trial.number: trial.validity for trial in trials}
    usual = usual_in(record, grouped)
    summaries = summarize_all(grouped, validities, plan, usual, distributions=distributions)
    skipped, skipped_workloads = _skipped(record), _skipped_workloads(record)
    published = published_figures(plan.published, grouped, usual)
    starvation = _starvation(plan.starvation, grouped, summaries, published)
    measured = Measurements(
        grouped, summaries, starvation, skipped, skipped_workloads, plan.parameters, usual
    )
    numbers = {one.trial.number for one in kept}
    reasons = _reasons([trial for trial in trials if trial.number in numbers], record)
    verdict = worst([*(summary.verdict for summary in summaries.values()), *_whole_run(record, trials)])
    confidence_rule = confidence_rule_of(record, plan)
    steered = any(one.steered for one in kept)
    comparisons = (
        with_the_first(grouped, summaries, plan.contestants, usual, plan.primary, confidence_rule)
        if distributions and not steered
        else []
    )
    round_s = _round_s(record, summaries)
    requirements = judge_requirements(
        plan, grouped, summaries, skipped, skipped_workloads, usual, confidence_rule, round_s
    )
    claims = [
        *judge_claims(plan.claim, measured, confidence_rule),
        *(unreadable_claim(one) for one in plan.unreadable if one.key == "claim"),
    ]
    return RunResult(
        title=plan.title,
        folder=str(record.folder),
        started=str(record.host.get("started", "")),
        complete=record.complete,
        incomplete_reason=record.incomplete_why,
        verdict=verdict,
        reasons=reasons,
        summaries=list(summaries.values()),
        trials=trials,
        starvation=starvation,
        published=published,
        contestants=_contestants(trials),
        skipped=skipped,
        skipped_workloads=skipped_workloads,
        host=dict(record.host),
        plan_text=record.plan_text,
        rerun=rerun_of(record),
        finish=finish(record),
        seed=int(record.host.get("seed") or 0),
        requirements=requirements_of_steered(requirements) if steered else requirements,
        comparisons=comparisons,
        claims=claims_of_steered(claims) if steered else claims,
        setup=used_here(data, plan.parameters, record.host) if plan.published else [],
        published_setup=plan.published.setup.strip() if plan.published else "",
        article=_web_address(plan.published.url if plan.published else ""),
        took_s=took_s(record),
        ratios=ratios(plan.ratio, grouped, published, usual),
        threads=threads(grouped, published),
        earlier=earlier_runs(grouped),
        garbage=garbage_collections(grouped),
        journeys=journeys(grouped, usual),
        requests=requests(grouped, usual),
        streams=streams(grouped),
        pings=pings(grouped),
        head_of_line=head_of_line(grouped),
        goodputs=goodputs(grouped),
        behaviour=record.explained,
        phased_loads=phased_loads(grouped, {key: summary.title for key, summary in summaries.items()}),
        of_the_generator=of_the_generator(data, record.host),
        notes=[
            *notes_of(record, plan, data, kept, confidence_rule),
            *filter(None, [by_chance(comparisons), steered_note(kept, judged=bool(requirements or claims))]),
        ],
    )


def _described(data: TrialData) -> TrialResult:
    """Describe a trial and free its evidence, as a run may have thousands of trials in memory."""
    described = describe_trial(data)
    data.forget_evidence()
    return described


def _web_address(text: str) -> str:
    """`text` if it is a web address, else nothing: a record of unknown origin may say anything here."""
    return text if text.startswith(("http://", "https://")) else ""


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


def _round_s(record: RunRecord, summaries: Mapping[Key, WorkloadSummary]) -> float | None:
    """How long a round took on average, in seconds, if that is known."""
    rounds, took = max((summary.rounds for summary in summaries.values()), default=0), took_s(record)
    return took / rounds if took and rounds else None


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


def judge(trial: TrialRecord) -> Validity:
    """Whether this trial can be trusted."""
    return judge_data(TrialData(trial))


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


def _whole_run(record: RunRecord, trials: Sequence[TrialResult]) -> list[Verdict]:
    if not trials:
        return [Verdict.INVALID]
    return [] if record.complete else [Verdict.SUSPECT]


def _reasons(trials: Sequence[TrialResult], record: RunRecord) -> list[str]:
    """What a reader must know first; each check of a cell once, for its worst round, with how many."""
    failed: dict[tuple[str, str, str], list[Check]] = {}
    for trial in trials:
        for check in (*trial.validity.failed, *trial.validity.notable):
            failed.setdefault((trial.contestant, trial.workload, check.name), []).append(check)
    rounds: dict[tuple[str, str], int] = {}
    for trial in trials:
        rounds[trial.contestant, trial.workload] = rounds.get((trial.contestant, trial.workload), 0) + 1
    alone = len(trials) == 1
    reasons = []
    worst_of = {key: max(checks, key=lambda check: check.severity) for key, checks in failed.items()}
    for key, check in sorted(worst_of.items(), key=lambda item: -item[1].verdict.rank):
        contestant, workload, _ = key
        total = rounds[contestant, workload]
        times = f" ({len(failed[key])} of {total} rounds)" if total > 1 else ""
        reasons.append(check.message if alone else f"{contestant}, {workload}{times}: {check.message}")
    if not trials:
        reasons.insert(0, "nothing was measured")
    if not record.complete:
        reasons.append(f"the run is not complete: {record.incomplete_why}")
    return reasons


def _contestants(trials: Sequence[TrialResult]) -> dict[str, dict[str, Any]]:
    """What is known about each contestant, from whichever trial knows it: a failed start knows little."""
    found: dict[str, dict[str, Any]] = {}
    for trial in trials:
        about = found.setdefault(trial.contestant, dict.fromkeys(CONTESTANT, ""))
        about |= {key: trial.server[key] for key in CONTESTANT if trial.server.get(key) and not about[key]}
    return found


def rerun_of(record: RunRecord) -> str:
    """The command as it was typed, with its seed; if that is not known, one that runs the folder's plan."""
    argv = [str(word) for word in record.host.get("argv", [])]
    if len(argv) < 2 or argv[1] not in COMMANDS:
        argv = ["jostle", "run", str(record.folder / "plan.toml")]
    return rerun(argv, record.host.get("seed"))

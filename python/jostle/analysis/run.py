"""A whole run: every trial, every cell, every comparison, and the overall verdict.

result = analyse(RunRecord.open("runs/2026-11-21T18-52-34-starvation"))
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jostle.analysis.compare.page import by_chance
from jostle.analysis.compare.pairs import with_the_first
from jostle.analysis.invalid_if import as_the_plan_says
from jostle.analysis.judge.ratios import ratios
from jostle.analysis.judge.steered import steered_note
from jostle.analysis.notes import notes_of, of_the_generator
from jostle.analysis.results import (
    Check,
    RunResult,
    TrialResult,
    Validity,
)
from jostle.analysis.resuming import finish
from jostle.analysis.standing import standing_of, took_s
from jostle.analysis.summaries.trial import describe_trial
from jostle.analysis.topics.context import used_here
from jostle.analysis.topics.growing_load.phased import phased_loads
from jostle.analysis.topics.preceding_runs import earlier_runs
from jostle.analysis.topics.protocols.head_of_line import head_of_line
from jostle.analysis.topics.protocols.pings import pings
from jostle.analysis.topics.protocols.streams import streams
from jostle.analysis.topics.requests.goodput import goodputs
from jostle.analysis.topics.requests.journeys import journeys
from jostle.analysis.topics.requests.mix import requests
from jostle.analysis.topics.server.garbage import garbage_collections
from jostle.analysis.topics.server.threads import threads
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.checks import judge_data
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord, TrialRecord
from jostle.record.verdict import Verdict, worst
from jostle.redaction.commands import rerun

__all__ = ["analyse", "judge", "rerun_of"]

COMMANDS = ("capacity", "hit", "race", "run", "simulate")

CONTESTANT = ("title", "runtime", "version", "discipline", "variants", "lines_of_code")


def analyse(record: RunRecord, *, distributions: bool = True) -> RunResult:
    """Everything that a report shows.

    Without `distributions`, comparisons and what only a picture needs are left out, as they take the longest.
    """
    plan = RecordedPlan.parse(record.plan_text)
    data = [TrialData(trial) for trial in record.trials]
    described = [_described(f) for f in data]
    validities = as_the_plan_says({trial.number: trial.validity for trial in described}, data, plan)
    standing = standing_of(record, plan, data, validities, distributions=distributions)
    trials = [replace(trial, validity=standing.validities[trial.number]) for trial in described]
    grouped, summaries, usual = standing.grouped, standing.summaries, standing.usual
    numbers = {one.trial.number for one in standing.kept}
    reasons = _reasons([trial for trial in trials if trial.number in numbers], record)
    verdict = worst([*(summary.verdict for summary in summaries.values()), *_whole_run(record, trials)])
    comparisons = (
        with_the_first(grouped, summaries, plan.contestants, usual, plan.primary, standing.confidence_rule)
        if distributions and not standing.steered
        else []
    )
    judged = bool(standing.requirements or standing.claims)
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
        starvation=list(standing.starvation),
        published=list(standing.published),
        contestants=_contestants(trials),
        skipped=dict(standing.skipped),
        skipped_workloads={name: dict(whys) for name, whys in standing.skipped_workloads.items()},
        host=dict(record.host),
        plan_text=record.plan_text,
        rerun=rerun_of(record),
        finish=finish(record),
        seed=int(record.host.get("seed") or 0),
        requirements=list(standing.requirements),
        comparisons=comparisons,
        claims=list(standing.claims),
        setup=used_here(data, plan.parameters, record.host) if plan.published else [],
        published_setup=plan.published.setup.strip() if plan.published else "",
        article=_web_address(plan.published.url if plan.published else ""),
        took_s=took_s(record),
        ratios=ratios(plan.ratio, grouped, standing.published, usual),
        threads=threads(grouped, standing.published),
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
            *notes_of(record, plan, data, standing.kept, standing.confidence_rule),
            *filter(None, [by_chance(comparisons), steered_note(standing.kept, judged=judged)]),
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


def judge(trial: TrialRecord) -> Validity:
    """Whether this trial can be trusted."""
    return judge_data(TrialData(trial))


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

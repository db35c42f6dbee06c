"""How a run stands while it goes on: by its trials that are over, and before that by the first one so far."""

from collections.abc import Sequence
from dataclasses import replace

from jostle.analysis.invalid_if import as_the_plan_says
from jostle.analysis.results import Validity
from jostle.analysis.standing import Standing, standing_of
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.checks import judge_data
from jostle.errors import NotARun
from jostle.live.followed import Attempt, FollowedRun, TrialPlace
from jostle.live.trial import RunningTrial
from jostle.plan.criteria.requirement import Requirement
from jostle.quantiles import LEVELS, NAMED
from jostle.record import RunRecord, TrialRecord

__all__ = ["MAX_TRIALS", "StandingSoFar"]

MAX_TRIALS = 500
"""Of a run with more trials than this, nothing is judged while it goes on: what each measured stays in
memory."""

OVER = ("ended", "failed", "cut short")

FOLDED = {
    *NAMED,
    *(f"service {level}" for level in LEVELS),
    *("min", "max", "mean", "spread", "quartile spread"),
    *("throughput", "errors", "unavailable", "memory", "server cpu"),
}
"""Metrics that follow from what is known of a trial while it runs."""


class StandingSoFar:
    """Each trial is analysed once, when it is over."""

    def __init__(self, run: FollowedRun) -> None:
        self._run = run
        self._plan = run.plan
        self._over: dict[Attempt, tuple[TrialData, Validity]] = {}

    @property
    def judges(self) -> bool:
        """Whether there is anything to be said: several trials, something that is required or claimed."""
        trials = len(self._run.state.trials)
        return trials <= MAX_TRIALS and bool(trials > 1 or self._plan.require or self._plan.claim)

    def trials_over(self) -> Sequence[TrialPlace]:
        """Those that are, by number."""
        return [place for place in self._run.state.trials if place.status in OVER]

    def by_trials(self, places: Sequence[TrialPlace]) -> Standing | None:
        """By trials that are over; None if none of them can be read."""
        keys = {place.key for place in places}
        self._over = {key: known for key, known in self._over.items() if key in keys}
        for place in places:
            if place.key not in self._over and (one := self._read(place)) is not None:
                self._over[place.key] = one, judge_data(one)
                one.forget_evidence()
        known = [self._over[place.key] for place in places if place.key in self._over]
        if not known:
            return None
        data = [one for one, _ in known]
        validities = as_the_plan_says(
            {one.trial.number: validity for one, validity in known}, data, self._plan
        )
        return standing_of(self._now(), self._plan, data, validities, distributions=False)

    def by_running(self, running: RunningTrial) -> Standing | None:
        """By a trial that still runs: those requirements that can be judged so far; None without such."""
        state, require = running.state(), [one for one in self._plan.require if _is_folded(one)]
        if state is None or not require:
            return None
        plan = replace(self._plan, require=require, claim=[], starvation=[], published=None, unreadable=[])
        validities = {running.record.number: state.validity}
        return standing_of(self._now(), plan, [running.data], validities, distributions=False)

    def _now(self) -> RunRecord:
        """The record with its journal as it is now."""
        return RunRecord.open(self._run.folder)

    def _read(self, place: TrialPlace) -> TrialData | None:
        """None for a trial that left nothing, or is damaged: the report says so."""
        try:
            trial = self._run.trial(place.number)
            if trial is None:
                return None
            record = TrialRecord(trial.folder)
            record.check()
        except NotARun:
            return None
        return TrialData(record)


def _is_folded(one: Requirement) -> bool:
    return not one.of_difference and one.condition.metric in FOLDED

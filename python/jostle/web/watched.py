"""A trial that somebody watches: what is known of it, as it is drawn."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

from jostle.analysis.trials.marks import of_lost
from jostle.errors import NotARun
from jostle.live.column import Column
from jostle.live.followed import MAX_AT_ONCE, FollowedTrial, TrialPlace
from jostle.live.one_request import FollowedRequest, RequestKey
from jostle.live.state import TrialState
from jostle.live.trial import RunningTrial
from jostle.record import RunRecord, TrialRecord
from jostle.report.trial_data import as_marks
from jostle.web.current_load import CurrentLoad
from jostle.web.drawn import drawn_trial
from jostle.web.limits import limits_of

__all__ = ["WatchedTrial"]


class WatchedTrial:
    """Read on by `read`. What is drawn is drawn once for all who watch."""

    def __init__(self, run: RunRecord, trial: FollowedTrial) -> None:
        self._run, self._trial = run, trial
        self._requests: dict[RequestKey, FollowedRequest] = {}
        self._over = False
        self.damage = ""
        """Why no more can be said of it."""
        self.known: tuple[TrialState, Mapping[str, Any]] | None = None
        """Its state, and how all but its columns is drawn; None before the first interval."""

    @property
    def behind(self) -> bool:
        """Whether there is more to be read at once."""
        return not self.damage and (self._trial.behind or any(map(self._is_behind, self._requests)))

    def _is_behind(self, request: RequestKey) -> bool:
        return self._requests[request].intervals < self._trial.intervals

    def alone(self, request: RequestKey) -> Sequence[Column] | None:
        """The columns of a request by itself; None if they are not known as far as those of all."""
        if request not in self._requests or self._is_behind(request):
            return None
        return self._requests[request].columns()

    @property
    def running(self) -> RunningTrial | None:
        """What is known of it; None before the first interval, or if it cannot be read."""
        return None if self.known is None else self._trial.running

    def read(self, place: TrialPlace, requests: Collection[RequestKey]) -> bool:
        """Whether there was anything new. `place`: what the journal says of it. `requests`: those that
        somebody wants alone; others are forgotten.
        """
        if self.damage:
            return False
        try:
            new = self._read(place)
            new |= self._read_requests(requests)
        except NotARun as error:
            self.damage = error.message
            return True
        self.damage = self.damage or self._trial.damage
        return new or bool(self.damage)

    def _read(self, place: TrialPlace) -> bool:
        new = self._trial.read()
        over = place.status == "ended" and not self._trial.behind
        if not new and over == self._over:
            return False
        self._over = over
        state = self._trial.running.state()
        if state is None:
            if over:
                raise NotARun(self._trial.damage or f"trial {place.number} has no interval that can be read")
            return False
        final = self._judged if over else None
        drawn = drawn_trial(state, self._trial, self._limits, final)
        load = None if self._load is None else self._load.now(state)
        marks = as_marks(sorted({*state.marks, *of_lost(place.lost)}, key=lambda mark: mark.at_s))
        self.known = state, {"number": place.number, "load": load, "marks": marks, **drawn}
        return True

    def _read_requests(self, wanted: Collection[RequestKey]) -> bool:
        for key in self._requests.keys() - set(wanted):
            del self._requests[key]
        before = [request.intervals for request in self._requests.values()]
        for key in wanted:
            request = self._requests.setdefault(key, FollowedRequest(self._trial.folder, key))
            request.read(self._trial.intervals, MAX_AT_ONCE)
        return before != [request.intervals for request in self._requests.values()]

    @cached_property
    def _limits(self) -> Sequence[Mapping[str, Any]]:
        return limits_of(self._run, self._trial.running.record)

    @cached_property
    def _load(self) -> CurrentLoad | None:
        return CurrentLoad.of(self._trial.running.record)

    @cached_property
    def _judged(self) -> Any:
        """The verdict on the whole trial, as in its report; None if it is damaged."""
        from jostle.analysis.run import judge

        try:
            return judge(TrialRecord(self._trial.folder))
        except NotARun as error:
            self.damage = error.message
            return None

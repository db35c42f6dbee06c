"""How a run stands, as a page draws it: looked at when a trial is over, and never for much of the time."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

from jostle.analysis.results import ClaimResult, RequirementResult, WorkloadSummary
from jostle.analysis.standing import Standing
from jostle.errors import BadValue, NotARun
from jostle.formatting import formatted, percent
from jostle.live.followed import FollowedRun, TrialPlace
from jostle.live.standing import StandingSoFar
from jostle.live.trial import RunningTrial
from jostle.report.document import Mark
from jostle.report.sections.verdict_marks import claim_mark, decision_mark, verdict_mark
from jostle.web.searched import SearchSoFar

__all__ = ["WatchedStanding"]

PART = 0.01
"""The share of the time that looks may take while the run goes on: a viewer may cost 2 % of a core in all."""

MIN_PAUSE_S = 1.0


class WatchedStanding:
    """What is drawn of it changes with `look`."""

    def __init__(self, run: FollowedRun) -> None:
        self._run = run
        self._so_far = StandingSoFar(run)
        self._search = _search_of(run)
        self._seen: object = None
        self._next = 0.0
        self._ended = False
        self.drawn: Mapping[str, Any] = {"judged": [], "tables": []}

    def due(self, running: RunningTrial | None) -> bool:
        """Whether there is anything new to be looked at, and time for it."""
        if not self._so_far.judges or (self._going and monotonic() < self._next):
            return False
        return self._to_see(running) not in (None, self._seen)

    @property
    def final(self) -> bool:
        """Whether it stays as it is: the run is over, and all of it was looked at."""
        nothing = not self._going and not self._so_far.trials_over()
        return self._ended or nothing or not self._so_far.judges

    @property
    def by_trials(self) -> bool:
        """Whether a look is at trials that are over, and not at the first one while it runs."""
        return bool(self._so_far.trials_over())

    def look(self, running: RunningTrial | None) -> bool:
        """Whether there is anything new to be told. `running`: the trial that runs, if it is watched."""
        before, began, self._seen = self.drawn, monotonic(), self._to_see(running)
        going, places = self._going, self._so_far.trials_over()
        with contextlib.suppress(NotARun):  # the folder is gone, or is damaged: the page says so elsewhere
            standing = None
            if self._search is not None:
                self.drawn = {"judged": [], "tables": [self._search.table(places, self._running)]}
            elif places:
                standing = self._so_far.by_trials(places)
            elif running is not None:
                standing = self._so_far.by_running(running)
            if standing is not None:
                self.drawn = _drawn(standing, so_far=going, several=len(self._run.state.trials) > 1)
        now = monotonic()
        self._next = now + max(MIN_PAUSE_S, (now - began) / PART)
        self._ended = not going
        return self._ended or self.drawn != before

    @property
    def _going(self) -> bool:
        return self._run.state.status == "running"

    @property
    def _running(self) -> TrialPlace | None:
        """The trial that runs, whoever watches it."""
        return next((place for place in self._run.state.trials if place.status == "running"), None)

    def _to_see(self, running: RunningTrial | None) -> object:
        if places := self._so_far.trials_over():
            return places, self._going, self._search and self._running
        return running and running.over_s


def _search_of(run: FollowedRun) -> SearchSoFar | None:
    """None if the run is no search for a capacity, or what must hold cannot be read."""
    with contextlib.suppress(BadValue):
        search = SearchSoFar(run)
        return search if search.slos else None
    return None


def _drawn(standing: Standing, *, so_far: bool, several: bool) -> Mapping[str, Any]:
    """Requirements and claims as marks with sentences, contestants as a table."""
    requirements = [_requirement(one, so_far=so_far) for one in standing.requirements]
    return {
        "judged": [*requirements, *(_claim(one, so_far=so_far) for one in standing.claims)],
        "tables": [_cells(list(standing.summaries.values()), so_far=so_far)] if several else [],
    }


def _requirement(one: RequirementResult, *, so_far: bool) -> Mapping[str, str]:
    about = f" ({one.about})" if one.about else ""
    return _statement(decision_mark(one.verdict), f"{one.that}{about}", one.message, so_far=so_far)


def _claim(one: ClaimResult, *, so_far: bool) -> Mapping[str, str]:
    return _statement(claim_mark(one.verdict), one.statement, one.sentence, so_far=so_far)


def _statement(mark: Mark, that: str, why: str, *, so_far: bool) -> Mapping[str, str]:
    """`so_far`: whether more may follow."""
    yet = "" if not so_far else " yet" if mark.word == "undecided" else " so far"
    return {"symbol": mark.symbol, "word": f"{mark.word}{yet}", "tone": mark.tone, "that": that, "why": why}


def _cells(summaries: Sequence[WorkloadSummary], *, so_far: bool) -> Mapping[str, Any]:
    return {
        "title": "Contestants so far" if so_far else "Contestants",
        "said": "By the trials that are over." if so_far else "",
        "columns": ["workload", "rounds", "answered", "p50", "p99", "failed", "verdict"],
        "rows": [[*_cell(one)] for one in summaries],
    }


def _cell(one: WorkloadSummary) -> Iterator[str]:
    yield one.contestant
    yield one.workload
    yield str(one.rounds)
    for estimate in (one.throughput, one.response["p50"], one.response["p99"]):
        yield str(formatted(estimate))
    yield percent(one.error_share)
    yield str(verdict_mark(one.verdict))

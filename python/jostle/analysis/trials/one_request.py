"""One request of a trial that sends several, or one step of its journeys, by itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from jostle.analysis.stats.quantile_ci import autocorrelation_time
from jostle.analysis.stats.sample import EMPTY, WeightedSample, pool
from jostle.analysis.trials.data import MEASURED, TrialData, longer_than
from jostle.analysis.trials.lateness import Effect, effects_of_lateness
from jostle.record.outcomes import Outcome, failures

__all__ = ["OneRequest", "requests_named"]


@dataclass(frozen=True)
class OneRequest:
    """What a trial recorded of one request."""

    data: TrialData
    index: int
    """Its place in the workload."""
    once: bool = False
    """It is a step that each client does once, which is recorded apart from the workload."""

    @property
    def name(self) -> str:
        return str(self.data.workload()["requests"][self.index]["name"])

    @property
    def recorded_in(self) -> int:
        """The number of the workload under which it is recorded."""
        return self.data.apart if self.once and self.data.apart is not None else MEASURED

    @cached_property
    def outcomes(self) -> dict[str, int]:
        """Number of requests by outcome, without the zeros."""
        return self.data.outcomes(self.recorded_in, self.index)

    @property
    def statuses(self) -> Mapping[str, int]:
        """Number of right responses by status."""
        return self.data.statuses(self.recorded_in, self.index)

    @property
    def ok(self) -> int:
        return self.outcomes.get(Outcome.OK, 0)

    @property
    def failed(self) -> int:
        """Requests that failed, and those that an outage kept from being sent."""
        return sum(failures(self.outcomes).values()) + self._missed

    @property
    def ended(self) -> int:
        """Requests that came to an end of their own, and those that an outage kept from being sent."""
        return self.ok + self.failed

    @property
    def _missed(self) -> int:
        """Its share of what clients of a closed loop did not send because the server was away."""
        every = self.data.ok()
        return round(self.data.missed * self.ok / every) if every and not self.once else 0

    @property
    def per_s(self) -> float:
        """Right responses per second."""
        return self.ok / self.data.duration_s if self.data.duration_s else 0.0

    @cached_property
    def response(self) -> WeightedSample:
        """Its response times, as `TrialData.response` has those of all requests."""
        sample = self.data.times_of("response", self.index, self.recorded_in)
        return pool([sample, replace(EMPTY, never=self._missed)]) if self._missed else sample

    @property
    def never_answered(self) -> int:
        """As `TrialData.never_answered`, of this request alone."""
        return self._times("failed").n + self._missed

    @cached_property
    def lateness(self) -> Mapping[str, Effect]:
        """As `TrialData.lateness`, of this request alone."""
        return effects_of_lateness(
            self.response, self._times("response"), self._times("service"), self._times("pacing")
        )

    def autocorrelation_time(self, value_s: float) -> float:
        """τ of "its response takes longer than this"; 1 if no rows were kept."""
        rows = self.data.rows_by_request.get(self.name)
        if rows is None:
            return 1.0
        return autocorrelation_time(longer_than(rows, value_s))

    def _times(self, measure: str) -> WeightedSample:
        return self.data.recorded_of(measure, self.index, self.recorded_in)


def requests_named(name: str, trials: Sequence[TrialData]) -> list[OneRequest]:
    """The request or the step of this name, in each trial that has it."""
    return [one for data in trials for one in _all_of(data) if one.name == name]


def _all_of(data: TrialData) -> Iterator[OneRequest]:
    steps = [step for journey in data.workload().get("journeys", []) for step in journey.get("steps", [])]
    once = {step["request"] for step in steps if step["once"] is not None and data.apart is not None}
    for index in range(len(data.workload().get("requests", []))):
        yield OneRequest(data, index, once=index in once)

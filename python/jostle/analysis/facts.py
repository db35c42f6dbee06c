"""What one trial measured, gathered once from its record."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle.analysis.histograms import EMPTY, Floats, Sample, from_histograms, pool
from jostle.analysis.quantiles import autocorrelation_time
from jostle.record import TrialRecord

if TYPE_CHECKING:
    import polars

__all__ = ["BACKGROUND", "ENDED_BY_STOP", "GAVE_UP", "MEASURED", "Facts", "by_round"]

MEASURED, BACKGROUND = 0, 1
"""Numbers of the two workloads of a trial."""

GAVE_UP = ("connect_timeout", "response_timeout", "never_sent", "unfinished")
"""Outcomes of which the response time is known to be longer, and no more."""

ENDED_BY_STOP = ("never_sent", "unfinished")
"""Not failures: the run ended first."""


@dataclass(frozen=True)
class Facts:
    """One trial. Times in seconds from its start; all is about the measured workload unless it says so."""

    trial: TrialRecord

    @cached_property
    def intervals(self) -> list[dict[str, Any]]:
        return self.trial.intervals

    @property
    def host(self) -> Mapping[str, Any]:
        """The machine that the run was made on, with its limits."""
        return self.trial.host

    @property
    def whole(self) -> bool:
        """The engine's last interval was recorded: every request that began is accounted for.

        Not where a generator died with requests in hand.
        """
        lost = self.trial.generators_lost
        return bool(self.intervals) and bool(self.intervals[-1]["last"]) and not lost

    @property
    def duration_s(self) -> float:
        return float(self.intervals[-1]["end_ns"]) / 1e9 if self.intervals else 0.0

    @property
    def usable(self) -> bool:
        """It did not fail, and recorded something."""
        return self.trial.status != "failed" and bool(self.intervals)

    @property
    def planned_s(self) -> float | None:
        """None where the trial ends after a number of requests."""
        duration_ns = self._spec.get("duration_ns")
        return None if duration_ns is None else float(duration_ns) / 1e9

    @property
    def _spec(self) -> Mapping[str, Any]:
        return self.trial.description.get("engine") or {}

    def workload(self, number: int = MEASURED) -> Mapping[str, Any]:
        """Its WorkloadSpec; empty where the trial has none of that number."""
        workloads: Sequence[Mapping[str, Any]] = self._spec.get("workloads", [])
        return workloads[number] if number < len(workloads) else {}

    @property
    def has_background(self) -> bool:
        return self.workload(BACKGROUND) != {}

    @property
    def closed(self) -> Mapping[str, Any] | None:
        """The ClosedSpec of a closed loop."""
        spec: Mapping[str, Any] | None = self.workload().get("load", {}).get("closed")
        return spec

    @property
    def open(self) -> Mapping[str, Any] | None:
        """The OpenSpec of an open loop."""
        spec: Mapping[str, Any] | None = self.workload().get("load", {}).get("open")
        return spec

    def think_s(self) -> float:
        """The mean think time of a closed loop; 0 in an open one."""
        think = (self.closed or {}).get("think", "none")
        if think == "none":
            return 0.0
        ((kind, spec),) = think.items()
        if kind == "list":
            return float(np.mean(spec["ns"])) / 1e9
        return float(spec["mean_ns" if kind == "exponential" else "ns"]) / 1e9

    @property
    def steady_load(self) -> bool:
        """The load is meant to be the same from the start to the end."""
        if self.closed is not None:
            return not self.closed.get("phases")
        rates = (self.open or {}).get("rates", [])
        return len(rates) == 1 and rates[0]["from"] == rates[0]["to"]

    def series(self, workload: int = MEASURED, request: int | None = None) -> list[dict[str, Any]]:
        """All series of a workload (of one request name), interval by interval."""
        return [
            series
            for interval in self.intervals
            for series in interval["series"]
            if series["workload"] == workload and request in (None, series["request"])
        ]

    def outcomes(self, workload: int = MEASURED, request: int | None = None) -> dict[str, int]:
        """Requests by how they ended, without the zeros."""
        total: Counter[str] = Counter()
        for series in self.series(workload, request):
            total.update(series["outcomes"])
        return {kind: count for kind, count in total.items() if count}

    def ok(self, workload: int = MEASURED) -> int:
        return self.outcomes(workload).get("ok", 0)

    @property
    def errors(self) -> dict[str, int]:
        """Failures by kind; what the end of the run cut off is none."""
        return {k: n for k, n in self.outcomes().items() if k != "ok" and k not in ENDED_BY_STOP}

    @property
    def error_share(self) -> float:
        """Failures among all requests that came to an end of their own."""
        failed = sum(self.errors.values())
        return failed / (failed + self.ok()) if failed else 0.0

    def total(self, what: str, workload: int = MEASURED) -> int:
        """Sum over the intervals of a counter of the workload's state ("due", "sent", "in_flight_ns", …)."""
        return sum(state.get(what, 0) for state in self.states(workload))

    def states(self, workload: int = MEASURED) -> list[dict[str, int]]:
        """The workload's state, interval by interval."""
        return [i["workloads"][workload] for i in self.intervals if workload < len(i["workloads"])]

    @property
    def lengths_s(self) -> Floats:
        """Length of each interval, never 0."""
        return np.array([max(1, i["end_ns"] - i["start_ns"]) / 1e9 for i in self.intervals])

    @property
    def throughputs(self) -> Floats:
        """Successes per second, interval by interval."""
        ok = [sum(s["outcomes"].get("ok", 0) for s in _measured(interval)) for interval in self.intervals]
        return np.array(ok, dtype=float) / self.lengths_s if ok else np.zeros(0)

    @property
    def throughput(self) -> float:
        return self.ok() / self.duration_s if self.duration_s else 0.0

    @cached_property
    def generator_cpu(self) -> float:
        """Share of one core that the busiest thread of the generator used."""
        return max(self.generator_cpus, default=0.0)

    @cached_property
    def generator_cpus(self) -> list[float]:
        """Share of one core of each thread, generator after generator."""
        threads = zip(*(interval["threads"] for interval in self.intervals), strict=True)
        return [
            sum(t["cpu_ns"] for t in thread) / wall if (wall := sum(t["wall_ns"] for t in thread)) else 0.0
            for thread in threads
        ]

    @cached_property
    def response_by_interval(self) -> list[Sample]:
        """Response times of the successes, interval by interval."""
        return list(self._by_interval("response"))

    @cached_property
    def given_up(self) -> Sample:
        """Requests that failed or were cut off, censored where they were given up."""
        found = (h for m in ("censored", "failed") for h in self.trial.interval_histograms(m))
        return from_histograms([], (h for h in found if h is not None))

    @cached_property
    def response(self) -> Sample:
        """Response times, with the failed and the unfinished as censored."""
        return pool([*self.response_by_interval, self.given_up])

    @cached_property
    def service(self) -> Sample:
        """Service times of the successes."""
        return pool(self._by_interval("service"))

    @cached_property
    def pacing(self) -> Sample:
        """How late the generator's own code ran; empty where nothing was paced."""
        return pool(self.pacing_by_interval)

    @cached_property
    def pacing_by_interval(self) -> list[Sample]:
        return list(self._by_interval("pacing"))

    def _by_interval(self, measure: str) -> Iterator[Sample]:
        found = self.trial.interval_histograms(measure, MEASURED)
        return (EMPTY if histogram is None else from_histograms([histogram]) for histogram in found)

    def request_response(self, request: int) -> Sample:
        """Response times of one request name, as `response`."""
        found = {m: self.trial.histogram(m, MEASURED, request) for m in ("response", "censored", "failed")}
        return from_histograms([found["response"]], [found["censored"], found["failed"]])

    @cached_property
    def vitals(self) -> list[dict[str, Any]]:
        """Samples of the server's process tree; empty where it was not watched."""
        return self.trial.server_vitals()

    @cached_property
    def rows(self) -> "polars.DataFrame | None":
        """A row per request, in order of intended start; None where they were not kept."""
        rows = self.trial.rows()
        return None if rows is None else rows.sort("intended_ns")

    def autocorrelation_time(self, value_s: float) -> float:
        """τ of "the response takes longer than this", from the rows; 1 where there are none."""
        if self.rows is None:
            return 1.0
        longer = (self.rows["end_ns"] - self.rows["intended_ns"]) > round(value_s * 1e9)
        return autocorrelation_time((longer | (self.rows["outcome"] != "ok")).to_numpy().astype(float))


def by_round(trials: Iterable[Facts]) -> dict[int, Facts]:
    """The usable ones of one contestant and workload, by round."""
    return {facts.trial.round: facts for facts in trials if facts.usable}


def _measured(interval: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [series for series in interval["series"] if series["workload"] == MEASURED]

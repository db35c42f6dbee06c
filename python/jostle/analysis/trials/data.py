"""What one trial measured, gathered once from its record."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle.analysis.results import Phase
from jostle.analysis.stats.quantile_ci import autocorrelation_time, quantile_estimate
from jostle.analysis.stats.sample import (
    EMPTY,
    Bools,
    Floats,
    WeightedSample,
    cut_off,
    from_histograms,
    pool,
    pool_by_key,
    quantile_of,
)
from jostle.analysis.trials.counters import BACKGROUND, MEASURED, Counts
from jostle.analysis.trials.failing import clients_s, missed
from jostle.analysis.trials.kept_waiting import KeptWaiting
from jostle.analysis.trials.lateness import Effect, effects_of_lateness
from jostle.analysis.trials.machine import MachineSeries
from jostle.analysis.trials.outage import Outage, away_at_least_s, away_s, outages, within
from jostle.analysis.trials.resource_usage import ResourceUsage
from jostle.analysis.trials.streaming import Folded, SampleFigure, Timelines, fold, timelines_by_request
from jostle.quantiles import NAMED
from jostle.record import TrialRecord
from jostle.record.layout import SteeredEntry
from jostle.record.outcomes import Outcome, error_share, failures

if TYPE_CHECKING:
    from jostle.histogram import Histogram
    from jostle.record.row_columns import Rows

__all__ = [
    "BACKGROUND",
    "MEASURED",
    "PARTS",
    "QUANTILES",
    "TrialData",
    "by_round",
    "common_rounds",
    "longer_than",
]

PARTS = ("connect", "dns", "tcp", "tls", "headers", "body")

LONG = 100
"""Fewest intervals of a trial that is checked for whether it settled."""

EVIDENCE = ("rows", "pacings", "machine")

MAX_ROWS = 200_000
"""Most per-request rows that are read: 5 MB of each trial, however long it is."""

FEW_RESPONSES = 30
"""Responses per client that are few: with more, what the end cuts off is less than 2 % of the throughput."""

MIN_INTERVALS_OF_PILE = 3
"""Fewest intervals with which requests can be seen to pile up."""

PILE, PILED_UP = 20, 1.2
"""In an overload, at least `PILE` requests wait at the end, and at least `PILED_UP` times as many as ever in
the first three quarters. With a steady queue the end is seldom higher, and if so only quantiles among those
requests become "≥"."""

FILLED = 0.9
"""Background requests that run for more than this share of an interval fill it."""

QUANTILES: Mapping[str, SampleFigure] = {
    "p50": partial(quantile_of, p=NAMED["p50"]),
    "p99": partial(quantile_of, p=NAMED["p99"]),
    "max": partial(quantile_of, p=1.0),
}

PART_FIGURES: Mapping[str, SampleFigure] = {
    "mean": lambda sample: sample.mean_s,
    "deviation": lambda sample: sample.deviation_s,
    "p99": QUANTILES["p99"],
}


@dataclass(frozen=True)
class TrialData:
    """One trial. Times are in seconds from its start; the workload is the measured one unless stated."""

    trial: TrialRecord

    @cached_property
    def counts(self) -> Counts:
        """What was counted, interval by interval and in total."""
        return Counts.of(self.trial.intervals)

    @property
    def host(self) -> Mapping[str, Any]:
        """The machine that the run was made on, with its limits."""
        return self.trial.host

    @property
    def whole(self) -> bool:
        """Whether the engine's last interval was recorded, so that every request is accounted for.

        False if a generator died with requests in flight.
        """
        lost = self.trial.generators_lost
        return self.recorded and bool(self.counts.last[-1]) and not lost

    @property
    def recorded(self) -> bool:
        """Whether there is at least one interval."""
        return len(self.counts.end_ns) > 0

    @property
    def duration_s(self) -> float:
        return float(self.counts.end_ns[-1]) / 1e9 if self.recorded else 0.0

    @property
    def usable(self) -> bool:
        """Whether it did not fail and recorded something."""
        return self.trial.status != "failed" and self.recorded

    @property
    def planned_s(self) -> float | None:
        """Planned duration; None if the trial ends after a number of requests."""
        duration_ns = self._spec.get("duration_ns")
        return None if duration_ns is None else float(duration_ns) / 1e9

    @property
    def _spec(self) -> Mapping[str, Any]:
        return self.trial.description.get("engine") or {}

    def workload(self, number: int = MEASURED) -> Mapping[str, Any]:
        """The WorkloadSpec of a workload; empty if the trial has none of that number."""
        workloads: Sequence[Mapping[str, Any]] = self._spec.get("workloads", [])
        return workloads[number] if number < len(workloads) else {}

    @property
    def has_background(self) -> bool:
        return self.workload(BACKGROUND) != {}

    @property
    def background_clients(self) -> int:
        """How many clients send the background's requests."""
        return int((self.workload(BACKGROUND).get("load", {}).get("closed") or {}).get("clients", 1))

    @property
    def on_journeys(self) -> bool:
        """Whether clients go through the steps of journeys instead of sending single requests."""
        return bool(self.workload().get("journeys"))

    @property
    def apart(self) -> int | None:
        """The workload number under which steps that each client does once are recorded; None without such.

        In an open loop every arrival is a new client, and its steps are like all others.
        """
        steps = (step for journey in self.workload().get("journeys", []) for step in journey["steps"])
        if self.closed is None or all(step["once"] is None for step in steps):
            return None
        return len(self._spec["workloads"])

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

    @property
    def most_connections(self) -> float:
        """Most connections of an open loop: `max_connections` counts clients, and each may have several."""
        each = max(
            (journey.get("connections", 1) for journey in self.workload().get("journeys") or ()), default=1
        )
        return float(each * (self.open or {}).get("max_connections", math.inf))

    def think_s(self) -> float:
        """The mean think time of a closed loop; 0 in an open one."""
        return self._think[0]

    def think_deviation_s(self) -> float:
        """The standard deviation of the think times."""
        return self._think[1]

    @property
    def _think(self) -> tuple[float, float]:
        think = (self.closed or {}).get("think", "none")
        if think == "none":
            return 0.0, 0.0
        ((kind, spec),) = think.items()
        if kind == "list":
            return float(np.mean(spec["ns"])) / 1e9, 0.0  # in turn, so their sum does not vary by chance
        if kind == "exponential":
            return float(spec["mean_ns"]) / 1e9, float(spec["mean_ns"]) / 1e9
        mean = float(spec["ns"]) / 1e9
        return mean, mean * float(spec.get("spread", 0.0)) / math.sqrt(3)

    @cached_property
    def steered(self) -> Sequence[SteeredEntry]:
        """How the load was changed while it ran."""
        return self.trial.steered

    @property
    def steady_load(self) -> bool:
        """Whether the load is meant to be the same from start to end, and was."""
        if self.steered:
            return False
        if self.closed is not None:
            return not self.closed.get("phases")
        rates = (self.open or {}).get("rates", [])
        return len(rates) == 1 and rates[0]["from"] == rates[0]["to"]

    @property
    def settles(self) -> bool:
        """Whether the trial is so long, and its load so constant, that the figures should settle."""
        return self.steady_load and not self.has_background and len(self.counts.end_ns) >= LONG

    @cached_property
    def phases(self) -> list[Phase]:
        """The phases as planned, up to the end of the trial; empty if the load is the same throughout, or was
        changed while it ran.
        """
        steps = (self.closed or {}).get("phases") or (self.open or {}).get("rates") or []
        lengths_s = [(step.get("duration_ns") or 0) / 1e9 for step in steps]
        if len(steps) < 2 or 0 in lengths_s[:-1] or self.steered:
            return []
        ends = list(itertools.accumulate(lengths_s))
        ends[-1] = self.duration_s
        found = [
            Phase(str(step.get("name") or number), start, min(end, self.duration_s))
            for number, (step, start, end) in enumerate(zip(steps, [0.0, *ends], ends, strict=False), 1)
        ]
        return [phase for phase in found if phase.end_s > phase.start_s]

    def within(self, phases: Iterable[Phase]) -> Bools:
        """For each interval, whether its middle lies in one of the phases."""
        found = np.zeros(len(self.middles_s), dtype=np.bool_)
        for phase in phases:
            found |= (phase.start_s <= self.middles_s) & (self.middles_s < phase.end_s)
        return found

    def outcomes(self, workload: int = MEASURED, request: int | None = None) -> dict[str, int]:
        """Number of requests (of one request name) by outcome, without the zeros."""
        found = self.counts.outcomes.get((workload, request), {})
        return {kind: count for kind, count in found.items() if count}

    def statuses(self, workload: int = MEASURED, request: int | None = None) -> Mapping[str, int]:
        """Number of right responses (to one request name) by status; empty for an older record."""
        return self.counts.statuses.get((workload, request), {})

    def reasons(self, kind: str, workload: int = MEASURED) -> Mapping[str, int]:
        """The reasons for an outcome with their numbers; for a wrong status, the code is the reason."""
        return self.counts.reasons.get((workload, kind), {})

    def scripts_failed(self, workload: int = MEASURED) -> int:
        """Number of journeys that their script ended, after a request or before the first one."""
        counted = self.outcomes(workload).get(Outcome.SCRIPT_FAILED, 0)  # all of them in an old record
        return max(counted, sum(self.reasons(Outcome.SCRIPT_FAILED, workload).values()))

    def ok(self, workload: int = MEASURED) -> int:
        return self.outcomes(workload).get(Outcome.OK, 0)

    @property
    def errors(self) -> dict[str, int]:
        """Failures by kind; requests cut off by the end of the run are not failures."""
        return failures(self.outcomes())

    @property
    def error_share(self) -> float:
        """Failures among all requests that came to an end of their own."""
        return error_share(self.outcomes())

    @cached_property
    def outages(self) -> list[Outage]:
        """When the server was away, in order."""
        times = self.responses.whole.values_s
        longest_s = float(times[-1]) if len(times) else 0.0
        return outages(self.counts, None if self.has_background else longest_s)

    @property
    def unavailable(self) -> float:
        """The share of the trial in which the server was away."""
        return away_s(self.outages) / self.duration_s if self.duration_s else 0.0

    @property
    def unavailable_at_least(self) -> float:
        """The share of it in which the server surely was: until requests no longer failed."""
        return away_at_least_s(self.outages) / self.duration_s if self.duration_s else 0.0

    @cached_property
    def failing_time_share(self) -> float:
        """Failures as a share of the requests or, in a closed loop, of its clients' time if that is more."""
        return max(self.error_share, self._failing_time)

    @property
    def ended(self) -> int:
        """Requests that came to an end of their own."""
        return self.ok() + sum(self.errors.values())

    @property
    def failing(self) -> int:
        """How many of the `ended` requests count as failed: `failing_time_share` of them."""
        return round(self.failing_time_share * self.ended)

    @property
    def _failing_time(self) -> float:
        """The share of its clients' time in which they waited for failures or the server was away."""
        whole_s = clients_s(self.counts)
        if self.closed is None or not whole_s.sum() or not (self.errors or self.outages):
            return 0.0
        inside = within(self.counts, self.outages)
        outside, ended = ~inside, np.arange(len(inside)) < len(inside) - 1  # the stop gives up the last ones
        failing_s = whole_s[inside].sum() + self.spent_s("failed")[outside].sum()
        failing_s += self.spent_s("censored")[outside & ended].sum()
        return min(1.0, float(failing_s / whole_s.sum()))

    def merged(self, measure: str) -> "Histogram":
        """All times (µs) recorded of a measure."""
        return self.trial.histogram(measure)

    def spent_s(self, measure: str) -> Floats:
        """The sum of the times recorded of a measure, interval by interval."""
        histograms = self.trial.interval_histograms(measure)
        return np.array([0.0 if one is None else from_histograms([one]).total_s for one in histograms])

    def total(self, what: str, workload: int = MEASURED) -> int:
        """Sum over the intervals of a counter of the workload ("due", "sent", "busy_sum_ns", …)."""
        return self.counts.totals.get(workload, {}).get(what, 0)

    @property
    def middles_s(self) -> Floats:
        """Middle of each interval."""
        return np.asarray((self.counts.start_ns + self.counts.end_ns) / 2e9)

    @property
    def lengths_s(self) -> Floats:
        """Length of each interval, never 0."""
        return np.asarray(np.maximum(1, self.counts.end_ns - self.counts.start_ns) / 1e9)

    @property
    def throughputs(self) -> Floats:
        """Successes per second, interval by interval."""
        return np.asarray(self.counts.ok / self.lengths_s)

    @property
    def throughput(self) -> float:
        """Successes per second.

        With few responses in a closed loop, the time of the requests that the end cut off is left out: it is
        part of no response, and with five responses per client it would take 9 % off.
        """
        seconds = self.duration_s
        clients = (self.closed or {}).get("clients", 0)
        if clients and self.steady_load and 0 < self.ok() < FEW_RESPONSES * clients:
            cut_off = from_histograms([], [self.merged("censored")])
            longest = self.responses.whole.values_s[-1]
            waits = cut_off.n_censored and cut_off.values_s[-1]
            if cut_off.n_censored <= clients and waits <= longest:  # else they are blocked or timed out
                seconds -= cut_off.total_s / clients
        return self.ok() / seconds if seconds > 0 else 0.0

    @property
    def busy_poll(self) -> bool:
        """Whether the generator polled for responses and due times instead of sleeping."""
        return self._spec.get("busy_poll", self._spec.get("attentive")) is True

    @cached_property
    def generator_cpu(self) -> float:
        """Share of one core that the busiest thread of the generator used; polling does not count."""
        return max(self.generator_cpus, default=0.0)

    @property
    def generator_cpus(self) -> list[float]:
        """Share of one core of each thread, generator after generator."""
        return [cpu_ns / wall_ns if wall_ns else 0.0 for cpu_ns, wall_ns in self.counts.threads]

    @property
    def filled(self) -> Bools:
        """For each interval, whether every background client had a request running for nearly all of it."""
        running_s = self.counts.background_in_flight_ns / 1e9 / self.background_clients
        return np.asarray(running_s > FILLED * self.lengths_s)

    @cached_property
    def responses(self) -> Folded:
        """Response times of the successes; the only part is the intervals filled by background requests."""
        figures = dict(QUANTILES)
        if self.settles:
            figures["p99 to settle"] = lambda sample: quantile_estimate(sample, 0.99).value
        parts = [self.filled] if self.has_background else []
        return fold(self.trial.interval_histograms("response"), parts, figures)

    @cached_property
    def given_up(self) -> WeightedSample:
        """Requests that failed or were cut off, with how long they took until then."""
        return from_histograms([], [self.merged(m) for m in ("censored", "failed")])

    @cached_property
    def response(self) -> WeightedSample:
        """Response times; requests given up are censored, failed ones lie beyond every time.

        So do those that clients of a closed loop did not send because the server was away.
        """
        given_up = self.waits(from_histograms([], [self.merged("censored")]))
        return pool([self.responses.whole, given_up, replace(EMPTY, never=self.never_answered)])

    @cached_property
    def never_answered(self) -> int:
        """Requests that failed for good, and those that a closed loop's clients did not send in an outage."""
        return self.merged("failed").total + self.missed

    @cached_property
    def missed(self) -> int:
        """Requests that a closed loop's clients did not send in an outage."""
        if self.closed is None:
            return 0
        return missed(self.counts, self.outages, within(self.counts, self.outages))

    def waits(self, given_up: WeightedSample) -> WeightedSample:
        """Requests of the measured workload that were given up, with what their waits tell of a time.

        In an overload that the stop cut off, that is only that they were the slowest.
        """
        return cut_off(given_up) if self.overloaded else given_up

    @cached_property
    def overloaded(self) -> bool:
        """Whether requests of an open loop pile up: more of them wait at its end than ever before.

        The requests that the end cuts off are then the slowest, and not a random sample. Taking them for one
        makes quantiles too low (Kaplan-Meier assumes that censoring has nothing to do with the time).
        """
        counts = self.counts
        if self.open is None or len(counts.due) < MIN_INTERVALS_OF_PILE:
            return False
        waiting = np.cumsum(counts.due - counts.ok - counts.failed)
        before = int(waiting[: 3 * len(waiting) // 4].max())
        return bool(waiting[-1] >= max(PILE, PILED_UP * before))

    @cached_property
    def service(self) -> WeightedSample:
        """Service times of the successes."""
        return from_histograms([self.merged("service")])

    @property
    def pacing(self) -> WeightedSample:
        """How late the generator's own code ran; empty if nothing was paced."""
        return self.pacings.whole

    @cached_property
    def pacings(self) -> Folded:
        return fold(self.trial.interval_histograms("pacing"), figures={"p99": QUANTILES["p99"]})

    @cached_property
    def lateness(self) -> Mapping[str, Effect]:
        """What the generator's lateness does to each figure of response times; empty if nothing was paced."""
        return effects_of_lateness(self.response, self.responses.whole, self.service, self.pacing)

    @cached_property
    def parts(self) -> Mapping[str, Folded]:
        """How long each of `PARTS` of a request took, with the phases of the load as parts of the time."""
        masks = [self.within([phase]) for phase in self.phases]
        figures = PART_FIGURES if self.phases else {}
        return {part: fold(self.trial.interval_histograms(part), masks, figures) for part in PARTS}

    def part_within(self, part: str, phase: Phase) -> WeightedSample:
        """How long one of `PARTS` took in a phase.

        Those of the trial's own phases are at hand; a phase of another trial may end at another time.
        """
        wanted = self.within([phase])
        for own, sample in zip(self.phases, self.parts[part].parts, strict=True):
            if np.array_equal(self.within([own]), wanted):
                return sample
        return fold(self.trial.interval_histograms(part), [wanted]).parts[0]

    def times_of(self, measure: str, request: int, workload: int = MEASURED) -> WeightedSample:
        """Times of one request name; those given up are censored, failed ones lie beyond every time."""
        times, censored, lost = (
            self.recorded_of(name, request, workload) for name in (measure, "censored", "failed")
        )
        given_up = censored.as_censored()
        given_up = self.waits(given_up) if workload == MEASURED else given_up
        return pool([times, given_up, replace(EMPTY, never=lost.n)])

    def recorded_of(self, measure: str, number: int, workload: int = MEASURED) -> WeightedSample:
        """All times recorded of a measure for one request, or one journey.

        The first call reads those of all requests: a list may have thousands.
        """
        key = measure, workload
        if key not in self._by_request:
            histograms = self.trial.histograms_by_request(measure, workload)
            self._by_request[key] = pool_by_key((of, from_histograms([one])) for _, of, one in histograms)
        return self._by_request[key].get(number, EMPTY)

    @cached_property
    def _by_request(self) -> dict[tuple[str, int], Mapping[int, WeightedSample]]:
        """What `recorded_of` has read, by measure and workload."""
        return {}

    def figures_of(self, measure: str, request: int) -> Timelines:
        """`QUANTILES` of a measure of streams in each interval. Reads all requests at first."""
        if measure not in self._figures:
            histograms = self.trial.histograms_by_request(measure, MEASURED)
            self._figures[measure] = timelines_by_request(histograms, len(self.middles_s), QUANTILES)
        return self._figures[measure][request]

    @cached_property
    def _figures(self) -> dict[str, Mapping[int, Timelines]]:
        """What `figures_of` has read, by measure."""
        return {}

    @cached_property
    def resource_usage(self) -> ResourceUsage:
        """Resource usage of the server's process tree; without samples if it was not watched."""
        return ResourceUsage.of(self.trial.server_usage())

    @cached_property
    def machine(self) -> MachineSeries:
        """What the machine did during the trial."""
        ours = self.trial.server.get("pid") is not None
        return MachineSeries.of(self.trial.machine(), server_is_ours=ours)

    @cached_property
    def kept_waiting(self) -> KeptWaiting:
        """For what share of the time others had the cores of server and generator."""
        return KeptWaiting.of(self)

    @cached_property
    def backlog_drops(self) -> int:
        """Connection attempts that the server's backlog was too full for; 0 if that is not known."""
        return round(float(np.nansum(self.machine.backlog_drops)))

    @cached_property
    def rows(self) -> "Rows | None":
        """Times and outcomes of the requests in the middle of the trial, in order of intended start.

        None if they were not kept.
        """
        rows = self.trial.rows(["intended_ns", "sent_ns", "end_ns", "outcome"], at_most=MAX_ROWS)
        return None if rows is None else rows.sorted_by("intended_ns")

    def forget_evidence(self) -> None:
        """Free what only the verdict needed: rows alone are megabytes. It is read again when needed again."""
        self.backlog_drops, self.kept_waiting  # noqa: B018 (kept, while the samples of the machine go)
        for name in EVIDENCE:
            self.__dict__.pop(name, None)

    @cached_property
    def rows_by_request(self) -> "Mapping[str, Rows]":
        """The same of each request by its name; empty if they were not kept."""
        rows = self.trial.rows(["request", "intended_ns", "end_ns", "outcome"], at_most=MAX_ROWS)
        if rows is None:
            return {}
        ordered = rows.sorted_by("intended_ns")
        return {name: ordered.chosen(ordered.are("request", name)) for name in ordered.names["request"]}

    def autocorrelation_time(self, value_s: float) -> float:
        """τ of "the response takes longer than this", from `rows`; 1 if there are none."""
        if self.rows is None:
            return 1.0
        return autocorrelation_time(longer_than(self.rows, value_s))


def longer_than(rows: "Rows", value_s: float) -> Floats:
    """1 for each request that was answered later than this after it was due, or not at all; else 0."""
    longer = (rows["end_ns"] - rows["intended_ns"]) > round(value_s * 1e9)
    return np.asarray(longer | ~rows.are("outcome", Outcome.OK.value), dtype=np.float64)


def by_round(trials: Iterable[TrialData]) -> dict[int, TrialData]:
    """The usable trials of one contestant and workload, by round."""
    return {data.trial.round: data for data in trials if data.usable}


def common_rounds(*cells: Mapping[int, TrialData]) -> list[int]:
    """The rounds that all of these cells had, in order. `cells`: as `by_round` returns them; at least one."""
    return sorted(set.intersection(*({*rounds} for rounds in cells)))

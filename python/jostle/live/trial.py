"""One trial while it runs, folded from its intervals. The memory it takes does not grow with its length."""

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle.analysis.results import Estimate, Mark, Validity
from jostle.analysis.stats.quantile_ci import quantile_estimate, quantile_estimates
from jostle.analysis.stats.sample import EMPTY, Floats, WeightedSample, from_histograms
from jostle.analysis.trials.counters import MEASURED, Counts, Tally
from jostle.analysis.trials.data import PARTS, QUANTILES, TrialData
from jostle.analysis.trials.machine import MachineSeries
from jostle.analysis.trials.marks import marks_of
from jostle.analysis.trials.resource_usage import ResourceUsage
from jostle.analysis.trials.streaming import Folded
from jostle.analysis.validity.checks import judge_so_far
from jostle.histogram import Histogram
from jostle.live.column import Column, Columns
from jostle.live.growing import MAX_REQUESTS, GrowingParts, Times, times_in
from jostle.live.parts import Parts, parts_of
from jostle.live.samples import GrowingSamples
from jostle.live.span import WHOLE, Span
from jostle.live.state import Cpu, Rates, TrialState, Usage
from jostle.record import TrialRecord
from jostle.record.layout import STEERED, MachineEntry, ResourceSample, SteeredEntry

if TYPE_CHECKING:
    from jostle.record.row_columns import Rows

__all__ = ["RunningData", "RunningTrial"]

MEASURES = ("response", "service", "headers", "pacing", "censored", "failed")

CORES = ("server_cores", "generator_cores", "peer_cores")

SPENT = ("censored", "failed")
"""Measures of which the sum of each interval is kept."""

REFRESHED_S, MAX_REFRESHED_S, SHARE_BEFORE = 1.0, 4.0, 0.05
"""Figures of the whole trial, and the verdict, take time, and follow at a distance: at least the first, at
most the second, in between this share of what is over, by which they can hardly have changed."""

LATELY = 5
"""Samples of the last second."""

MAX_ROWS = 4096
"""Of more intervals than this, each two are counted as one."""

NS = 1_000_000_000

NOT_WATCHED = Cpu(server=None, database=None, machine=None, generator=0.0, cores=0)


class RunningTrial:
    """What `add` was given of one trial, and what follows from it."""

    def __init__(self, record: TrialRecord, within: Span = WHOLE, max_requests: int = MAX_REQUESTS) -> None:
        """`record`: its description must be on disk. `within`: the part of it that is read, if not all.

        `max_requests`: up to how many requests are followed one by one.
        """
        self.record = record
        self.tally = Tally()
        self.sums = {measure: Histogram() for measure in MEASURES}
        self.spent_s = {measure: array("d") for measure in SPENT}
        self.server = GrowingSamples(record.folder / "server.ndjson", ResourceSample, within)
        self.database = GrowingSamples(record.folder / "database.ndjson", ResourceSample, within)
        self.machine = GrowingSamples(record.folder / "machine.ndjson", MachineEntry, within)
        steered: Any = SteeredEntry  # a union
        self.steered = GrowingSamples[SteeredEntry](record.folder / STEERED, steered)
        data = TrialData(record)
        self.growing = GrowingParts(len(data.workload().get("requests") or ()) <= max_requests)
        self._workloads = {MEASURED} if data.apart is None else {MEASURED, data.apart}
        self._columns = Columns()
        self._last: _LastInterval | None = None
        self._whole: _Whole | None = None
        self._used, self._used_at_s = NOT_WATCHED, -math.inf

    def add(self, interval: Mapping[str, Any]) -> None:
        """Add the next interval: as it was recorded, with its histograms whole."""
        self.tally.add(interval)
        times = list(times_in(interval, MEASURES, self._workloads))
        found = {measure: _histogram(times, measure) for measure in MEASURES}
        self.growing.add(interval, times)
        for measure, histogram in found.items():
            if histogram is not None:
                self.sums[measure].add(histogram)
        for measure, column in self.spent_s.items():
            column.append(_sample(found[measure]).total_s)
        self._last = _LastInterval.of(interval, found, self.tally.busiest[-1])
        self._columns.add(self._last.column)
        if len(self.tally.busiest) == MAX_ROWS:
            self.tally.halve()
            for measure, column in self.spent_s.items():
                self.spent_s[measure] = array("d", np.array(column).reshape(-1, 2).sum(axis=1).tolist())

    def state(self) -> TrialState | None:
        """What is known so far; None before the first interval."""
        last = self._last
        if last is None:
            return None
        over_s = last.column.end_s
        distance_s = min(MAX_REFRESHED_S, max(REFRESHED_S, SHARE_BEFORE * over_s))
        if self._whole is None or last.is_last or over_s >= self._whole.at_s + distance_s:
            self._whole = _Whole.of(RunningData(self.record, self), over_s)
        if last.is_last or over_s >= self._used_at_s + REFRESHED_S:
            self._used, self._used_at_s = self._cpu(), over_s
        whole = self._whole
        return TrialState(
            over_s=over_s,
            planned_s=whole.planned_s,
            rates=last.rates if whole.open else replace(last.rates, offered_per_s=None),
            rates_so_far=whole.rates,
            in_flight=last.in_flight,
            not_sent=last.not_sent,
            times=whole.times,
            latest=last.times,
            late_s=whole.late_s,
            outcomes={kind: n for kind, n in self.tally.outcomes[MEASURED, None].items() if n},
            cpu=replace(self._used, generator=self.tally.busiest[-1]),
            columns=self._columns.whole(),
            each=self._columns.each,
            overloaded=whole.overloaded,
            steered=whole.steered,
            marks=whole.marks,
            validity=whole.validity,
            parts=whole.parts,
        )

    @property
    def over_s(self) -> float | None:
        """How much of its load is over; None before the first interval."""
        return None if self._last is None else self._last.column.end_s

    @property
    def data(self) -> "RunningData":
        """The trial as the analysis sees it, as of the last `state`."""
        assert self._whole is not None, "there is no state yet"
        return self._whole.data

    def usage(self) -> Mapping[str, Usage]:
        """Cores in use so far by "server", "database" and "machine", as far as they are watched."""
        found: dict[str, Usage] = {}
        for name, samples in (("server", self.server), ("database", self.database)):
            times_s, cores, _ = ResourceUsage.of(samples.read()).line()
            found[name] = Usage(times_s, cores)
        machine = MachineSeries.of(self.machine.read(), server_is_ours=True)
        middles_s, cores_of = (machine.start_s + machine.end_s) / 2, machine.busy_s / machine.length_s
        found["machine"] = Usage(middles_s.tolist(), cores_of.tolist())
        return {name: usage for name, usage in found.items() if usage.times_s}

    def _cpu(self) -> Cpu:
        machine = MachineSeries.of(self.machine.read()[-LATELY:], server_is_ours=True)
        placement: Mapping[str, Any] = self.record.description.get("placement", {})
        length_s = float(machine.length_s.sum())
        return Cpu(
            server=_cores(self.server),
            database=_cores(self.database),
            machine=float(machine.busy_s.sum()) / length_s if length_s else None,
            generator=self.tally.busiest[-1],
            cores=len({core for name in CORES for core in placement.get(name) or ()}),
        )


@dataclass(frozen=True)
class RunningData(TrialData):
    """A running trial as the analysis sees it: its checks read what was folded, and not the growing files."""

    running: RunningTrial

    @cached_property
    def counts(self) -> Counts:
        return self.running.tally.counts()

    def merged(self, measure: str) -> Histogram:
        return self.running.sums[measure]

    def recorded_of(self, measure: str, number: int, workload: int = MEASURED) -> WeightedSample:
        return self.running.growing.recorded_of(measure, number, workload)

    def spent_s(self, measure: str) -> Floats:
        return np.array(self.running.spent_s[measure])

    @cached_property
    def steered(self) -> Sequence[SteeredEntry]:
        return self.running.steered.read()

    @cached_property
    def rows(self) -> None:
        """None: they are still written."""

    @cached_property
    def rows_by_request(self) -> "Mapping[str, Rows]":
        return {}

    @cached_property
    def responses(self) -> Folded:
        return self._folded("response")

    @cached_property
    def pacings(self) -> Folded:
        return self._folded("pacing")

    @cached_property
    def parts(self) -> Mapping[str, Folded]:
        """Only the time to the headers is folded while a trial runs."""
        return {**dict.fromkeys(PARTS, Folded(EMPTY, [], {})), "headers": self._folded("headers")}

    def _folded(self, measure: str) -> Folded:
        return Folded(from_histograms([self.merged(measure)]), [], {})

    @cached_property
    def resource_usage(self) -> ResourceUsage:
        return ResourceUsage.of(self.running.server.read())

    @cached_property
    def machine(self) -> MachineSeries:
        ours = self.trial.server.get("pid") is not None
        return MachineSeries.of(self.running.machine.read(), server_is_ours=ours)


@dataclass(frozen=True)
class _Whole:
    """What follows from all of a trial so far, and takes longer than the rest of a state."""

    data: RunningData
    at_s: float
    planned_s: float | None
    open: bool
    rates: Rates
    times: Mapping[str, Estimate]
    late_s: float | None
    overloaded: bool
    steered: Sequence[SteeredEntry]
    marks: Sequence[Mark]
    validity: Validity
    parts: Parts

    @classmethod
    def of(cls, data: RunningData, at_s: float) -> "_Whole":
        is_open = data.open is not None
        return cls(
            data=data,
            at_s=at_s,
            planned_s=data.planned_s,
            open=is_open,
            rates=Rates(
                data.total("due") / at_s if is_open else None, data.total("sent") / at_s, data.throughput
            ),
            times=quantile_estimates(data.response),
            late_s=quantile_estimate(data.pacing, 0.99).value,
            overloaded=data.overloaded,
            steered=data.steered,
            marks=marks_of(data),
            validity=judge_so_far(data),
            parts=parts_of(data, data.running.growing),
        )


@dataclass(frozen=True)
class _LastInterval:
    """What only the last interval says."""

    is_last: bool
    column: Column
    rates: Rates
    times: Mapping[str, float | None]
    in_flight: int
    not_sent: int

    @classmethod
    def of(
        cls, interval: Mapping[str, Any], histograms: Mapping[str, Histogram | None], generator: float
    ) -> "_LastInterval":
        states = interval["workloads"]
        state: Mapping[str, int] = states[MEASURED] if states else {}
        length_s = max(1, interval["end_ns"] - interval["start_ns"]) / NS
        sample = _sample(histograms["response"])
        rates = Rates(
            state.get("due", 0) / length_s, state.get("sent", 0) / length_s, sample.n_events / length_s
        )
        return cls(
            interval["last"],
            Column.of(interval, histograms, generator),
            rates,
            {name: figure(sample) for name, figure in QUANTILES.items()},
            state.get("in_flight", 0),
            state.get("backlog", 0),
        )


def _histogram(times: Sequence[Times], measure: str) -> Histogram | None:
    """What the measured workload recorded of a measure within one interval; None for nothing."""
    found = [one.histogram for one in times if (one.workload, one.measure) == (MEASURED, measure)]
    if len(found) < 2:
        return found[0] if found else None
    whole = Histogram()
    for one in found:
        whole.add(one)
    return whole


def _sample(histogram: Histogram | None) -> WeightedSample:
    return EMPTY if histogram is None else from_histograms([histogram])


def _cores(samples: GrowingSamples[ResourceSample]) -> float | None:
    """Cores in use during the last second."""
    usage = ResourceUsage.of(samples.read()[-LATELY:])
    return usage.cores(int(usage.t_ns[0]), int(usage.t_ns[-1])) if len(usage.t_ns) else None

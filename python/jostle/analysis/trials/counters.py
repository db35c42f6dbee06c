"""What was counted in a trial, folded as its intervals are read: sums, and a row of numbers for each.

The record of an interval takes kilobytes once it is read; only a row of numbers is kept of it.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from jostle.analysis.stats.sample import Floats, Ints
from jostle.errors import NotARun
from jostle.record.outcomes import REFUSALS, Outcome, failures

__all__ = ["BACKGROUND", "MEASURED", "Counts", "Refusal", "Tally"]

MEASURED, BACKGROUND = 0, 1
"""Numbers of the two workloads of a trial."""

MAX_TEXTS = 64
"""Most different texts that are kept, as peers may make them up; further ones count as "other"."""

STREAMS = (
    *("events", "whole", "met", "tokens", "without_tokens"),
    *("broken_off", "unfinished", "unanswered"),
)

SUMS = ("service_sum_ns", "response_sum_ns", "busy_sum_ns")

FIRST, LAST = ("start_ns",), ("end_ns", "last", "clients", "connections")
MAXIMA = ("loop_lag_max_us", "open_files", "local_ports")
"""How columns of two intervals become those of one; all others are added."""


@dataclass(frozen=True)
class Refusal:
    """The first interval in which connections were refused or lost."""

    start_s: float
    connections: int  # open at its end
    kinds: Mapping[str, int]


@dataclass(frozen=True)
class Counts:
    """Columns have a row for each interval, and are of the measured workload unless stated otherwise."""

    start_ns: Ints
    end_ns: Ints
    last: Ints  # 1 if the engine ended with this interval
    due: Ints  # 0 in a closed loop, where requests are due when their client is free
    ok: Ints
    failed: Ints  # without requests cut off by the end of the run
    bytes_in: Ints
    bytes_out: Ints
    clients: Ints  # at the end of the interval, like `connections`
    connections: Ints
    in_flight_ns: Ints  # time of all requests that were running
    background_in_flight_ns: Ints
    cpu_ns: Ints  # of all threads of all generators
    busiest: Floats  # share of one core that the busiest thread used
    loop_lag_max_us: Ints
    open_files: Ints  # of the fullest generator process
    local_ports: Ints  # of the fullest address to one destination
    outcomes: Mapping[tuple[int, int | None], Mapping[str, int]]
    """By workload and request; a request of None stands for all of the workload's requests."""
    statuses: Mapping[tuple[int, int | None], Mapping[str, int]]
    """By workload and request, as `outcomes`: right responses by status. Empty in older records."""
    answered: Mapping[tuple[int, str], Ints]
    """By request and status: right responses in each interval."""
    failed_by_kind: Mapping[str, Ints]
    """By outcome: requests that failed in each interval."""
    reasons: Mapping[tuple[int, str], Mapping[str, int]]
    """By workload and outcome: why requests failed, and how often; for a wrong status, the code."""
    refused: Mapping[int, str]
    """By workload: method and path of one request that was answered with a wrong status."""
    excess: Mapping[int, Mapping[str, int]]
    """By workload: what came after complete responses and belongs to none of them."""
    dismissals: Mapping[int, Mapping[str, int]]
    """By workload: answers with which the server ended idle connections, by status."""
    passed_over: Mapping[int, Mapping[str, int]]
    """By workload: addresses of the host that did not accept a connection while another one did."""
    journeys: Mapping[tuple[int, int], Mapping[str, int]]
    """By workload and journey: how many were completed, and how many unfinished at the end."""
    journey_ends: Mapping[tuple[int, int], Mapping[tuple[int, str], int]]
    """By workload and journey: how many a step ended, by its number and the outcome of its request."""
    streams: Mapping[tuple[int, int], Mapping[str, int]]
    """By workload and request: the sums of `STREAMS`."""
    pings: Mapping[int, Mapping[str, int]]
    """By workload: how many were sent, and how many given up as unanswered."""
    head_of_line: Mapping[str, Any] | None
    """The longest wait of a stream for others of its HTTP/2 connection."""
    totals: Mapping[int, Mapping[str, int]]
    """Sums over all intervals of what the workload's state and its series count, by workload."""
    threads: list[tuple[int, int]]
    """CPU and wall time (ns) of each thread, generator after generator."""
    fullest_port: Mapping[str, Any] | None
    refusal: Refusal | None
    rows_lost: int
    workers_lost: int

    @classmethod
    def of(cls, intervals: Iterable[Mapping[str, Any]]) -> "Counts":
        tally = Tally()
        for interval in intervals:
            tally.add(interval)
        return tally.counts()


K = TypeVar("K")

COLUMNS = tuple(name for name, kind in Counts.__annotations__.items() if kind is Ints)


@dataclass
class Tally:
    """What was counted so far: `add` for each interval, then `counts`."""

    columns: dict[str, "array[int]"] = field(default_factory=lambda: {name: array("q") for name in COLUMNS})
    busiest: "array[float]" = field(default_factory=lambda: array("d"))
    outcomes: dict[tuple[int, int | None], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    statuses: dict[tuple[int, int | None], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    answered: dict[tuple[int, str], "array[int]"] = field(
        default_factory=lambda: defaultdict(lambda: array("q"))
    )
    failed_by_kind: dict[str, "array[int]"] = field(default_factory=lambda: defaultdict(lambda: array("q")))
    reasons: dict[tuple[int, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    refused: dict[int, str] = field(default_factory=dict)
    excess: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    dismissals: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    passed_over: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    journeys: dict[tuple[int, int], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    journey_ends: dict[tuple[int, int], Counter[tuple[int, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    streams: dict[tuple[int, int], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    pings: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    head_of_line: Mapping[str, Any] | None = None
    totals: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    threads: list[tuple[int, int]] | None = None
    fullest_port: Mapping[str, Any] | None = None
    refusal: Refusal | None = None
    rows_lost: int = 0
    workers_lost: int = 0

    def add(self, interval: Mapping[str, Any]) -> None:
        for series in interval["series"]:
            self._add_series(series)
        self._add_protocols(interval)
        for workload, state in enumerate(interval["workloads"]):
            self.totals[workload].update({name: n for name, n in state.items() if isinstance(n, int)})
            _add_texts(self.excess[workload], state.get("excess", {}))
            _add_texts(self.dismissals[workload], state.get("dismissals", {}))
            _add_texts(self.passed_over[workload], state.get("passed_over", {}))
        self._add_columns(interval)
        self._add_generator(interval)

    def _add_series(self, series: Mapping[str, Any]) -> None:
        workload = series["workload"]
        for request in (None, series["request"]):
            self.outcomes[workload, request].update(series["outcomes"])
            self.statuses[workload, request].update(series.get("statuses", {}))
        for kind, texts in _reasons(series).items():
            _add_texts(self.reasons[workload, kind], texts)
        if "refused" in series:
            self.refused.setdefault(workload, series["refused"])
        self.totals[workload].update({name: series[name] for name in SUMS if name in series})

    def _add_protocols(self, interval: Mapping[str, Any]) -> None:
        """What is counted only of journeys, streams, WebSockets and HTTP/2."""
        for journey in interval.get("journeys", ()):
            key = journey["workload"], journey["journey"]
            self.journeys[key].update(completed=journey["completed"], unfinished=journey["unfinished"])
            for end in journey["ended"]:
                self.journey_ends[key][end["step"], end["outcome"]] += end["count"]
        for stream in interval.get("streams", ()):
            counted = {name: stream[name] for name in STREAMS if name in stream}
            self.streams[stream["workload"], stream["request"]].update(counted)
        for ping in interval.get("pings", ()):
            self.pings[ping["workload"]].update(sent=ping["sent"], unanswered=ping["unanswered"])
        for line in interval.get("head_of_line", ()):
            known = self.head_of_line
            if line["workload"] == MEASURED and (known is None or line["blocked_ns"] >= known["blocked_ns"]):
                self.head_of_line = line

    def _add_columns(self, interval: Mapping[str, Any]) -> None:
        """What has a value for each interval, of the measured workload."""
        measured = [series for series in interval["series"] if series["workload"] == MEASURED]
        outcomes: Counter[str] = Counter()
        for series in measured:
            outcomes.update(series["outcomes"])
            for status, count in series.get("statuses", {}).items():
                _add_at(self.answered[series["request"], status], len(self.busiest), count)
        for kind, count in failures(outcomes).items():
            _add_at(self.failed_by_kind[kind], len(self.busiest), count)
        row = _row(interval, measured, outcomes)
        for name, column in self.columns.items():
            column.append(row[name])
        kinds = {str(kind): outcomes[kind] for kind in Outcome if kind in REFUSALS and outcomes[kind]}
        if kinds and self.refusal is None:
            self.refusal = Refusal(interval["start_ns"] / 1e9, row["connections"], kinds)

    def _add_generator(self, interval: Mapping[str, Any]) -> None:
        threads = [(thread["cpu_ns"], thread["wall_ns"]) for thread in interval["threads"]]
        self.busiest.append(max((cpu / wall for cpu, wall in threads if wall), default=0.0))
        before = [(0, 0)] * len(threads) if self.threads is None else self.threads
        if len(before) != len(threads):
            at = f"the interval at {interval['start_ns'] / 1e9:g} s"
            raise NotARun(f"{at} is of {len(threads)} load threads, and those before it of {len(before)}")
        self.threads = [(a + c, b + d) for (a, b), (c, d) in zip(before, threads, strict=True)]
        # Older records have them here, for all workloads together.
        _add_texts(self.reasons[MEASURED, Outcome.TLS_FAILED], interval.get("tls_failures", {}))
        for port in interval.get("ports", []):
            if self.fullest_port is None or port["held"] > self.fullest_port["held"]:
                self.fullest_port = port
        self.rows_lost += interval.get("rows_lost", 0)
        self.workers_lost = max(self.workers_lost, interval.get("workers_lost", 0))

    def halve(self) -> None:
        """Merge each two successive intervals into one, which takes half of the memory: of an even number."""
        for name, column in self.columns.items():
            first, second = (np.array(column[place::2]) for place in (0, 1))
            if name in FIRST:
                merged = first
            elif name in LAST:
                merged = second
            else:
                merged = np.maximum(first, second) if name in MAXIMA else first + second
            self.columns[name] = array("q", merged.tolist())
        self.busiest = array("d", ((np.array(self.busiest[::2]) + np.array(self.busiest[1::2])) / 2).tolist())
        for column in (*self.answered.values(), *self.failed_by_kind.values()):
            column.extend([0] * (len(column) % 2))
            column[:] = array("q", np.array(column).reshape(-1, 2).sum(axis=1).tolist())

    def _whole(self, columns: "Mapping[K, array[int]]") -> dict[K, Ints]:
        """The columns at full length: there is nothing at the places that they do not have."""
        found = {key: np.zeros(len(self.busiest), dtype=np.int64) for key in columns}
        for key, column in columns.items():
            found[key][: len(column)] = column
        return found

    def counts(self) -> Counts:
        """Of the intervals so far; more may be added afterwards."""
        columns = {name: np.array(column, dtype=np.int64) for name, column in self.columns.items()}
        return Counts(
            **columns,
            busiest=np.array(self.busiest, dtype=np.float64),
            outcomes=dict(self.outcomes),
            statuses=dict(self.statuses),
            answered=self._whole(self.answered),
            failed_by_kind=self._whole(self.failed_by_kind),
            reasons=dict(self.reasons),
            refused=self.refused,
            streams=dict(self.streams),
            pings=dict(self.pings),
            head_of_line=self.head_of_line,
            excess=dict(self.excess),
            dismissals=dict(self.dismissals),
            passed_over=dict(self.passed_over),
            journeys=dict(self.journeys),
            journey_ends=dict(self.journey_ends),
            totals=dict(self.totals),
            threads=self.threads or [],
            fullest_port=self.fullest_port,
            refusal=self.refusal,
            rows_lost=self.rows_lost,
            workers_lost=self.workers_lost,
        )


def _add_at(column: "array[int]", place: int, count: int) -> None:
    column.extend([0] * (place + 1 - len(column)))
    column[place] += count


def _reasons(series: Mapping[str, Any]) -> Mapping[str, Mapping[str, int]]:
    if "wrong_statuses" in series:  # an older record
        return {Outcome.WRONG_STATUS: series["wrong_statuses"]}
    found: Mapping[str, Mapping[str, int]] = series.get("failures", {})
    return found


def _add_texts(sums: Counter[str], texts: Mapping[str, int]) -> None:
    for text, count in texts.items():
        known = text in sums or len(sums) < MAX_TEXTS
        sums[text if known else "other"] += count


def _row(
    interval: Mapping[str, Any], measured: list[Mapping[str, Any]], outcomes: Mapping[str, int]
) -> dict[str, int]:
    states: list[Mapping[str, int]] = interval["workloads"]
    state = states[MEASURED] if states else {}
    background = states[BACKGROUND] if len(states) > BACKGROUND else {}
    return {
        "start_ns": interval["start_ns"],
        "end_ns": interval["end_ns"],
        "last": int(interval["last"]),
        "due": state.get("due", 0),
        "ok": outcomes.get(Outcome.OK, 0),
        "failed": sum(failures(outcomes).values()),
        "bytes_in": sum(series.get("bytes_in", 0) for series in measured),
        "bytes_out": sum(series.get("bytes_out", 0) for series in measured),
        "clients": state.get("clients", 0),
        "connections": state.get("connections", 0),
        "in_flight_ns": state.get("in_flight_ns", 0),
        "background_in_flight_ns": background.get("in_flight_ns", 0),
        "cpu_ns": sum(thread["cpu_ns"] for thread in interval["threads"]),
        "loop_lag_max_us": (interval.get("loop_lag") or {}).get("max_us", 0),
        "open_files": max(g.get("open_files", 0) for g in interval.get("generators") or [interval]),
        "local_ports": max((port["held"] for port in interval.get("ports", [])), default=0),
    }

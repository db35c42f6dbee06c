"""Merges the intervals of several generators: counts are added, histograms merged without loss."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from jostle._engine import merge_v2

if TYPE_CHECKING:
    from jostle._engine import (
        GeneratorState,
        HeadOfLine,
        Hist,
        Interval,
        JourneySeries,
        PingSeries,
        PortUse,
        Rows,
        Series,
        StreamSeries,
        ThreadState,
        WorkloadState,
    )

__all__ = ["Merger"]

T = TypeVar("T")


class Merger:
    """Takes every generator's intervals in order, and returns the intervals of all generators together.

    Intervals that begin at the same time belong together: all generators cut them by the same plan.
    """

    def __init__(self, generators: int, threads: int, workloads: int) -> None:
        self._threads = threads
        self._workloads = workloads
        self._parts: dict[int, dict[int, Interval]] = {}
        self._machines = [""] * generators
        self._until: list[float] = [0.0] * generators  # by generator: everything before this has arrived
        self._end_ns = 0
        self._given = 0
        self._closed = False

    def add(self, generator: int, interval: "Interval", machine: str = "") -> None:
        """Add an interval of generator 0, 1, …, which runs on `machine`."""
        self._machines[generator] = machine
        self._parts.setdefault(interval["start_ns"], {})[generator] = interval
        self._until[generator] = math.inf if interval["last"] else interval["end_ns"]

    def drop(self, generator: int) -> int:
        """Expect no more from this generator. Returns up to when it has reported, in ns from the start."""
        given, self._until[generator] = self._until[generator], math.inf
        return self._end_ns if given == math.inf else int(given)

    def reassign(self, generator: int, from_ns: int) -> None:
        """Expect intervals of its successor, from `from_ns` on."""
        self._until[generator] = float(from_ns)

    def next(self) -> "Interval | None":
        """The next interval of which all parts have arrived. The last one, possibly empty, has `last` set."""
        until = min(self._until)
        start = min(self._parts, default=None)
        if start is not None and start < until:
            parts = self._parts.pop(start)
        elif start is None and until == math.inf and not self._closed:
            parts = {}  # the generator that should have sent the last one is lost
        else:
            return None
        merged = self._merge(parts)
        self._closed = merged["last"] = until == math.inf and not self._parts
        self._end_ns = max(self._end_ns, merged["end_ns"])
        self._given += 1
        return merged

    def _states(self, parts: "Sequence[Interval]") -> int:
        """The number of workload states: the specification's workloads, then what clients do once."""
        return max((len(part["workloads"]) for part in parts), default=self._workloads)

    def _merge(self, parts: "Mapping[int, Interval]") -> "Interval":
        each = [parts[generator] for generator in sorted(parts)]
        idle: ThreadState = {"cpu_ns": 0, "wall_ns": 0}
        return {
            "index": self._given,
            "start_ns": min((part["start_ns"] for part in each), default=self._end_ns),
            "end_ns": max((part["end_ns"] for part in each), default=self._end_ns),
            "last": False,
            "open_files": sum(part["open_files"] for part in each),
            "ports": _ports((self._machines[g], parts[g]["ports"]) for g in sorted(parts)),
            "loop_lag": _merged(part["loop_lag"] for part in each),
            "series": _series(part["series"] for part in each),
            "journeys": _journeys(part.get("journeys", []) for part in each),
            "streams": _streams(part.get("streams", []) for part in each),
            "pings": _pings(part.get("pings", []) for part in each),
            "head_of_line": _head_of_line(part.get("head_of_line", []) for part in each),
            "workloads": [
                _summed(part["workloads"][number] for part in each) for number in range(self._states(each))
            ],
            "threads": [
                thread
                for generator in range(len(self._until))
                for thread in (parts[generator]["threads"] if generator in parts else [idle] * self._threads)
            ],
            "generators": [_state(generator, parts[generator]) for generator in sorted(parts)],
            "rows": _rows([part["rows"] for part in each]),
            "rows_lost": sum(part["rows_lost"] for part in each),
            "workers_lost": sum(part["workers_lost"] for part in each),
        }


def _grouped(parts: Iterable[Iterable[T]], key: Callable[[T], tuple[int, ...]]) -> list[list[T]]:
    """The series of all generators, grouped by `key` and in its order."""
    groups: dict[tuple[int, ...], list[T]] = defaultdict(list)
    for part in parts:
        for series in part:
            groups[key(series)].append(series)
    return [groups[each] for each in sorted(groups)]


def _journeys(parts: "Iterable[list[JourneySeries]]") -> "list[JourneySeries]":
    return [_one_journey(same) for same in _grouped(parts, lambda one: (one["workload"], one["journey"]))]


def _one_journey(parts: "list[JourneySeries]") -> "JourneySeries":
    ended = Counter[tuple[int, str]]()
    for part in parts:
        for end in part["ended"]:
            ended[end["step"], end["outcome"]] += end["count"]
    return {
        "workload": parts[0]["workload"],
        "journey": parts[0]["journey"],
        "histograms": _histograms(part["histograms"] for part in parts),
        "completed": sum(part["completed"] for part in parts),
        "unfinished": sum(part["unfinished"] for part in parts),
        "ended": [
            {"step": step, "outcome": outcome, "count": count}
            for (step, outcome), count in sorted(ended.items())
        ],
    }


def _streams(parts: "Iterable[list[StreamSeries]]") -> "list[StreamSeries]":
    return [_one_stream(same) for same in _grouped(parts, lambda one: (one["workload"], one["request"]))]


def _one_stream(parts: "list[StreamSeries]") -> "StreamSeries":
    return {
        "workload": parts[0]["workload"],
        "request": parts[0]["request"],
        "histograms": _histograms(part["histograms"] for part in parts),
        "events": sum(part["events"] for part in parts),
        "whole": sum(part["whole"] for part in parts),
        "met": sum(part["met"] for part in parts),
        "tokens": sum(part["tokens"] for part in parts),
        "without_tokens": sum(part["without_tokens"] for part in parts),
        "broken_off": sum(part["broken_off"] for part in parts),
        "unfinished": sum(part["unfinished"] for part in parts),
        "unanswered": sum(part["unanswered"] for part in parts),
    }


def _pings(parts: "Iterable[list[PingSeries]]") -> "list[PingSeries]":
    return [_one_ping(same) for same in _grouped(parts, lambda one: (one["workload"], one["request"]))]


def _one_ping(parts: "list[PingSeries]") -> "PingSeries":
    return {
        "workload": parts[0]["workload"],
        "request": parts[0]["request"],
        "histograms": _histograms(part["histograms"] for part in parts),
        "sent": sum(part["sent"] for part in parts),
        "unanswered": sum(part["unanswered"] for part in parts),
    }


def _head_of_line(parts: "Iterable[list[HeadOfLine]]") -> "list[HeadOfLine]":
    """The longest blocking of each workload."""
    groups = _grouped(parts, lambda one: (one["workload"],))
    return [max(same, key=lambda one: one["blocked_ns"]) for same in groups]


def _histograms(parts: "Iterable[Mapping[str, Hist]]") -> "dict[str, Hist]":
    """The merged histograms by measure."""
    each = list(parts)
    measures = dict.fromkeys(measure for part in each for measure in part)
    found = {measure: _merged(part.get(measure) for part in each) for measure in measures}
    return {measure: histogram for measure, histogram in found.items() if histogram is not None}


def _counted(tallies: Iterable[Mapping[str, int]]) -> dict[str, int]:
    return dict(sum(map(Counter, tallies), Counter()))


def _merged(histograms: "Iterable[Hist | None]") -> "Hist | None":
    found = [histogram for histogram in histograms if histogram is not None]
    if not found:
        return None
    return found[0] if len(found) == 1 else merge_v2([histogram["v2"] for histogram in found])


COUNTS = ("service_sum_ns", "response_sum_ns", "busy_sum_ns", "bytes_in", "bytes_out")


def _series(parts: "Iterable[list[Series]]") -> "list[Series]":
    def key(one: "Series") -> tuple[int, ...]:
        return one["workload"], one["request"], one["phase"]

    return [_one_series(same) for same in _grouped(parts, key)]


def _one_series(parts: "list[Series]") -> "Series":
    """Merge the series of one request of one workload in one phase."""
    merged: Any = dict(parts[0])
    for count in COUNTS:
        merged[count] = sum(part[count] for part in parts)  # type: ignore[literal-required]
    merged["outcomes"] = _counted(part["outcomes"] for part in parts)
    merged["statuses"] = _counted(part["statuses"] for part in parts)
    failed = dict.fromkeys(outcome for part in parts for outcome in part["failures"])
    merged["failures"] = {
        outcome: _counted(part["failures"].get(outcome, {}) for part in parts) for outcome in failed
    }
    if refused := next(filter(None, (part.get("refused") for part in parts)), None):
        merged["refused"] = refused
    merged["histograms"] = _histograms(part["histograms"] for part in parts)
    series: Series = merged
    return series


STATE = (
    "due",
    "sent",
    "in_flight_ns",
    "in_flight",
    "clients",
    "connections",
    "backlog",
    "connects",
    "resumed",
    "backoffs",
    "redirects",
    "resent",
    "stream_waits",
    "stream_wait_ns",
    "duplicate_answers",
    "late_answers",
    "overtaken_answers",
    "stray_answers",
)
TEXTS = ("excess", "dismissals", "passed_over")


def _summed(states: "Iterable[WorkloadState]") -> "WorkloadState":
    each = list(states)
    summed: Any = {name: sum(state[name] for state in each) for name in STATE}  # type: ignore[literal-required]
    summed |= {name: _counted(state[name] for state in each) for name in TEXTS}  # type: ignore[literal-required]
    whole: WorkloadState = summed
    return whole


def _ports(parts: "Iterable[tuple[str, list[PortUse]]]") -> "list[PortUse]":
    """Ports in use. Generators on one machine share its ports; among machines the highest number counts."""
    held: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for machine, ports in parts:
        for port in ports:
            held[port["from"], port["to"]][machine] += port["held"]
    return [{"from": source, "to": to, "held": max(on.values())} for (source, to), on in held.items()]


def _state(generator: int, part: "Interval") -> "GeneratorState":
    return {
        "generator": generator + 1,
        "open_files": part["open_files"],
        "loop_lag_max_us": part["loop_lag"]["max_us"] if part["loop_lag"] else 0,
        "sent": [state["sent"] for state in part["workloads"]],
        "service": _merged(s["histograms"].get("service") for s in part["series"] if s["workload"] == 0),
    }


def _rows(parts: "list[Rows | None]") -> "Rows | None":
    found = [rows for rows in parts if rows is not None]
    if not found:
        return None
    joined: Any = {name: b"".join(rows[name] for rows in found) for name in found[0]}  # type: ignore[literal-required]
    rows: Rows = joined
    return rows

"""Head-of-line blocking: which streams of one HTTP/2 connection waited for which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jostle.analysis.results import BlockingCause, HeadOfLine, StreamOfConnection
from jostle.analysis.trials.data import TrialData

if TYPE_CHECKING:
    from jostle.analysis.results.keys import Key

__all__ = ["head_of_line"]

NS = 1e9

MIN_NS = 1_000_000
"""Shorter waits do not count, as in the engine."""

EARLY = 0.05
"""Share of a response's time that counts as its edge: the last part of a response is often in the same packet
as the beginning of the next one."""

FEW = 3
"""Fewest responses on other connections from which anything can be concluded."""

MUCH_SOONER, AS_LATE = 0.25, 0.5
"""The median on other connections, as a share of the wait: up to the first one it clears the server, from the
second one on it does not."""


def head_of_line(grouped: "Mapping[Key, Sequence[TrialData]]") -> list[HeadOfLine]:
    """The longest wait of each cell, the longest of all first."""
    found = []
    for (contestant, workload), trials in grouped.items():
        lines = [(data, line) for data in trials if data.usable and (line := data.counts.head_of_line)]
        seen = (head_of_line_blocking(contestant, workload, data, line) for data, line in lines)
        longest = max(filter(None, seen), key=lambda one: one.longest_s, default=None)
        found += [longest] if longest else []
    return sorted(found, key=lambda one: -one.longest_s)


def head_of_line_blocking(
    contestant: str, workload: str, data: TrialData, line: Mapping[str, Any]
) -> HeadOfLine | None:
    """What the record says about one connection; None if no stream waited, or if the cause is not known."""
    waits = _waits_of(line)
    if waits is None:
        return None
    names = [request["name"] for request in data.workload().get("requests") or []]
    streams = [_stream(one, names, ns) for one, ns in zip(waits.times, waits.each_ns, strict=True)]
    waited = [one for one in streams if one.waited_s]
    if not waited:
        return None
    blocker = None if waits.behind is None else streams[waits.times.index(waits.behind)]
    passed = 0 if waits.behind is None else sum(_passed(one, waits.span) for one in waits.others)
    longest_s = max(one.waited_s for one in waited)
    responses = line["elsewhere_answers"]
    median_s = line["elsewhere_median_ns"] / NS if responses else None
    return HeadOfLine(
        contestant=contestant,
        workload=workload,
        trial=data.trial.number,
        begin_s=min(one.ready_s for one in [*waited, *([blocker] if blocker else [])]),
        end_s=waits.now / NS,
        behind=blocker,
        streams=streams,
        waited=len(waited),
        passed=passed,
        others=sum(_there(one, waits.span, waits.now) for one in waits.others),
        longest_s=longest_s,
        open=sum(_open(one, line["until_ns"]) for one in waits.times),
        cause=_cause(longest_s, responses, median_s) if blocker and not passed else "",
        elsewhere_connections=line["elsewhere_connections"],
        elsewhere_answers=responses,
        elsewhere_median_s=median_s,
    )


@dataclass(frozen=True)
class _Waits:
    """How long the streams of a connection waited, and for what."""

    times: Sequence[Mapping[str, Any]]
    """The moments of each stream, as recorded."""

    each_ns: Sequence[int]
    """How long each of them waited."""

    behind: Mapping[str, Any] | None
    """The one whose response came meanwhile; None: they waited for a free stream."""

    span: tuple[int, int]
    """From when to when that was."""

    now: int
    """The last moment that is recorded."""

    @property
    def others(self) -> list[Mapping[str, Any]]:
        return [one for one in self.times if one is not self.behind]


def _waits_of(line: Mapping[str, Any]) -> _Waits | None:
    """None if the blocking response began too long ago to be in the record."""
    times: list[Mapping[str, Any]] = line["streams"]
    behind = next((one for one in times if one["stream"] == line["behind"] > 0), None)
    if not times or (line["behind"] and behind is None):
        return None
    now = max(max(one["ready_ns"], one["sent_ns"], one["head_ns"], one["end_ns"]) for one in times)
    queued = [_queued_ns(one, now) for one in times]
    if behind is not None:
        coming = behind["head_ns"], behind["end_ns"] or now
        waited = [_waited_ns(one, coming, now) if one is not behind else 0 for one in times]
        if max(waited) >= max(queued):  # else most of the wait was for a free stream
            return _Waits(times, waited, behind, coming, now)
    return _Waits(times, queued, None, (line["from_ns"], line["until_ns"]), now)


def _stream(one: Mapping[str, Any], names: Sequence[str], waited_ns: int) -> StreamOfConnection:
    def moment(name: str) -> float | None:
        return one[name] / NS if one[name] else None

    known = one["request"] < len(names)
    return StreamOfConnection(
        stream=one["stream"],
        request=names[one["request"]] if known else "",
        ready_s=one["ready_ns"] / NS,
        sent_s=moment("sent_ns"),
        head_s=moment("head_ns"),
        end_s=moment("end_ns"),
        bytes=one["bytes"],
        waited_s=waited_ns / NS if waited_ns >= MIN_NS else 0.0,
    )


def _waited_ns(one: Mapping[str, Any], span: tuple[int, int], now: int) -> int:
    """How long a sent request got nothing while another response came, if its own response followed soon."""
    begin, end = span
    first = one["head_ns"] or one["end_ns"] or now
    overlap: int = min(first, end) - max(one["sent_ns"] or now, begin)
    to_its_end = first >= end - EARLY * (end - begin)
    return overlap if to_its_end and first - end <= overlap else 0


def _queued_ns(one: Mapping[str, Any], now: int) -> int:
    wait: int = (one["sent_ns"] or one["end_ns"] or now) - one["ready_ns"]
    return wait


def _passed(one: Mapping[str, Any], span: tuple[int, int]) -> bool:
    """Whether its response began while the other one was coming."""
    begin, end = span
    edge = EARLY * (end - begin)
    return bool(begin + edge < one["head_ns"] < end - edge)


def _there(one: Mapping[str, Any], span: tuple[int, int], now: int) -> bool:
    return one["ready_ns"] < span[1] and (one["end_ns"] or now) > span[0]


def _open(one: Mapping[str, Any], at_ns: int) -> bool:
    return 0 < one["sent_ns"] < at_ns and not 0 < one["end_ns"] < at_ns


def _cause(wait_s: float, responses: int, median_s: float | None) -> BlockingCause:
    """The cause according to the other connections, if all streams of this one waited."""
    if median_s is None or responses < FEW:
        return "unknown"
    if median_s <= MUCH_SOONER * wait_s:
        return "connection"
    return "server" if median_s >= AS_LATE * wait_s else "unknown"

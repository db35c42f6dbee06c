"""How a page draws the parts of a trial: tables, whose cells are figures as reports write them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from jostle.formatting import formatted, plural
from jostle.live.parts import GeneratorPart, JourneyPart, Parts, RequestPart, StreamPart, Times
from jostle.record.outcomes import ENDED_BY_STOP, Outcome, outcome_label
from jostle.units import format_count, format_duration, format_rate
from jostle.web.choice import as_text

__all__ = ["drawn_parts"]

QUANTILES = {"p50": "p50", "p99": "p99", "max": "longest"}


def drawn_parts(parts: Parts, *, over: bool) -> Sequence[Mapping[str, Any]]:
    """Tables with a title, what is to be said of them, the names of their columns, and their rows. Those of
    requests have keys, by which a row's request can be asked for alone.

    `over`: whether the trial is; rates are then those of all of it.
    """
    return list(_tables(parts, over=over))


def _tables(parts: Parts, *, over: bool) -> Iterator[Mapping[str, Any]]:
    for journey, steps_of in groupby(parts.requests, key=lambda one: one.journey):
        steps = list(steps_of)
        of = next((_of_journey(one) for one in parts.journeys if one.name == journey), "")
        title = f"Steps of {journey}" if journey else "Requests"
        columns = ["answered", *QUANTILES.values(), "failed"]
        table = _table(title, of, columns, (_request(one, over=over) for one in steps))
        yield {**table, "keys": [as_text(one.key) for one in steps]}
    if parts.unfollowed:
        of = f"There are {format_count(parts.unfollowed)} requests, too many to be followed one by one: the "
        yield _table("Requests", f"{of}report has the figures of each.", [], [])
    if parts.streams:
        columns = [
            "events",
            "first event p50",
            "first event p99",
            "gap p50",
            "gap p99",
            "longest gap",
            "ended",
        ]
        yield _table("Streams", "", columns, (_stream(one, over=over) for one in parts.streams))
    if parts.generators:
        columns = ["machine", "sent in the last interval", "sent in all", "timers late by at most"]
        yield _table("Generators", "", columns, map(_generator, parts.generators))
    if parts.background:
        yield _table("In the background", _background(parts.background), [], [])


def _table(title: str, said: str, columns: Sequence[str], rows: Any) -> Mapping[str, Any]:
    return {"title": title, "said": said, "columns": columns, "rows": [[*row] for row in rows]}


def _request(one: RequestPart, *, over: bool) -> Iterator[str]:
    yield f"{one.name} (once per client)" if one.once else one.name
    yield format_rate(one.so_far_per_s if over else one.answered_per_s)
    yield from _times(one.times, QUANTILES)
    yield _failed(one.outcomes)


def _failed(outcomes: Mapping[str, int]) -> str:
    """The most frequent failure first."""
    kinds = [kind for kind in outcomes if kind != Outcome.OK and kind not in ENDED_BY_STOP]
    most = sorted(kinds, key=lambda kind: -outcomes[kind])
    return ", ".join(f"{format_count(outcomes[kind])} {outcome_label(kind)}" for kind in most) or "0"


def _of_journey(one: JourneyPart) -> str:
    p50, p99 = _times(one.times, ("p50", "p99"))
    ended = f", {format_count(one.ended)} ended early" if one.ended else ""
    return f"{plural(one.completed, 'journey')} completed{ended}; p50 {p50}, p99 {p99}."


def _stream(one: StreamPart, *, over: bool) -> Iterator[str]:
    yield one.name
    yield format_rate(one.so_far_per_s if over else one.events_per_s)
    yield from _times(one.first, ("p50", "p99"))
    yield from _times(one.gap, QUANTILES)
    ends = [(one.whole, "whole"), (one.broken_off, "broken off"), (one.none, "without an event")]
    yield ", ".join(f"{format_count(count)} {how}" for count, how in ends if count) or "none"


def _generator(one: GeneratorPart) -> Iterator[str]:
    yield str(one.number)
    yield one.host or "this one"
    yield format_rate(one.sent_per_s)
    yield format_count(one.sent)
    yield format_duration(one.lag_s)


def _background(found: Mapping[str, Any]) -> str:
    mean_s = found["service_mean_s"]
    took = "" if mean_s is None else f", which took {format_duration(mean_s)} on average"
    right = f"{format_count(found['ok'])} of {plural(found['requests'], 'request')} answered as expected"
    return f"{found['name']}: {right}{took}; {found['in_flight']:.2f} were in flight on average."


def _times(times: Times, names: Mapping[str, str] | Sequence[str]) -> Iterator[str]:
    return (formatted(times[name]).value for name in names)

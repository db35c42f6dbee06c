"""Streams of events: how they ended, when their first and last events came, and the gaps between them."""

from functools import partial

from jostle.analysis.results import Estimate, RunResult, StreamResult
from jostle.formatting import Formatted, amount, formatted, percent
from jostle.report import charts
from jostle.report.document import Block, Column, Depth, Figure, Paragraph, Section, Table, columns
from jostle.report.views import contestants
from jostle.report.workload import quantiles

__all__ = ["section", "stream_table", "time_table"]

MAX_TIMES = 8
"""How many pictures are shown; the record contains the intervals of all streams."""

FEW = 2
"""Up to this many rows of streams, their times are part of the answer."""

HOW = (
    "First and last event count from the intended start of the request, as response times do. A gap is the "
    "time from one event of a stream to the next; of longest gaps, each stream has one. A request without an "
    "event lies beyond every first event, "
    "and a stream that broke off has one gap without end."
)

ROUND_TRIPS = (
    "Where messages are sent periodically, a round trip counts from the moment when a message was due to "
    "its response, matched in order. A message whose stream ended before its response is unanswered, and "
    "lies beyond every round trip."
)


def section(result: RunResult) -> Section:
    """Empty if no request asks for a stream."""
    found = result.streams
    order = contestants(result)
    words = [HOW, ROUND_TRIPS] if any(s.unanswered is not None for s in found) else [HOW]
    blocks: list[Block] = [
        stream_table(found),
        *_uncounted(found),
        Section("", [time_table(found)], Depth.ANSWER if len(found) <= FEW else Depth.MAIN),
        *(
            Figure(f"events-{n}", partial(charts.event_times, s, order))
            for n, s in enumerate(found[:MAX_TIMES], 1)
        ),
        Section("", [Paragraph(text, small=True) for text in words], Depth.MAIN),
    ]
    return Section("Streams of events", blocks if found else [], key="streams")


def _uncounted(found: list[StreamResult]) -> list[Block]:
    """Which streams are missing in the number of tokens."""
    return [
        Paragraph(
            f"{' '.join([*_named(found, s), ''])}{amount(s.without_tokens, 'count')} of "
            f"{amount(s.whole, 'count')} whole streams did not say how many tokens they had: tokens/s and "
            "the time per token are those of the others."
        )
        for s in found
        if s.without_tokens
    ]


def stream_table(found: list[StreamResult]) -> Table:
    """A row per request: its streams, how they ended, and their events."""
    bounded = any(s.met is not None for s in found)
    awaited = any(s.unanswered is not None for s in found)
    counted = any(s.tokens_per_s is not None for s in found)
    names = [
        *_words(found),
        *columns("", "streams = | whole = | broken off | no event | cut off | events | events/s ="),
        *(columns("", "within bounds = in bounds | within bounds/s") if bounded else []),
        *(columns("", "tokens/s =") if counted else []),
        *(columns("", "unanswered =") if awaited else []),
    ]
    table = Table("Streams, and how they ended", names)
    for s in found:
        ends = (s.whole, s.broken_off, s.none, s.unfinished)
        counts = (amount(n, "count") for n in (sum(ends), *ends, s.events))
        met = (_share_met(s), _rate(s.met_per_s)) if bounded else ()
        tokens = (_rate(s.tokens_per_s),) if counted else ()
        lost = "" if s.unanswered is None else amount(s.unanswered, "count")
        unanswered = (lost,) if awaited else ()
        table.add(*_named(found, s), *counts, formatted(s.events_per_s), *met, *tokens, *unanswered)
    return table


def _rate(estimate: Estimate | None) -> Formatted | str:
    return "" if estimate is None else formatted(estimate)


def time_table(found: list[StreamResult]) -> Table:
    """A row per request and kind of time."""
    names = [*_words(found), *columns("time =", "p50 = | p90 = | p99 = | max =")]
    table = Table("Times of their events", names)
    for s in found:
        times = {
            "first event": s.first,
            "gap": s.gap,
            "longest gap": s.longest_gap,
            "last event": s.last,
            "round trip of a message": s.round_trip,
            "time per token": s.per_token,
        }
        for name, estimates in times.items():
            if estimates:
                values = quantiles(estimates, ("p50", "p90", "p99", "max"))
                table.add(*_named(found, s), name, *values)
    return table


def _words(found: list[StreamResult]) -> list[Column]:
    """Columns for the names that tell the streams apart; a single one needs none."""
    return columns(" | ".join(f"{name} =" for name in _apart(found)))


def _named(found: list[StreamResult], stream: StreamResult) -> list[str]:
    return [getattr(stream, name) for name in _apart(found)]


def _apart(found: list[StreamResult]) -> list[str]:
    names = ("workload", "contestant", "request")
    return [name for name in names if len({getattr(s, name) for s in found}) > 1]


def _share_met(stream: StreamResult) -> str:
    """Streams that were complete and within their bounds, with their share of all requests that ended."""
    if stream.met is None:
        return ""
    ended = stream.whole + stream.broken_off + stream.none
    share = f" ({percent(stream.met / ended)})" if ended else ""
    return f"{amount(stream.met, 'count')}{share}"

"""How the engine reads a response that is a stream of events."""

from collections.abc import Sequence
from typing import Any

from jostle.generator.spec.values import nanoseconds
from jostle.plan.requests.event_stream import EventStream, StreamBound, event_pattern

__all__ = ["stream_spec"]


def stream_spec(stream: EventStream) -> dict[str, Any]:
    return {
        "format": stream.format,
        "events": stream.events,
        "until": stream.until,
        "stall_ns": nanoseconds(stream.stall) if stream.stall is not None else None,
        "first": event_pattern(stream.first) if stream.first is not None else None,
        "fails": event_pattern(stream.fails) if stream.fails is not None else None,
        "usage": event_pattern(stream.usage) if stream.usage is not None else None,
        "bounds": _stream_bounds(stream.slo) if stream.slo else None,
    }


def _stream_bounds(slo: Sequence[StreamBound]) -> dict[str, Any]:
    first = next((nanoseconds(bound.below) for bound in slo if bound.of == "first"), None)
    gap, trip = (next((b for b in slo if b.of == of), None) for of in ("gap", "round trip"))
    return {
        "first_ns": first,
        "gap_ns": nanoseconds(gap.below) if gap is not None else None,
        "late": 1 - gap.share if gap is not None else 1.0,
        "round_trip_ns": nanoseconds(trip.below) if trip is not None else None,
        "late_round_trips": 1 - trip.share if trip is not None else 1.0,
    }

"""Responses that are streams of events: what is read of them, and what they have to keep."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.values import PositiveCount, PositiveDuration, check_regex, shown

__all__ = ["EventStream", "StreamBound", "event_pattern", "event_stream"]


def event_pattern(text: str) -> dict[str, str]:
    """The engine's `EventPattern` for "json:/pointer" or a regular expression. Raises `BadValue`."""
    if not text.startswith("json:"):
        check_regex(text)
        return {"regex": text}
    pointer = text.removeprefix("json:")
    if pointer and not pointer.startswith("/"):
        raise BadValue(f"{text!r}: a JSON pointer begins with /", 'write for example "json:/error"')
    return {"json": pointer}


def _checked(value: Any) -> Any:
    if isinstance(value, str):
        event_pattern(value)
    return value


EventPattern = Annotated[str, BeforeValidator(_checked)]


class StreamBound(Table):
    """One bound of a stream, written as "first event < 500 ms" or "gap p99 < 50 ms"."""

    of: Literal["first", "gap", "round trip"] = Field(
        description="the time to the first event, the gaps between events, or the round trips of messages"
    )
    below: PositiveDuration = Field(description="it must be shorter than this")
    share: float = Field(
        default=1.0, ge=0, le=1, description="the share of the gaps or round trips that must be shorter"
    )


_BOUND = re.compile(r"\s*(?:(first) event|(gap|round trip)(?:\s+p(\d+(?:\.\d+)?))?)\s*<\s*(\S.*?)\s*")


def _bound(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    found = _BOUND.fullmatch(value)
    if not found or float(found[3] or 0) > 100:
        raise BadValue(
            f"{shown(value)} is no bound of a stream",
            'write "first event < 500 ms", "gap p99 < 50 ms" or "round trip p99 < 50 ms"',
        )
    return {"of": found[1] or found[2], "below": found[4], "share": float(found[3] or 100) / 100}


def _bounds(value: Any) -> Any:
    listed = value.split(",") if isinstance(value, str) else value
    return [_bound(one) for one in listed] if isinstance(listed, list) else listed


class EventStream(Table):
    """The response is a stream of events, and each event is timed."""

    format: Literal["sse", "lines", "messages"] = Field(
        default="sse",
        description='"sse": server-sent events; "lines": one event for each line that is not empty; '
        '"messages": the messages of a WebSocket or of a gRPC method',
    )
    events: PositiveCount | None = Field(
        default=None, description="stop reading after this many; a stream that ends with fewer has failed"
    )
    until: str | None = Field(
        default=None,
        description='the stream ends with the event that has this data ("[DONE]"), which is not counted; a '
        "stream without such an event fails",
        min_length=1,
    )
    stall: PositiveDuration | None = Field(
        default=None, description="after the first event, the next one must come within this time"
    )
    first: EventPattern | None = Field(
        default=None,
        description="the first event that counts, by a regular expression or a JSON pointer to what must not "
        'be null, false or empty ("json:/choices/0/delta/content"); events before it are passed over, and a '
        "stream without it fails",
        min_length=1,
    )
    fails: EventPattern | None = Field(
        default=None,
        description="events that are errors, by a regular expression or a JSON pointer: with one of them the "
        'stream fails (`stream_error`); otherwise those of "sse" that have the name "error", or whose data '
        "is a JSON object with an `error` that is an object or a text",
        min_length=1,
    )
    usage: EventPattern | None = Field(
        default=None,
        description="where an event tells how many tokens the stream had so far: a regular expression "
        r"""('"completion_tokens": *(\d+)'), whose first group is the number, or a JSON pointer """
        '("json:/usage/completion_tokens"); the last one counts',
        min_length=1,
    )
    slo: Annotated[list[StreamBound], BeforeValidator(_bounds)] = Field(
        default=[],
        description='bounds that each stream must meet: "first event < 500 ms, gap p99 < 50 ms"; '
        '"gap < 1 s" is for all gaps, and "round trip p99 < 50 ms" for messages that are sent periodically '
        "(`every`)",
    )

    @model_validator(mode="after")
    def _once_each(self) -> "EventStream":
        kinds = [bound.of for bound in self.slo]
        if len(set(kinds)) < len(kinds):
            raise BadValue(
                "slo bounds the same twice",
                "give one bound of the first event, one of the gaps and one of the round trips",
            )
        return self


def event_stream(value: Any) -> Any:
    """The table of a stream, of which a text is the format."""
    return {"format": value} if isinstance(value, str) else value

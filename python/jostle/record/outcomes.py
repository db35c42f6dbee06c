"""How a request ended, and what that counts as."""

from collections.abc import Mapping
from enum import StrEnum

__all__ = [
    "CENSORED",
    "ENDED_BY_STOP",
    "NOT_CONNECTED",
    "OUT_OF_FILES",
    "OUT_OF_PORTS",
    "REFUSALS",
    "TIMEOUTS",
    "WRONG_RESPONSES",
    "Outcome",
    "error_share",
    "failures",
    "outcome_label",
]


class Outcome(StrEnum):
    """In the engine's order (crates/engine/src/outcome.rs), which determines the numbers in rows."""

    OK = "ok"
    CONNECT_REFUSED = "connect_refused"
    CONNECT_TIMEOUT = "connect_timeout"
    CONNECT_FAILED = "connect_failed"
    DNS_FAILED = "dns_failed"
    TLS_FAILED = "tls_failed"
    RESET = "reset"
    CLOSED_EARLY = "closed_early"
    RESPONSE_TIMEOUT = "response_timeout"
    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    WRONG_STATUS = "wrong_status"
    WRONG_BODY = "wrong_body"
    NEVER_SENT = "never_sent"
    UNFINISHED = "unfinished"
    STALE = "stale"
    """The server had closed a reused connection: not a byte of the response came."""
    REDIRECT_FAILED = "redirect_failed"
    """A redirect that could not be followed: one too many, or to where no load may be sent."""
    CAPTURE_FAILED = "capture_failed"
    """A right response in which a step of a journey did not find the value that it should keep."""
    STREAM_STALLED = "stream_stalled"
    """After an event of a stream, the next one did not come within the allowed time."""
    STREAM_ENDED = "stream_ended"
    """A stream ended without all of its events."""
    NO_STREAM = "no_stream"
    """The response is not a stream of events."""
    UPGRADE_REFUSED = "upgrade_refused"
    """The server did not change to WebSocket."""
    SCRIPT_FAILED = "script_failed"
    """The script of a journey failed: a check did not hold, or an error."""
    GRPC_STATUS = "grpc_status"
    """A gRPC call ended with a status other than the expected one."""
    STREAM_ERROR = "stream_error"
    """An event of a stream was an error."""
    UNSENDABLE = "unsendable"
    """A value that was filled in made a request that cannot be sent; nothing was sent."""


_LABELS: Mapping[str, str] = {
    Outcome.CONNECT_REFUSED: "connection refused",
    Outcome.CONNECT_TIMEOUT: "connect timeout",
    Outcome.CONNECT_FAILED: "connect failed",
    Outcome.DNS_FAILED: "DNS failed",
    Outcome.TLS_FAILED: "TLS failed",
    Outcome.STALE: "stale connection",
    Outcome.STREAM_ENDED: "stream ended early",
    Outcome.NO_STREAM: "not a stream",
    Outcome.SCRIPT_FAILED: "failed script",
    Outcome.GRPC_STATUS: "gRPC status",
    Outcome.UNSENDABLE: "could not be sent",
}

ENDED_BY_STOP = frozenset({Outcome.NEVER_SENT, Outcome.UNFINISHED})
"""Not failures: the run ended first."""

TIMEOUTS = frozenset({Outcome.CONNECT_TIMEOUT, Outcome.RESPONSE_TIMEOUT, Outcome.STREAM_STALLED})
"""Given up because of a timeout."""

CENSORED = TIMEOUTS | ENDED_BY_STOP
"""They might have been answered later. All other failures never would have been."""

NOT_CONNECTED = frozenset(
    {
        Outcome.CONNECT_REFUSED,
        Outcome.CONNECT_TIMEOUT,
        Outcome.CONNECT_FAILED,
        Outcome.DNS_FAILED,
        Outcome.TLS_FAILED,
    }
)
"""There was no connection on which anything could have been sent."""

OUT_OF_FILES = frozenset({"too many open files", "too many open files in system"})
OUT_OF_PORTS = frozenset({"cannot assign requested address"})
"""Reasons for failed connects (`CONNECT_FAILED`) that are the generator's own, and not the server's."""

REFUSALS = frozenset(
    {
        Outcome.CONNECT_REFUSED,
        Outcome.CONNECT_TIMEOUT,
        Outcome.CONNECT_FAILED,
        Outcome.RESET,
        Outcome.CLOSED_EARLY,
    }
)
"""The server did not take a connection, or did not keep it."""

WRONG_RESPONSES = frozenset(
    {
        Outcome.WRONG_STATUS,
        Outcome.WRONG_BODY,
        Outcome.CAPTURE_FAILED,
        Outcome.STREAM_ENDED,
        Outcome.NO_STREAM,
        Outcome.SCRIPT_FAILED,
        Outcome.GRPC_STATUS,
        Outcome.STREAM_ERROR,
    }
)
"""Responses that came, but were not the right ones."""


def outcome_label(kind: str) -> str:
    """An outcome as people read it; the record of another version may have one that is not known here."""
    return _LABELS.get(kind, kind.replace("_", " "))


def failures(outcomes: Mapping[str, int]) -> dict[str, int]:
    """Those of `outcomes` (number of requests by outcome) that count as errors, without the zeros."""
    return {
        kind: count
        for kind, count in outcomes.items()
        if count and kind != Outcome.OK and kind not in ENDED_BY_STOP
    }


def error_share(outcomes: Mapping[str, int]) -> float:
    """Share of failed requests among those that came to an end of their own, 0 to 1; 0 if there are none."""
    failed = sum(failures(outcomes).values())
    return failed / (failed + outcomes.get(Outcome.OK, 0)) if failed else 0.0

"""How long a response takes if the request asks for a duration, as the contract allows."""

from urllib.parse import parse_qsl, urlsplit

__all__ = ["requested_delay_s"]

SLEEP_MS, EVENTS, GAP_MS = "100", "20", "50"
"""The defaults, used if the query does not say otherwise."""


def requested_delay_s(path: str, events: int | None) -> float:
    """How many seconds the response (or its first `events` events) takes if a contestant does as `path` asks.

    0 if the path asks for no time, or contains a parameter that is filled in only when it is sent.
    """
    parts = urlsplit(path)
    query = dict(parse_qsl(parts.query))
    try:
        if parts.path == "/sleep":
            return float(query.get("ms", SLEEP_MS)) / 1e3
        if parts.path == "/events" or (parts.path == "/ws" and "n" in query):
            sent = int(query.get("n", EVENTS))
            read = min(sent, events or sent)
            return max(0, read - 1) * float(query.get("gap", GAP_MS)) / 1e3
    except ValueError:  # a parameter, or a mistake that the server will refuse
        pass
    return 0.0

"""How long answers take that the contract lets a request ask for."""

from urllib.parse import parse_qsl, urlsplit

__all__ = ["asked_for_s"]

SLEEP_MS, EVENTS, GAP_MS = "100", "20", "50"
"""Where the query says nothing else."""


def asked_for_s(path: str, events: int | None) -> float:
    """Seconds from the send to the end of the answer, or to so many of its `events`, if a contestant keeps to
    what this path asks for; 0 if it asks for no time, or in a way that is known only when it is sent."""
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

"""Text that comes from elsewhere, made safe to show, and addresses taken apart."""

import re
from urllib.parse import urlsplit

__all__ = ["DEFAULT_PORTS", "host_and_port", "one_line", "reason", "without_password"]

DEFAULT_PORTS = {"http": 80, "https": 443, "postgres": 5432, "postgresql": 5432}
"""Where a URL of that scheme leads that names no port."""

_PASSWORD = re.compile(r"(\w+://[^:/?#@\s]*):[^/?#\s]*@|([?&]password=)[^&#\s]*")


def without_password(text: str) -> str:
    """`postgresql://me:secret@here/shop` → `postgresql://me@here/shop`, wherever in `text` it stands."""
    return _PASSWORD.sub(lambda found: f"{found[1]}@" if found[1] else found[2], text)


def one_line(text: object) -> str:
    """Text of foreign origin made safe for one line of a terminal: no control characters, no line breaks."""
    return "".join(c if c.isprintable() else "·" for c in str(text))


def host_and_port(url: str) -> tuple[str, int]:
    """Where connections to a URL of `DEFAULT_PORTS` go; the host is empty where it names none.

    Raises `ValueError` for a port that is none, `KeyError` for another scheme.
    """
    parts = urlsplit(url)
    return parts.hostname or "", DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port


def reason(error: OSError) -> str:
    """Why an operation failed, as part of a sentence: "connection refused"."""
    return error.strerror.lower() if error.strerror else str(error)

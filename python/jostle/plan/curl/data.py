"""The body that curl makes of its options of data: -d, --data-raw, --data-urlencode, --json, …"""

from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import quote

from jostle.plan.curl.command import file_bytes

__all__ = ["DATA", "content", "joined", "query_of", "url_encoded"]

DATA = ("data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json")


def content(name: str, stdin: Callable[[], bytes]) -> bytes:
    """The content of a file, or of standard input if its name is "-"."""
    return stdin() if name == "-" else file_bytes(Path(name))


def joined(given: Iterable[tuple[str, str]], stdin: Callable[[], bytes]) -> bytes:
    """What the options send together: joined by "&", but --json continues what is before it."""
    body: bytes | None = None
    for name, value in given:
        piece = _piece(name, value, stdin)
        body = piece if body is None else body + (b"" if name == "json" else b"&") + piece
    return body or b""


def _piece(name: str, value: str, stdin: Callable[[], bytes]) -> bytes:
    if name == "data-urlencode":
        return url_encoded(value, stdin)
    if not value.startswith("@") or name == "data-raw":
        return value.encode()
    found = content(value[1:], stdin)
    return found.translate(None, b"\r\n\0") if name in ("data", "data-ascii") else found


def url_encoded(text: str, stdin: Callable[[], bytes]) -> bytes:
    """A value of --data-urlencode: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE, with TEXT percent-encoded."""
    name, equals, value = text.partition("=")
    if equals:
        encoded = _escaped(value.encode())
    else:
        name, at, file = text.partition("@")
        encoded = _escaped(content(file, stdin) if at else text.encode())
        name = name if at else ""
    return (f"{name}={encoded}" if name else encoded).encode()


def query_of(given: Iterable[str], stdin: Callable[[], bytes]) -> str:
    """The values of --url-query together: as for --data-urlencode, and as they are behind a plus."""
    pieces = (value[1:].encode() if value.startswith("+") else url_encoded(value, stdin) for value in given)
    return b"&".join(pieces).decode()


def _escaped(text: bytes) -> str:
    return quote(text, safe="").replace("%20", "+")

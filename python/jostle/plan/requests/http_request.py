"""One HTTP request as it is given outside a plan: a line of a list of URLs, a part of a curl command."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jostle.plan.requests.request import asking

__all__ = ["HttpRequest", "grouped"]


@dataclass(frozen=True, kw_only=True)
class HttpRequest:
    """A request of HTTP, as it is read from a command or a file."""

    url: str
    method: str = "GET"
    headers: Sequence[tuple[str, str | None]] = ()
    """In order; a value of None keeps jostle from adding this header itself."""
    body: bytes | Path | None = None
    """Bytes, or the file that holds them; None if there is none."""
    weight: int = 1
    target: str = ""
    """Sent in place of the URL's path and query, such as "*"."""

    def table(self, path: str) -> dict[str, Any]:
        """The request as a plan writes it. `path`: path and query of its URL."""
        return {
            **asking(self.method, self.target or path),
            **({"headers": grouped(self.headers)} if self.headers else {}),
            **_body(self.body),
            **({"weight": self.weight} if self.weight != 1 else {}),
        }


def grouped(headers: Sequence[tuple[str, str | None]]) -> dict[str, str | list[str]]:
    """The headers by name; one that is given more than once is sent more than once."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(name, []).extend([] if value is None else [value])
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _body(body: bytes | Path | None) -> dict[str, str]:
    if not body:
        return {}
    if isinstance(body, Path):
        return {"body-file": str(body)}
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body-hex": body.hex()}

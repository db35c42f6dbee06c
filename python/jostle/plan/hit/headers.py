"""The headers of `jostle hit`: those that are given, and those that other options stand for."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jostle.errors import PlanError
from jostle.plan.requests.http_request import grouped
from jostle.plan.requests.request import CODINGS, accepts_zstd
from jostle.url import basic_login

__all__ = ["headers_by_name", "stand_for_headers", "without_zstd"]

Header = str | tuple[str, str]
"""A header as it is given: "Name: value", or a pair."""


def stand_for_headers(given: dict[str, Any], name_of: Callable[[str], str], *, streamed: bool) -> None:
    """Turn the options that stand for headers into `headers`, and `json_body` into a body. A header that is
    given itself takes the place of one that an option stands for.
    """
    own: dict[str, str] = {}
    if (user := given.pop("user", None)) is not None:
        if ":" not in user:
            raise PlanError(f"{name_of('user')}: the password of {user!r} is missing", "write NAME:PASSWORD")
        own["Authorization"] = basic_login(user)
    if (agent := given.pop("agent", None)) is not None:
        own["User-Agent"] = agent
    if (text := given.pop("json_body", None)) is not None:
        if "body" in given:
            raise PlanError(
                f"{name_of('body')} and {name_of('json_body')} both say what is sent", "give one of them"
            )
        given["body"] = text
        own |= dict.fromkeys(("Content-Type", "Accept"), "application/json")
    if given.get("compressed"):
        own["Accept-Encoding"] = _codings_without_zstd(CODINGS) if streamed else CODINGS
    headers = list(given.get("headers", []))
    named = {_divided(header)[0].lower() for header in headers}
    headers += [(name, value) for name, value in own.items() if name.lower() not in named]
    if headers:
        given["headers"] = headers


def headers_by_name(headers: Iterable[Header], name_of: Callable[[str], str]) -> dict[str, str | list[str]]:
    """The headers by name; one that is given more than once is sent more than once."""
    for header in headers:
        if isinstance(header, str) and ":" not in header:
            raise PlanError(
                f"{name_of('headers')}: {header!r} has no colon", 'write for example "Accept: text/html"'
            )
    return grouped([_divided(header) for header in headers])


def _divided(header: Header) -> tuple[str, str]:
    name, value = header.partition(":")[::2] if isinstance(header, str) else header
    return name.strip(), value.strip()


def without_zstd(headers: Mapping[str, Any]) -> dict[str, Any]:
    """The headers of a pasted command for a stream: browsers accept zstd, whose events would come late."""
    return {
        name: _codings_without_zstd(value)
        if name.lower() == "accept-encoding" and isinstance(value, str)
        else value
        for name, value in headers.items()
    }


def _codings_without_zstd(codings: str) -> str:
    kept = (coding.strip() for coding in codings.split(",") if not accepts_zstd(coding))
    return ", ".join(kept) or "identity"

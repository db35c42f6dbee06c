"""A curl command as requests: method, URL, headers and body of each, and how to connect."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jostle.errors import PlanError
from jostle.plan.curl.connection import connection_options
from jostle.plan.curl.cookies import cookie_header
from jostle.plan.curl.data import DATA, joined, query_of
from jostle.plan.curl.form import FORM_DATA, form_body
from jostle.plan.curl.headers import DEFAULTS, added, custom_headers
from jostle.plan.curl.known import is_curl
from jostle.plan.curl.parse import Operation, operations
from jostle.plan.curl.text import curl_commands
from jostle.plan.curl.urls import listed_urls, with_file_name, with_query
from jostle.plan.requests.http_request import HttpRequest
from jostle.url import basic_login, read_url

__all__ = ["Pasted", "pasted"]

CURL_CODINGS = "deflate, gzip, br, zstd"
"""What curl's --compressed accepts."""


@dataclass(frozen=True)
class Pasted:
    """What a text with curl commands asks for."""

    requests: Sequence[HttpRequest]
    """In curl's order."""
    options: Mapping[str, Any]
    """How to connect, by the names of `jostle.plan.hit.plan.PLACES`."""


def pasted(given: str | Sequence[str], environment: Mapping[str, str]) -> Pasted:
    """What a pasted text with one or more curl commands, or the words of one command, would send.

    `environment`: values of variables in the text. Raises `PlanError` for what jostle cannot send.
    """
    requests: list[HttpRequest] = []
    connections: list[dict[str, Any]] = []
    for command in curl_commands(given, environment):
        assert is_curl(command.words[0])
        for operation in operations(command.words):
            found = list(_requests(operation, command.stdin))
            connections.append(connection_options(operation, found[0].url))
            requests += found
    if any(one != connections[0] for one in connections):
        keys = {
            key
            for one in connections
            for key in one
            if any(other.get(key) != one[key] for other in connections)
        }
        raise PlanError(
            f"the curl commands connect in different ways ({', '.join(sorted(keys))})",
            "load them one after another, or give all of them the same options",
        )
    return Pasted(requests, connections[0])


@dataclass(frozen=True)
class _Content:
    """What the options of data make of a request."""

    method: str
    body: bytes | Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    boundary: str = ""


def _requests(operation: Operation, stdin: Callable[[], bytes]) -> Iterator[HttpRequest]:
    uploads = operation.values("upload-file")
    content = _content(operation, stdin)
    for index, urls in enumerate(listed_urls(operation)):
        for url in urls:
            upload = uploads[index] if index < len(uploads) else None
            yield _request(operation, url, content, upload, stdin)


def _request(
    operation: Operation, url: str, content: _Content, upload: str | None, stdin: Callable[[], bytes]
) -> HttpRequest:
    read_url(url, ("http", "https"))
    target = operation.last("request-target") or ""
    if target and not target.startswith("/") and target != "*":
        raise PlanError(
            f"curl's --request-target: jostle sends a path or *, and {target!r} is neither",
            "write the path alone",
        )
    method, body = content.method, content.body
    if upload:
        method = "PUT"
        body = stdin() if upload in ("-", ".") else Path(upload)
        url = with_file_name(url, Path(upload)) if isinstance(body, Path) else url
    url = with_query(url, content.query)
    headers, named = custom_headers(operation.values("header"), stdin)
    own = {**DEFAULTS, **content.headers, **_own_headers(operation)}
    if own["User-Agent"] == "":
        del own["User-Agent"]
        named.add("user-agent")
    kept, texts = cookie_header(
        operation.values("cookie"), url, stdin, sessions=not operation.on("junk-session-cookies")
    )
    if kept or (texts and "cookie" not in named):
        own["Cookie"] = "; ".join(filter(None, (kept, "" if "cookie" in named else texts)))
        named.discard("cookie")
    sent: list[tuple[str, str | None]] = [
        (name, f"{value}; boundary={content.boundary}")
        if content.boundary and name.lower() == "content-type"
        else (name, value)
        for name, value in added(headers, named, own)
    ]
    present = {name.lower() for name, _ in sent}
    if "host" in named - present:
        raise PlanError("curl's -H 'Host:' takes out a header without which HTTP/1.1 is none", "leave it out")
    if "user-agent" not in present:
        sent.append(("User-Agent", None))
    method = operation.last("request") or method
    if body is None and method in ("POST", "PUT", "PATCH") and "content-length" not in present:
        sent.append(("Content-Length", None))  # -X POST alone: curl does not say that there is no body
    if "transfer-encoding" in present:
        raise PlanError(
            "jostle sends bodies with their length, not in chunks", "leave out -H 'Transfer-Encoding: …'"
        )
    return HttpRequest(
        url=url,
        target=target,
        method=method,
        headers=sent,
        body=body,
    )


def _content(operation: Operation, stdin: Callable[[], bytes]) -> _Content:
    """Method and body of requests without an upload, and what is added to their URLs."""
    data, forms = operation.all(*DATA), operation.all("form", "form-string")
    in_url = operation.on("get")
    kinds = [
        *(["-I"] if operation.on("head") else []),
        *(["-d"] if data and not in_url else []),
        *(["-F"] if forms else []),
        *(["-T"] if any(operation.values("upload-file")) else []),
    ]
    if len(kinds) > 1:
        raise PlanError(
            f"{' and '.join(kinds)} of curl exclude each other: curl itself refuses this", "leave one out"
        )
    method = "HEAD" if operation.on("head") else "GET"
    if in_url and data:
        return _Content(method, headers=_json(data), query=joined(data, stdin).decode("utf-8", "replace"))
    query = query_of(operation.values("url-query"), stdin)
    if forms:
        headers, _ = custom_headers(operation.values("header"), stdin)
        given = (value for name, value in headers if name.lower() == "content-type")
        body, boundary = form_body(
            forms, stdin, type=next(given, FORM_DATA), backslashes=operation.on("form-escape")
        )
        return _Content("POST", body, {"Content-Type": FORM_DATA}, query, boundary)
    if data:
        own = _json(data) or {"Content-Type": "application/x-www-form-urlencoded"}
        return _Content("POST", joined(data, stdin), own, query)
    return _Content(method, None, {}, query)


def _json(data: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The headers that --json stands for."""
    given = any(name == "json" for name, _ in data)
    return {"Content-Type": "application/json", "Accept": "application/json"} if given else {}


def _own_headers(operation: Operation) -> dict[str, str]:
    """The headers of the options that stand for one."""
    headers: dict[str, str] = {}
    if (agent := operation.last("user-agent")) is not None:
        headers["User-Agent"] = agent
    if referer := (operation.last("referer") or "").removesuffix(";auto"):
        headers["Referer"] = referer
    if operation.on("compressed"):
        headers["Accept-Encoding"] = CURL_CODINGS
    if part := operation.last("range"):
        headers["Range"] = f"bytes={part}" if "-" in part else f"bytes={part}-"
    if (token := operation.last("oauth2-bearer")) is not None:
        headers["Authorization"] = f"Bearer {token}"
    elif (user := operation.last("user")) is not None:
        if ":" not in user:
            raise PlanError(f"curl would ask for the password of {user!r}", "write -u USER:PASSWORD")
        headers["Authorization"] = basic_login(user)
    return headers

"""Several requests where one URL would be given: a file of URLs, or a pasted curl command."""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jostle.errors import PlanError
from jostle.plan.curl import has_curl
from jostle.plan.hit.headers import without_zstd
from jostle.plan.requests.http_request import HttpRequest
from jostle.plan.requests.request import METHODS
from jostle.plan.requests.url_list import read_url_list
from jostle.url import Url, has_scheme, read_url, shown

__all__ = ["Listed", "listed_requests", "put_into_plan", "read_urls"]

_SAID_BY_CURL = ("method", "headers", "compressed", "body", "json_body", "user", "agent", "urls", "journey")
"""Options of jostle that say what a curl command says already."""


class Listed:
    """What is sent in place of one URL. `options`: those of `jostle.plan.hit.plan.PLACES` with it."""

    def __init__(
        self, requests: Sequence[HttpRequest], options: Mapping[str, Any] = {}, order: str = "weighted"
    ) -> None:
        self.requests, self.options, self.order = requests, options, order


def listed_requests(
    url: str | Sequence[str], given: Mapping[str, Any], name_of: Callable[[str], str]
) -> Listed | None:
    """The requests that `url` and `given` list; None if `url` is the one URL to load. Raises `PlanError`.

    `url`: a URL, the text of one or more curl commands, or the words of one. `given["urls"]`: a file.
    """
    if not isinstance(url, str) or has_curl(url):
        from jostle.plan.curl.translate import pasted  # imported late: most targets are plain URLs

        for option in _SAID_BY_CURL:
            if given.get(option):
                raise PlanError(
                    f"the curl command and {name_of(option)} both say what is sent",
                    "write it into the command",
                )
        found = pasted(url, os.environ)
        return Listed(found.requests, found.options, "sequence" if len(found.requests) > 1 else "weighted")
    if (file := given.get("urls")) is None:
        return None
    if given.get("journey") is not None:
        raise PlanError(
            f"{name_of('urls')} and {name_of('journey')} both say what is sent",
            "write the URLs into the journey",
        )
    method = given.get("method") or ("POST" if given.get("body") or given.get("json_body") else "GET")
    return Listed(read_urls(Path(file), url, method))


def read_urls(file: Path, base: str, method: str = "GET") -> list[HttpRequest]:
    """The requests of a file with a URL in each line. `base`: what comes before those that are paths.

    `method`: where a line names none. Raises `PlanError` with the number of a wrong line.
    """
    found: list[HttpRequest] = []
    for line in read_url_list(file, method):
        try:
            url = _whole(base, line.url)
        except PlanError as error:
            raise PlanError(f"{file}, line {line.number}: {error.message}", error.hint) from None
        found.append(HttpRequest(url=url, method=line.method, weight=line.weight))
    return found


def _whole(base: str, url: str) -> str:
    """A URL of a list as a whole one: a path comes behind that of `base`."""
    if has_scheme(url):
        return url
    if not base:
        raise PlanError(f"{shown(url)!r} names no server", "give the URL of the server beside the list")
    if re.search("[?#]", base):
        raise PlanError(
            f"{shown(base)!r}: paths come behind it, so it ends with its own",
            "leave out what begins with ? or #",
        )
    return f"{base.rstrip('/')}/{url.removeprefix('/')}"


def put_into_plan(data: dict[str, Any], listed: Listed, first: Url) -> None:
    """Put each of the listed requests into a plan of `hit`, with what all of them share."""
    workload = data["workload"]["hit"]
    shared = {key: value for key, value in workload["request"].items() if key not in _ASKED_FOR}
    tables = [_table(request, shared, first) for request in listed.requests]
    _name_apart(listed.requests, tables)
    workload |= {"request": tables if len(tables) > 1 else tables[0], "order": listed.order}
    if len(tables) > 1:
        data["title"] = f"{len(tables)} requests to {first.scheme}://{first.address}"


_ASKED_FOR = (*METHODS, "method", "path")
"""The keys of a request that say what is asked for."""


def _table(request: HttpRequest, shared: Mapping[str, Any], first: Url) -> dict[str, Any]:
    url = read_url(request.url, ("http", "https"))
    if (url.scheme, url.host, url.port) != (first.scheme, first.host, first.port):
        raise PlanError(
            f"{url} is on another server than {first.scheme}://{first.address}",
            "list the URLs of one server; for several write a plan",
        )
    table = request.table(url.path or "/")
    headers = {**shared.get("headers", {}), **table.get("headers", {})}
    if url.login and not any(name.lower() == "authorization" for name in headers):
        headers["Authorization"] = url.authorization
    return {**shared, **table, "headers": without_zstd(headers) if "stream" in shared else headers}


def _name_apart(requests: Sequence[HttpRequest], tables: Sequence[dict[str, Any]]) -> None:
    """Give a name to each request that looks like one before it: what differs is its body or a header."""
    seen: Counter[str] = Counter()
    for request, table in zip(requests, tables, strict=True):
        path = next(table[key] for key in (*METHODS, "path") if key in table)
        label = path if request.method == "GET" else f"{request.method} {path}"
        seen[label] += 1
        if seen[label] > 1:
            table["name"] = f"{label} #{seen[label]}"

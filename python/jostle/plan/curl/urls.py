"""The URLs of a curl command, with what options add to them."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from jostle.plan.curl.globbing import globbed
from jostle.plan.curl.parse import Operation
from jostle.url import parts

__all__ = ["listed_urls", "with_file_name", "with_query"]


def listed_urls(operation: Operation) -> list[list[str]]:
    """For each URL as it is written, the URLs that it stands for: whole, and without dots in their paths."""
    scheme = operation.last("proto-default") or "http"
    expand: Callable[[str], list[str]] = (lambda url: [url]) if operation.on("globoff") else globbed
    squash: Callable[[str], str] = str if operation.on("path-as-is") else _without_dots
    return [[_rebuilt(url, scheme, squash) for url in expand(written)] for written in operation.urls]


def with_query(url: str, query: str) -> str:
    """The URL with `query` behind its own."""
    scheme, host, path, own = _parts(url)
    joint = "" if own in ("", "?") or own.endswith("&") else "&"
    return f"{scheme}{host}{path}{own or '?'}{joint}{query}" if query else url


def with_file_name(url: str, file: Path) -> str:
    """The URL to which a file is uploaded: with the file's name if the path ends in a folder."""
    scheme, host, path, query = _parts(url)
    return f"{scheme}{host}{path}{quote(file.name, safe='')}{query}" if path.endswith("/") else url


def _parts(url: str) -> tuple[str, str, str, str]:
    """Scheme with ://, authority, path, and query with its question mark."""
    scheme, authority, path, query = parts(url)
    return f"{scheme}://" if scheme else "", authority, path or "/", "" if query is None else f"?{query}"


def _rebuilt(url: str, scheme: str, squash: Callable[[str], str]) -> str:
    own, host, path, query = _parts(url)
    return f"{own or f'{scheme}://'}{host}{squash(path)}{query}"


def _without_dots(path: str) -> str:
    """RFC 3986, section 5.2.4: "/a/../b/." → "/b/"."""
    kept: list[str] = []
    segments = path.split("/")[1:]
    for index, segment in enumerate(segments):
        last = index == len(segments) - 1
        if segment == "..":
            kept = kept[:-1]
        if segment in (".", ".."):
            kept += [""] if last else []
        else:
            kept.append(segment)
    return "/" + "/".join(kept)

"""The cookies that curl's -b sends: texts, and files of cookies."""

import time
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from jostle.plan.curl.command import file_bytes

__all__ = ["cookie_header"]


def cookie_header(
    given: Iterable[str], url: str, stdin: Callable[[], bytes], *, sessions: bool
) -> tuple[str, str]:
    """The cookies that files have for `url`, and those given as texts; each "" if there are none.

    A value without "=" names a file; one that does not exist is an empty one. `sessions`: cookies without a
    time at which they expire are sent, too.
    """
    texts: list[str] = []
    kept: list[str] = []
    for value in given:
        if "=" in value:
            texts.append(value)
        elif value == "-":
            kept += _kept(stdin(), url, sessions)
        elif value and Path(value).exists():
            kept += _kept(file_bytes(Path(value)), url, sessions)
    return "; ".join(kept), ";".join(texts)


def _kept(data: bytes, url: str, sessions: bool) -> Iterable[str]:
    """The cookies for `url` in a file of Netscape's form: seven columns, divided by tabs."""
    parts = urlsplit(url)
    found: list[tuple[int, str]] = []
    for line in data.decode("utf-8", "replace").splitlines():
        columns = line.removeprefix("#HttpOnly_").split("\t")
        if columns[0].startswith("#") or len(columns) < 6:
            continue
        domain, tail, path, secure, expires, name = columns[:6]
        if (
            _is_of(parts.hostname or "", domain, tail == "TRUE")
            and _is_under(parts.path or "/", path)
            and (secure != "TRUE" or parts.scheme == "https")
            and (float(expires or 0) > time.time() if float(expires or 0) else sessions)
        ):
            found.append((len(path), f"{name}={columns[6] if len(columns) > 6 else ''}"))
    return [cookie for _, cookie in sorted(found, key=lambda one: -one[0])]


def _is_of(host: str, domain: str, tail: bool) -> bool:
    bare = domain.removeprefix(".").lower()
    try:
        ip_address(host)
    except ValueError:
        return host == bare or (tail and host.endswith(f".{bare}"))
    return host == bare


def _is_under(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(prefix if prefix.endswith("/") else f"{prefix}/")

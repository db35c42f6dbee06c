"""The cookies that curl's -b sends: texts, and files of cookies."""

import os
import time
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from pathlib import Path

from jostle.plan.curl.command import file_bytes
from jostle.url import read_url

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
        elif os.path.exists(value):  # noqa: PTH110 (a text too long for a path is none)
            kept += _kept(file_bytes(Path(value)), url, sessions)
    return "; ".join(kept), ";".join(texts)


def _kept(data: bytes, url: str, sessions: bool) -> Iterable[str]:
    """The cookies for `url` in a file of Netscape's form: seven columns, divided by tabs."""
    target = read_url(url)
    target_path = target.path.partition("?")[0] or "/"
    now = time.time()
    found: list[tuple[int, str]] = []
    for line in data.decode("utf-8", "replace").splitlines():
        columns = line.removeprefix("#HttpOnly_").split("\t")
        if columns[0].startswith("#") or len(columns) < 6:
            continue
        domain, tail, path, secure, expires, name = columns[:6]
        if (
            _is_of(target.host, domain, tail == "TRUE")
            and _is_under(target_path, path)
            and (secure != "TRUE" or target.tls)
            and _is_kept(expires, now, sessions)
        ):
            found.append((len(path), f"{name}={columns[6] if len(columns) > 6 else ''}"))
    return [cookie for _, cookie in sorted(found, key=lambda one: -one[0])]


def _is_kept(expires: str, now: float, sessions: bool) -> bool:
    """Whether a cookie is sent. `expires`: Unix time, 0 or "" at the end of the session; else no cookie."""
    try:
        until = float(expires or 0)
    except ValueError:
        return False
    return until > now if until else sessions


def _is_of(host: str, domain: str, tail: bool) -> bool:
    bare = domain.removeprefix(".").lower()
    try:
        ip_address(host)
    except ValueError:
        return host == bare or (tail and host.endswith(f".{bare}"))
    return host == bare


def _is_under(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(prefix if prefix.endswith("/") else f"{prefix}/")

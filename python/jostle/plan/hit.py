"""The plan behind `jostle hit URL`: one workload, one round, on a server that runs already."""

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from jostle import units
from jostle.errors import PlanError
from jostle.plan.model import Plan
from jostle.plan.request import METHODS

__all__ = ["plan_for_hit"]

CLIENTS = 50
SECONDS = 10.0

_OPTIONS = {
    "load.clients": "-c",
    "load.for": "-d",
    "load.requests": "-n",
    "load.rate": "--rate",
    "load.arrivals": "--arrivals",
    "load.max-connections": "-c",
    "load.think": "--think",
    "timeout": "--timeout",
    "connect-timeout": "--connect-timeout",
    "first-byte-timeout": "--first-byte-timeout",
    "request.headers": "-H",
    "request.body-file": "-b",
    "request.expect": "--expect",
    "connection.tls.ca": "--ca",
    "connection.tls.cert": "--cert",
    "connection.tls.key": "--key",
}
"""What places in the plan are called on the command line."""


def plan_for_hit(
    url: str,
    *,
    method: str = "GET",
    headers: Iterable[tuple[str, str]] = (),
    body: str = "",
    body_file: Path | str | None = None,
    expect: str | int | dict[str, Any] | None = None,
    clients: int | None = None,
    seconds: float | None = None,
    requests: int | None = None,
    rate: float | None = None,
    seed: int | None = None,
    warm_up: float = 0.0,
    rows: bool = False,
    tls: dict[str, Any] | None = None,
    connect_to: Iterable[str] = (),
    **more: Any,
) -> Plan:
    """A closed load of `clients`, or an open one of `rate` per second over at most `clients` connections.

    Lasts `seconds`, or until `requests` in all are answered, or whichever comes first; 10 s of 50 clients when
    nothing is said. `more`: other keys of a load or workload, with underscores, as a plan writes them
    (`keep_alive=False`, `think="900ms ± 10%"`, `arrivals="constant"`, `timeout="3s"`); None counts as not
    given. Raises `PlanError` in the words of the command's options.
    """
    scheme, host, port, path, login = _split(url)
    if method.lower() not in METHODS:
        raise PlanError(f"-m: {method!r} is no method", f"write one of {', '.join(METHODS).upper()}")
    if login:
        headers = [*headers, ("Authorization", login)]
    request = _given(body=body, body_file=body_file and str(body_file), expect=expect)
    request |= {method.lower(): path, "headers": _grouped(headers)}
    if requests is None and seconds is None:
        seconds = SECONDS
    load = _given(requests=requests, **{"for": _time(seconds)})
    if rate is None:
        load["clients"] = CLIENTS if clients is None else clients
    else:
        load |= _given(rate=f"{units.exact_number(rate)}/s", max_connections=clients)
    workload_keys = ("timeout", "connect_timeout", "first_byte_timeout")
    load |= _given(**{key: value for key, value in more.items() if key not in workload_keys})
    workload = _given(**{key: _time(more.get(key)) for key in workload_keys})
    connection = _given(
        tls=({} if tls is None else tls) if scheme == "https" else None, connect_to=[*connect_to]
    )
    workload |= {"request": request, "load": load, "rows": rows, "connection": connection}
    bracketed = f"[{host}]" if ":" in host else host
    data = {
        "title": f"{scheme}://{bracketed}:{port}{path}",
        "contestants": [host],
        "rounds": 1,
        "warm-up": _time(warm_up),
        "workload": {"hit": workload},
        "contestant": {host: {"url": f"{scheme}://{bracketed}:{port}"}},
    } | _given(seed=seed)
    options = {f"workload.hit.{place}": option for place, option in _OPTIONS.items()}
    options |= {
        "workload.hit.load": "",
        "workload.hit.request": "",
        "workload.hit": "",
        "warm-up": "--warm-up",
    }
    return Plan.of(data, "", base=Path.cwd(), options=options)


def _split(url: str) -> tuple[str, str, int, str, str]:
    """Scheme, host, port, path with query, and the Authorization header for a user in the URL."""
    example = "write for example http://localhost:8080/hello"
    full = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(full)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise PlanError(f"{url!r} is not a URL: {error}", example) from None
    if parts.scheme not in ("http", "https"):
        raise PlanError(f"{url!r}: {parts.scheme!r} is not spoken here", "write http:// or https://")
    if not host:
        raise PlanError(f"{url!r} names no host", example)
    if not host.isascii():
        host = host.encode("idna").decode()
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]{}|\"^`")
    login = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        login = "Basic " + base64.b64encode(pair.encode()).decode()
    fallback = 443 if parts.scheme == "https" else 80
    return parts.scheme, host, fallback if port is None else port, f"{path}?{query}" if query else path, login


def _given(**values: Any) -> dict[str, Any]:
    """As keys of a plan, without those that are not given."""
    return {key.replace("_", "-"): value for key, value in values.items() if value not in (None, "", [])}


def _time(value: float | str | None) -> str | None:
    """Seconds as text of a plan; text as it is."""
    return units.exact_duration(value) if isinstance(value, int | float) else value


def _grouped(headers: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    """A header that is given more than once is sent more than once."""
    grouped: dict[str, list[str]] = {}
    for name, value in headers:
        grouped.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in grouped.items()}

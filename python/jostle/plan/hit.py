"""The plan behind `jostle hit URL`: one workload, one round, on a server that runs already."""

import base64
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from jostle import units
from jostle.errors import PlanError
from jostle.plan.model import Plan
from jostle.plan.request import METHODS
from jostle.text import DEFAULT_PORTS

__all__ = ["plan_for_hit"]

CLIENTS = 10
SECONDS = 10.0
BARE_RATE = re.compile(r"[\d_,.]+([eE][+-]?\d+)?[kM]?")
"""A rate without its time, which is then a second."""

_PLAN = {"seed", "threads", "processes"}
_TIMES = {"timeout", "connect-timeout", "first-byte-timeout", "warm-up"}
_CONNECTION = {"connect-to", "source-addresses", "resolve-each", "nodelay"}
"""Where keys belong that are not a load's."""

_OPTIONS = {
    "seed": "--seed",
    "threads": "--threads",
    "processes": "--processes",
    "workload.hit": "",
    "workload.hit.timeout": "--timeout",
    "workload.hit.first-byte-timeout": "--first-byte-timeout",
    "workload.hit.connect-timeout": "--connect-timeout",
    "workload.hit.connection.connect-to": "--connect-to",
    "workload.hit.connection.source-addresses": "--source-address",
    "workload.hit.connection.tls": "--cert, --key",
    "workload.hit.connection.tls.ca": "--cacert",
    "workload.hit.connection.tls.cert": "--cert",
    "workload.hit.connection.tls.key": "--key",
    "workload.hit.load": "",
    "workload.hit.load.clients": "-c",
    "workload.hit.load.max-connections": "-c",
    "workload.hit.load.for": "-d",
    "workload.hit.load.requests": "-n",
    "workload.hit.load.rate": "--rate",
    "workload.hit.load.arrivals": "--arrivals",
    "workload.hit.load.think": "--think",
    "workload.hit.load.requests-per-connection": "--requests-per-connection",
    "workload.hit.request": "",
    "workload.hit.request.headers": "-H",
    "workload.hit.request.body-file": "-b",
    "workload.hit.request.expect": "--expect",
}
"""What places in the plan are called on the command line."""


def plan_for_hit(
    url: str,
    *,
    method: str | None = None,
    headers: Iterable[str | tuple[str, str]] = (),
    body: str | None = None,
    expect: str | int | dict[str, Any] | None = None,
    clients: int | str | None = None,
    seconds: float | str | None = None,
    requests: int | str | None = None,
    rate: float | str | None = None,
    arrivals: str | dict[str, str] = "poisson",
    insecure: bool = False,
    **more: Any,
) -> Plan:
    """A closed load of `clients`, or an open one of `rate` per second (which `arrivals` time) over at most
    `clients` connections.

    It lasts `seconds`, or until `requests` in all are answered, or whichever comes first; 10 clients and
    10 s when nothing is said. `headers`: "Name: value" or pairs. `body`: text, or "@" and a file's name; the
    method is then POST if none is given. `expect`: text that every answer contains, a status, or a table as
    in a plan. `more`: other keys of the load, the workload, its connection or the plan, with underscores
    (`keep_alive=False`, `timeout="3s"`, `seed=7`, `connect_to=["unix:/run/app"]`); None counts as not given.
    Raises `PlanError` in the words of the command's options.
    """
    scheme, host, port, path, login = _split(url)
    given = {key.replace("_", "-"): value for key, value in more.items() if value is not None}
    request = _request(method, path, body, expect)
    request["headers"] = _grouped([*headers, *([("Authorization", login)] if login else [])])
    connection = {key: given.pop(key) for key in _CONNECTION & given.keys()}
    if scheme == "https":
        connection["tls"] = {**given.pop("tls", {}), "verify": not insecure}
    elif "tls" in given:
        raise PlanError(f"{url!r} does not use TLS, so certificates say nothing", "write https://")
    workload = {key: _time(given.pop(key)) for key in _TIMES & given.keys()}
    workload |= {key: given.pop(key) for key in {"rows"} & given.keys()}
    plan = {key: given.pop(key) for key in _PLAN & given.keys()}
    load: dict[str, Any] = {} if requests is None else {"requests": requests}
    if seconds is not None or requests is None:
        load["for"] = _time(SECONDS if seconds is None else seconds)
    if rate is not None:
        load |= {"rate": f"{rate}/s" if BARE_RATE.fullmatch(str(rate)) else rate, "arrivals": arrivals}
        load |= {} if clients is None else {"max-connections": clients}
    elif arrivals != "poisson":
        raise PlanError("--arrivals: clients who wait for their answers have none", "give a --rate as well")
    else:
        load["clients"] = CLIENTS if clients is None else clients
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    name = host if ":" not in host else "target"  # a colon begins the variants of a contestant
    data = {
        "title": f"{scheme}://{address}{path}",
        "contestants": [name],
        "rounds": 1,
        "workload": {
            "hit": {**workload, "request": request, "load": {**load, **given}, "connection": connection}
        },
        "contestant": {name: {"url": f"{scheme}://{address}"}},
        **plan,
    }
    return Plan.of(data, "", base=Path.cwd(), options=_OPTIONS)


def _request(method: str | None, path: str, body: str | None, expect: Any) -> dict[str, Any]:
    method = method or ("GET" if body is None else "POST")
    if method.lower() not in METHODS:
        raise PlanError(f"-m: {method!r} is no method", f"write one of {', '.join(METHODS).upper()}")
    request: dict[str, Any] = {method.lower(): path}
    if body is not None:
        request |= {"body-file": body[1:]} if body.startswith("@") else {"body": body}
    if expect is not None:
        request["expect"] = {"contains": expect} if isinstance(expect, str) else expect
    return request


def _time(value: Any) -> Any:
    """As a plan writes it; a bare number is seconds."""
    text = units.exact_duration(value) if isinstance(value, int | float) else value
    return f"{text}s" if isinstance(text, str) and text.isdecimal() else text


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
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]|\"^`")
    login = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        login = "Basic " + base64.b64encode(pair.encode()).decode()
    return (
        parts.scheme,
        host,
        DEFAULT_PORTS[parts.scheme] if port is None else port,
        f"{path}?{query}" if query else path,
        login,
    )


def _grouped(headers: Iterable[str | tuple[str, str]]) -> dict[str, str | list[str]]:
    """By name; a header that is given more than once is sent more than once."""
    grouped: dict[str, list[str]] = {}
    for header in headers:
        name, colon, value = header.partition(":") if isinstance(header, str) else (header[0], ":", header[1])
        if not colon:
            raise PlanError(f"-H: {header!r} has no colon", "write for example -H 'Accept: text/html'")
        grouped.setdefault(name.strip(), []).append(value.strip())
    return {name: values[0] if len(values) == 1 else values for name, values in grouped.items()}

"""The plan behind `jostle.hit` and `jostle hit`: one workload, one round, on a server that runs already."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jostle import units
from jostle.errors import PlanError, nearest
from jostle.plan.hit.journeys import journeys_of
from jostle.plan.hit.listed import listed_requests, put_into_plan
from jostle.plan.hit.request import STREAM_KEYS, request_of
from jostle.plan.model import Plan
from jostle.url import Url, read_url

__all__ = ["PLACES", "REDIRECTS", "WORKLOAD", "hit_plan"]

CLIENTS = 10
SECONDS = 10.0
REDIRECTS = 5
"""How many redirects are followed for one request if the user gives no number."""
BARE_RATE = re.compile(r"[\d_,.]+([eE][+-]?\d+)?[kM]?")
"""A rate without a unit of time, which is then per second."""

WORKLOAD = "workload.hit"
PLACES = {
    "seed": "seed",
    "threads": "threads",
    "processes": "processes",
    "busy_poll": "busy-poll",
    "cluster": "cluster.address",
    "allow_targets": "cluster.allow-targets",
    "clients": f"{WORKLOAD}.load.clients",
    "requests": f"{WORKLOAD}.load.requests",
    "seconds": f"{WORKLOAD}.load.for",
    "rate": f"{WORKLOAD}.load.rate",
    "arrivals": f"{WORKLOAD}.load.arrivals",
    "think": f"{WORKLOAD}.load.think",
    "keep_alive": f"{WORKLOAD}.load.keep-alive",
    "requests_per_connection": f"{WORKLOAD}.load.requests-per-connection",
    "requests_per_client": f"{WORKLOAD}.load.requests-per-client",
    "renew": f"{WORKLOAD}.load.renew",
    "journey": f"{WORKLOAD}.journeys",
    "method": f"{WORKLOAD}.request",
    "compressed": f"{WORKLOAD}.request.headers.Accept-Encoding",
    "headers": f"{WORKLOAD}.request.headers",
    "user": f"{WORKLOAD}.request.headers.Authorization",
    "agent": f"{WORKLOAD}.request.headers.User-Agent",
    "body": f"{WORKLOAD}.request.body",
    "json_body": f"{WORKLOAD}.request.body",
    "urls": f"{WORKLOAD}.request",
    "send": f"{WORKLOAD}.request.send",
    "match": f"{WORKLOAD}.request.match",
    "ping": f"{WORKLOAD}.request.ping",
    "until": f"{WORKLOAD}.request.until",
    "proto": f"{WORKLOAD}.request.proto",
    "import_path": f"{WORKLOAD}.request.import-path",
    "message": f"{WORKLOAD}.request.message",
    "deadline": f"{WORKLOAD}.request.deadline",
    "every": f"{WORKLOAD}.request.every",
    "expect": f"{WORKLOAD}.request.expect",
    "expect_not": f"{WORKLOAD}.request.expect.lacks",
    "expect_status": f"{WORKLOAD}.request.expect.status",
    "stream": f"{WORKLOAD}.request.stream.format",
    **{f"stream_{key}": f"{WORKLOAD}.request.stream.{key}" for key in STREAM_KEYS},
    "stall": f"{WORKLOAD}.request.stream.stall",
    "slo": f"{WORKLOAD}.request.stream.slo",
    "timeout": f"{WORKLOAD}.timeout",
    "first_byte_timeout": f"{WORKLOAD}.first-byte-timeout",
    "connect_timeout": f"{WORKLOAD}.connect-timeout",
    "warm_up": f"{WORKLOAD}.warm-up",
    "body_limit": f"{WORKLOAD}.body-limit",
    "redirects": f"{WORKLOAD}.redirects",
    "rows": f"{WORKLOAD}.rows",
    "connect_to": f"{WORKLOAD}.connection.connect-to",
    "source_addresses": f"{WORKLOAD}.connection.source-addresses",
    "resolve_each": f"{WORKLOAD}.connection.resolve-each",
    "nodelay": f"{WORKLOAD}.connection.nodelay",
    "http2": f"{WORKLOAD}.connection.http2",
    "http2_connections": f"{WORKLOAD}.connection.http2.connections",
    "insecure": f"{WORKLOAD}.connection.tls.verify",
    "ca": f"{WORKLOAD}.connection.tls.ca",
    "cert": f"{WORKLOAD}.connection.tls.cert",
    "key": f"{WORKLOAD}.connection.tls.key",
    "server_name": f"{WORKLOAD}.connection.tls.server-name",
    "tls_version": f"{WORKLOAD}.connection.tls.version",
    "resume": f"{WORKLOAD}.connection.tls.resume",
}
"""Each option and its place in the plan."""

_TIMES = (
    *("seconds", "timeout", "first_byte_timeout", "connect_timeout", "warm_up"),
    *("stall", "deadline", "every", "ping"),
)
_TLS = f"{WORKLOAD}.connection.tls"


def hit_plan(
    url: str | Sequence[str], options: Mapping[str, Any], name_of: Callable[[str], str] = str
) -> Plan:
    """The plan for `url` with `options` of `PLACES`; None counts as not given.

    In place of a URL, `url` may be one or more curl commands as a text, or the words of one: what curl would
    send is sent, in turn. `urls`: a file with a URL in each line, all of one server; `url` comes before those
    that are paths, and may be "" if none is.

    A closed load of `clients`, or an open one of `rate` per second (timed by `arrivals`) over at most
    `clients` connections. It lasts `seconds`, or until `requests` are answered, whichever comes first; the
    defaults are 10 clients and 10 s. Bare numbers are seconds, or requests per second.
    `headers`: "Name: value" or pairs. `body`: text, or "@" and a file name; the method is then POST if none
    is given. `json_body`: the same, as JSON, with its headers. `user`: "name:password". `agent`: User-Agent.
    `expect`: text that every response contains, a status, or a table as in a plan. `expect_not`: text that
    none contains. `expect_status`: the statuses that are right, "200,204". `compressed`: responses may be
    compressed with gzip, brotli or zstd (streams, whose events zstd would hold back: with gzip or brotli).
    `stream`: the response is a stream of events, "sse" or "lines", which ends with event number
    `stream_events` or with the text `stream_until`; `stall`: the longest time between two events;
    `stream_first`, `stream_fails`, `stream_usage`: the first event that counts, errors, and the number of
    tokens, by a regular expression or "json:/pointer"; `slo`: its bounds, "first event < 500 ms, gap p99 < 50
    ms". `journey`: what `jostle.journey` builds, a file with `[journey.NAME]` tables as in a plan, a .hurl
    file, or a script (.luau). Journeys are sent in place of requests, all equally often; `requests` and
    `requests_per_client` then count journeys. `pid`: the server's process, to be watched on this machine.
    With a URL of ws:// or wss://, `send` is the message of each request, or "@" and a file name, `match` says
    which message is its response, and each client sends a ping every `ping` seconds. With tcp://, `send` is
    the bytes of each request (a text with escapes, "hex:" or "@" and a file name), and `until` says where its
    response ends: a text with escapes, "hex:", "length:", "regex:" or "close". With udp://, `send` is one
    datagram, and `match` says which one is its response.
    `http2`: speak HTTP/2, over a connection for each client, or over `http2_connections` that they share.
    With grpc:// or grpcs://, whose path is package.Service/Method, `proto` names the .proto files,
    `import_path` the folders of their imports, `message` is JSON or "@" and a file, the messages of a list
    are sent `every` so many seconds, `headers` are metadata, and the call must end within its `deadline`.
    `name_of`: what the caller calls an option, for messages. Raises `PlanError`.
    """
    given = {name: _plain(value) for name, value in options.items() if value is not None}
    pid = given.pop("pid", None)
    for name in given.keys() - PLACES.keys():
        raise PlanError(f"there is no option {name!r}", nearest(name, PLACES))
    listed = listed_requests(url, given, name_of)
    if listed is None:
        assert isinstance(url, str)
        target = _url(url)
    else:
        given = {**listed.options, **{name: value for name, value in given.items() if name != "urls"}}
        target = replace(read_url(listed.requests[0].url, HTTP), login="")  # each has its own
    journeys = journeys_of(target, given, name_of)
    request = request_of(target, given, name_of)
    _complete_load(given, name_of)
    _complete_tls(target, given)
    server = target.host if ":" not in target.host else "target"  # a colon begins a contestant's variants
    data = _one_workload(target, server, request, journeys)
    if pid is not None:
        data["contestant"][server]["pid"] = pid
    if given.pop("http2", False) or "http2_connections" in given:
        data["workload"]["hit"]["connection"]["http2"] = {}
    places = _places(given, counts_journeys=bool(journeys))
    for option, place in places.items():
        if target.tls or not place.startswith(_TLS):
            _set_path(data, place, _time(given[option]) if option in _TIMES else given[option])
    if listed is not None:
        put_into_plan(data, listed, target)
    return Plan.of(data, "", base=Path.cwd(), places=_names(target, server, places, name_of))


def _complete_tls(target: Url, given: dict[str, Any]) -> None:
    """Whether certificates are verified; options about TLS are refused for a URL without it."""
    if target.tls:
        given["insecure"] = not given.get("insecure", False)  # its place is `verify`
    elif any(PLACES[name].startswith(_TLS) and given[name] for name in given.keys() - {"insecure"}):
        raise PlanError(
            f"{target} does not use TLS, so certificates say nothing",
            _WITH_TLS.get(target.scheme, "leave them out"),
        )


_WITH_TLS = {"http": "write https://", "ws": "write wss://", "grpc": "write grpcs://"}


def _one_workload(
    target: Url, server: str, request: dict[str, Any], journeys: dict[str, Any]
) -> dict[str, Any]:
    """The plan with nothing but what is sent, and to which server."""
    path = "" if target.scheme == "tcp" or journeys else target.path or "/"
    base = replace(target, scheme="https" if target.tls else "udp" if target.scheme == "udp" else "http")
    data: dict[str, Any] = {
        "title": f"{target.scheme}://{target.address}{path}",
        "contestants": [server],
        "rounds": 1,
        "repeats": False,
        "workload": {"hit": {"request": request, "load": {}, "connection": {}}},
        "contestant": {server: {"url": base.at_path("")}},
    }
    if journeys:
        data["journey"] = journeys
        data["workload"]["hit"]["journeys"] = list(journeys)
        del data["workload"]["hit"]["request"]
    return data


def _names(target: Url, server: str, places: dict[str, str], name_of: Callable[[str], str]) -> dict[str, str]:
    """What the caller calls the places of the plan, for messages."""
    request = f"{WORKLOAD}.request"
    names = {place: name_of(option) for option, place in (PLACES | places).items()}
    names |= dict.fromkeys((WORKLOAD, f"{WORKLOAD}.load", request, f"{WORKLOAD}.connection"), "")
    for scheme in ("tcp", "udp"):
        names |= {f"{request}.{scheme}{key}": name_of("send") for key in ("", ".text", ".hex", ".file")}
    names |= {f"{request}.until.{key}": name_of("until") for key in ("text", "hex", "length", "regex")}
    return names | {
        f"{request}.method": name_of("method"),
        f"{request}.body-file": name_of("send" if target.scheme in ("ws", "wss") else "body"),
        _TLS: f"{name_of('cert')}, {name_of('key')}",
        f"contestant.{server}.pid": name_of("pid"),
    }


def _of_journeys(place: str) -> str:
    """The place of an option when journeys are sent: it counts journeys instead of requests."""
    for key in ("requests", "requests-per-client"):
        if place.endswith(f".load.{key}"):
            return place.removesuffix(key) + key.replace("requests", "iterations")
    return place


def _complete_load(given: dict[str, Any], name_of: Callable[[str], str]) -> None:
    """Fill in what is not given: the number of clients, and the time at which the load ends."""
    if "requests" not in given:
        given.setdefault("seconds", SECONDS)
    if "rate" in given:
        rate = str(given["rate"])
        given["rate"] = f"{rate}/s" if BARE_RATE.fullmatch(rate) else given["rate"]
        return
    if given.pop("arrivals", "poisson") != "poisson":
        raise PlanError(
            f"{name_of('arrivals')}: a closed loop has no arrival process",
            f"give {name_of('rate')} as well",
        )
    given.setdefault("clients", CLIENTS)


def _places(given: Mapping[str, Any], *, counts_journeys: bool) -> dict[str, str]:
    """The place of each given option in the plan. With a rate, `clients` is the limit of connections."""
    places = {option: PLACES[option] for option in given}
    if "rate" in given and "clients" in given:
        places["clients"] = f"{WORKLOAD}.load.max-connections"
    return {option: _of_journeys(place) for option, place in places.items()} if counts_journeys else places


def _set_path(data: dict[str, Any], place: str, value: Any) -> None:
    *tables, key = place.split(".")
    for table in tables:
        data = data.setdefault(table, {})
    data[key] = value


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _time(value: Any) -> Any:
    """A time as a plan writes it; a bare number is seconds."""
    text = units.exact_duration(value) if isinstance(value, int | float) else value
    return f"{text}s" if isinstance(text, str) and text.isdecimal() else text


HTTP = ("http", "https")
SCHEMES = ("http", "https", "ws", "wss", "tcp", "udp", "grpc", "grpcs")


def _url(text: str) -> Url:
    """What is to be loaded. Raises `PlanError`."""
    url = read_url(text, SCHEMES)
    if url.scheme in ("tcp", "udp") and (url.path or url.login):
        raise PlanError(
            f"{url} is more than a host and a port", f"write for example {url.scheme}://{url.address}"
        )
    return url

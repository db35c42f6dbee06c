"""The plan behind `jostle.hit` and `jostle hit`: one workload, one round, on a server that runs already."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jostle import units
from jostle.errors import BadValue, PlanError, nearest
from jostle.plan.builder import JourneyBuilder
from jostle.plan.grpc import read_message
from jostle.plan.hit_headers import headers_by_name, stand_for_headers, without_zstd
from jostle.plan.http_request import HttpRequest
from jostle.plan.listed import Listed, listed_requests
from jostle.plan.loading import parse_toml
from jostle.plan.model import Plan
from jostle.plan.raw import sent_as, until_as
from jostle.plan.request import METHODS, asking
from jostle.text import read_text, reason
from jostle.url import Url, read_url

__all__ = ["PLACES", "REDIRECTS", "WORKLOAD", "hit_plan"]

CLIENTS = 10
SECONDS = 10.0
REDIRECTS = 5
"""How many redirects are followed for one request if the user gives no number."""
BARE_RATE = re.compile(r"[\d_,.]+([eE][+-]?\d+)?[kM]?")
"""A rate without a unit of time, which is then per second."""

WORKLOAD = "workload.hit"
_STREAM_KEYS = ("events", "until", "first", "fails", "usage")
PLACES = {
    "seed": "seed",
    "threads": "threads",
    "processes": "processes",
    "attention": "attention",
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
    "expect_status": f"{WORKLOAD}.request.expect.status",
    "stream": f"{WORKLOAD}.request.stream.format",
    **{f"stream_{key}": f"{WORKLOAD}.request.stream.{key}" for key in _STREAM_KEYS},
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
    `expect`: text that every answer contains, a status, or a table as in a plan. `expect_status`:
    the statuses that are right, "200,204". `compressed`: answers may be compressed with gzip, brotli or zstd
    (streams, whose events zstd would hold back: with gzip or brotli).
    `stream`: the answer is a stream of events, "sse" or "lines", which ends with event number `stream_events`
    or with the text `stream_until`; `stall`: the longest time between two events; `stream_first`,
    `stream_fails`, `stream_usage`: the first event that counts, errors, and the number of tokens, by a
    regular expression or "json:/pointer"; `slo`: its bounds, "first event < 500 ms, gap p99 < 50 ms".
    `journey`: what `jostle.journey` builds, a file with `[journey.NAME]` tables as in a plan, a .hurl file,
    or a script (.luau). Journeys are sent in place of requests, all equally often; `requests` and
    `requests_per_client` then count journeys. `pid`: the server's process, to be watched on this machine.
    With a URL of ws:// or wss://, `send` is the message of each request, or "@" and a file name, `match` says
    which message is its answer, and each client sends a ping every `ping` seconds. With tcp://, `send` is the
    bytes of each request (a text with escapes, "hex:" or "@" and a file name), and `until` says where its
    answer ends: a text with escapes, "hex:", "length:", "regex:" or "close". With udp://, `send` is one
    datagram, and `match` says which one is its answer.
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
    if listed is not None:
        given = {**listed.options, **{name: value for name, value in given.items() if name != "urls"}}
        url = listed.requests[0].url
    assert isinstance(url, str)
    target = _url(url) if listed is None else replace(read_url(url, HTTP), login="")  # each has its own
    scheme, path, tls = target.scheme, target.path or "/", target.tls
    journeys = _journeys(given, name_of)
    socket = scheme in ("ws", "wss")
    raw = scheme in ("tcp", "udp")
    grpc = scheme in ("grpc", "grpcs")
    if journeys:
        _check_journeys(target, name_of)
    if not grpc:
        _no_call(given, name_of)
    if not raw:
        stand_for_headers(given, name_of, streamed=any(given.get(option) for option in _STREAM))
    if grpc:
        request = _call(target, given, path, name_of)
    elif socket:
        request = _message(given, path, name_of)
    elif raw:
        request = _raw(given, scheme, name_of)
    else:
        _no_socket(given, name_of)
        request = _request(given, path, name_of)
    headers, _ = given.pop("headers", []), given.pop("compressed", None)
    if not raw:
        request["metadata" if grpc else "headers"] = headers_by_name(headers, name_of)
    _complete_load(given, name_of)
    if tls:
        given["insecure"] = not given.get("insecure", False)  # its place is `verify`
    elif any(PLACES[name].startswith(_TLS) and given[name] for name in given.keys() - {"insecure"}):
        raise PlanError(
            f"{target} does not use TLS, so certificates say nothing",
            "leave them out" if raw else f"write {'grpcs' if grpc else 'wss' if socket else 'https'}://",
        )
    name = target.host if ":" not in target.host else "target"  # a colon begins the variants of a contestant
    server = replace(target, scheme="https" if tls else "udp" if scheme == "udp" else "http")
    data: dict[str, Any] = {
        "title": f"{scheme}://{target.address}{'' if scheme == 'tcp' or journeys else path}",
        "contestants": [name],
        "rounds": 1,
        "repeats": False,
        "workload": {"hit": {"request": request, "load": {}, "connection": {}}},
        "contestant": {
            name: {"url": server.asking("")},
        },
    }
    if pid is not None:
        data["contestant"][name]["pid"] = pid
    if given.pop("http2", False) or "http2_connections" in given:
        data["workload"]["hit"]["connection"]["http2"] = {}
    places = _places(given)
    if journeys:
        data["journey"] = journeys
        data["workload"]["hit"] |= {"journeys": list(journeys)}
        del data["workload"]["hit"]["request"]
        places |= {option: _of_journeys(place) for option, place in places.items()}
    for option, place in places.items():
        if tls or not place.startswith(_TLS):
            _put(data, place, _time(given[option]) if option in _TIMES else given[option])
    if listed is not None:
        _list(data, listed, target)
    names = {place: name_of(option) for option, place in (PLACES | places).items()}
    tables = (WORKLOAD, f"{WORKLOAD}.load", f"{WORKLOAD}.request", f"{WORKLOAD}.connection")
    names |= dict.fromkeys(tables, "")
    file = name_of("send" if socket else "body")
    names |= {
        f"{WORKLOAD}.request.{way}{key}": name_of("send")
        for way in ("tcp", "udp")
        for key in ("", ".text", ".hex", ".file")
    }
    names |= {
        f"{WORKLOAD}.request.until.{key}": name_of("until") for key in ("text", "hex", "length", "regex")
    }
    names |= {f"{WORKLOAD}.request.method": name_of("method")}
    names |= {f"{WORKLOAD}.request.body-file": file, _TLS: f"{name_of('cert')}, {name_of('key')}"}
    names |= {f"contestant.{name}.pid": name_of("pid")}
    return Plan.of(data, "", base=Path.cwd(), places=names)


_STREAM = ("stream", *(f"stream_{key}" for key in _STREAM_KEYS), "stall", "slo")

_OF_REQUESTS = (
    *("method", "headers", "compressed", "user", "agent", "body", "json_body", "urls"),
    *("send", "match", "ping", "until", "expect", "expect_status"),
    *("proto", "import_path", "message", "deadline", "every"),
    *_STREAM,
)


def _journeys(given: dict[str, Any], name_of: Callable[[str], str]) -> dict[str, Any]:
    """The journey tables of the option `journey`; empty if it is not given."""
    if (file := given.pop("journey", None)) is None:
        return {}
    named = f"the journey {file.name!r}" if isinstance(file, JourneyBuilder) else file
    for option in _OF_REQUESTS:
        if given.get(option):
            raise PlanError(
                f"{name_of('journey')} and {name_of(option)} both say what is sent",
                f"write it into the steps of {named}",
            )
    if isinstance(file, JourneyBuilder):
        return {file.name: file.table()}
    if (kind := _OTHER_JOURNEYS.get(Path(file).suffix)) is not None:
        return {Path(file).stem: {kind: str(file)}}
    try:
        text = read_text(Path(file))
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(
            f"{name_of('journey')}: {file} cannot be read: {reason(error)}", _JOURNEY_EXAMPLE
        ) from None
    tables = parse_toml(text, file).get("journey")
    if not isinstance(tables, dict) or not tables:
        raise PlanError(f"{name_of('journey')}: {file} has no journey", _JOURNEY_EXAMPLE)
    return {name: _anchored(table, Path(file).absolute().parent) for name, table in tables.items()}


_OTHER_JOURNEYS = {".hurl": "hurl", ".luau": "script"}
"""The key of a journey for each kind of file that is not TOML, by suffix."""

_JOURNEY_EXAMPLE = 'write a table [journey.NAME] with steps = [{ get = "/" }]'


def _anchored(value: Any, folder: Path) -> Any:
    """Resolve the files that a journey names against the folder of the file that contains the journey.

    What is sent may have keys of the same names; it stays as it is.
    """
    if isinstance(value, list):
        return [_anchored(item, folder) for item in value]
    if isinstance(value, dict):
        files = ("csv", "jsonl", "body-file", "hurl", "script", "proto", "import-path")
        data = ("json", "form", "headers", "metadata", "message", "send", "capture")
        return {
            key: item if key in data else _placed(item, folder) if key in files else _anchored(item, folder)
            for key, item in value.items()
        }
    return value


def _placed(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_placed(item, folder) for item in value]
    return str(folder / value) if isinstance(value, str) else value


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


def _places(given: Mapping[str, Any]) -> dict[str, str]:
    """The place of each given option in the plan. With a rate, `clients` is the limit of connections."""
    places = {option: PLACES[option] for option in given}
    if "rate" in given and "clients" in given:
        places["clients"] = f"{WORKLOAD}.load.max-connections"
    return places


def _put(data: dict[str, Any], place: str, value: Any) -> None:
    *tables, key = place.split(".")
    for table in tables:
        data = data.setdefault(table, {})
    data[key] = value


def _request(given: dict[str, Any], path: str, name_of: Callable[[str], str]) -> dict[str, Any]:
    body, expect = given.pop("body", None), given.pop("expect", None)
    method = given.pop("method", "GET" if body is None else "POST")
    request: dict[str, Any] = dict(asking(method, path))
    if body is not None:
        request |= {"body-file": body[1:]} if body.startswith("@") else {"body": body}
    if expect is not None:
        request["expect"] = {"contains": expect} if isinstance(expect, str) else expect
    if (statuses := given.pop("expect_status", None)) is not None:
        codes = [code.strip() for code in str(statuses).split(",")]
        if not all(re.fullmatch(r"\d{1,9}", code) for code in codes):
            raise PlanError(
                f"{name_of('expect_status')}: {statuses!r} is not a list of status codes",
                "write for example 200,204",
            )
        expected = request["expect"] if isinstance(request.get("expect"), dict) else {}
        request["expect"] = {**expected, "status": [int(code) for code in codes]}
    return request


def _message(given: dict[str, Any], path: str, name_of: Callable[[str], str]) -> dict[str, Any]:
    """The request for a WebSocket."""
    for option in ("method", "body", "expect_status"):
        if option in given:
            hint = f"write {name_of('send')}" if option == "body" else "leave it out, or write http://"
            raise PlanError(f"{name_of(option)} has no meaning over a WebSocket", hint)
    if "until" in given:
        raise PlanError(
            f"{name_of('until')} is for raw bytes (tcp://): a message ends by itself",
            f"leave it out, or write {name_of('stream_until')}",
        )
    if given.get("stream") not in (None, "messages"):
        raise PlanError(
            f"{name_of('stream')}: {given['stream']!r} is for HTTP",
            f"over a WebSocket write {name_of('stream')} messages",
        )
    if "send" not in given and "stream" not in given:
        raise PlanError(
            "a WebSocket without a message: nothing would be sent",
            f"give {name_of('send')} TEXT, or {name_of('stream')} messages to listen",
        )
    request: dict[str, Any] = {"ws": path}
    if (send := given.pop("send", None)) is not None:
        file = isinstance(send, str) and send.startswith("@")
        request |= {"body-file": send[1:]} if file else {"send": send}
    if (expect := given.pop("expect", None)) is not None:
        request["expect"] = {"contains": expect} if isinstance(expect, str) else expect
    return request


def _call(url: Url, given: dict[str, Any], path: str, name_of: Callable[[str], str]) -> dict[str, Any]:
    """The request for a gRPC call."""
    others = ("method", "compressed", "body", "send", "match", "ping", "until", "expect_status", "redirects")
    for option in others:
        if given.get(option):
            hint = f"write {name_of('message')}" if option in ("body", "send") else "leave it out"
            raise PlanError(f"{name_of(option)} has no meaning for gRPC", hint)
    if path == "/":
        raise PlanError(
            f"{url} names no method", "write for example grpc://127.0.0.1:50051/package.Service/Method"
        )
    request: dict[str, Any] = {"grpc": path}
    if (message := given.pop("message", None)) is not None:
        try:
            request["message"] = read_message(message) if isinstance(message, str) else message
        except BadValue as error:
            raise PlanError(f"{name_of('message')}: {error.message}", error.hint) from None
    if (expect := given.pop("expect", None)) is not None:
        request["expect"] = {"contains": expect} if isinstance(expect, str) else expect
    if any(given.get(option) for option in _STREAM):
        given.setdefault("stream", "messages")
    return request


def _no_call(given: Mapping[str, Any], name_of: Callable[[str], str]) -> None:
    for option in ("proto", "import_path", "message", "deadline", "every"):
        if given.get(option):
            raise PlanError(f"{name_of(option)} is for gRPC", "write grpc://HOST:PORT/package.Service/Method")


_READ: dict[str, dict[str, Callable[[str], dict[str, Any]]]] = {
    "tcp": {"send": sent_as, "until": until_as},
    "udp": {"send": sent_as},
}
"""The options that requests of raw bytes need, and how each is read."""


def _raw(given: dict[str, Any], scheme: str, name_of: Callable[[str], str]) -> dict[str, Any]:
    """The request for raw bytes over TCP or UDP."""
    own = {"tcp": ("send", "until", "expect"), "udp": ("send", "match", "expect")}[scheme]
    for option in (*_OF_REQUESTS, "redirects", "http2", "http2_connections"):
        if given.get(option) and option not in own:
            hint = f"write {name_of('send')}" if option == "body" else "leave it out, or write http://"
            if option == "until":
                hint = f"an answer is one datagram: {name_of('match')} says which"
            raise PlanError(f"{name_of(option)} has no meaning for raw bytes ({scheme}://)", hint)
    request: dict[str, Any] = {}
    examples = {"send": r"'PING\r\n'", "until": r"'\r\n', length:7, regex:PATTERN or close"}
    needs = "what is sent and where the answer ends" if scheme == "tcp" else "what is sent"
    for option, read in _READ[scheme].items():
        key = scheme if option == "send" else option
        if option not in given:
            raise PlanError(
                f"{name_of(option)} is missing: {scheme}:// needs {needs}",
                f"give for example {name_of(option)} {examples[option]}",
            )
        try:
            request[key] = read(str(given.pop(option)))
        except BadValue as error:
            raise PlanError(f"{name_of(option)}: {error.message}", error.hint) from None
    if (expect := given.pop("expect", None)) is not None:
        request["expect"] = {"contains": expect} if isinstance(expect, str) else expect
    return request


def _no_socket(given: Mapping[str, Any], name_of: Callable[[str], str]) -> None:
    if "until" in given:
        raise PlanError(
            f"{name_of('until')} is for raw bytes, and the URL is of HTTP", "write tcp://HOST:PORT"
        )
    for option in ("send", "match", "ping"):
        if option in given:
            raise PlanError(
                f"{name_of(option)} is for a WebSocket, and the URL is of HTTP",
                f"write ws:// or wss://, or {name_of('body')} for a request's body",
            )
    if given.get("stream") == "messages":
        raise PlanError(
            f"{name_of('stream')}: messages come over a WebSocket, and the URL is of HTTP",
            "write ws:// or wss://, or sse or lines",
        )


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


def _check_journeys(url: Url, name_of: Callable[[str], str]) -> None:
    """Refuse a URL that says more than which server the steps of journeys are sent to. Raises `PlanError`."""
    name = name_of("journey")
    if url.scheme in ("tcp", "udp"):
        raise PlanError(f"{name}: a step is no raw bytes yet", "write http://")
    if url.scheme in ("grpc", "grpcs"):
        raise PlanError(
            f"{name}: steps say what is called, and so does {url.scheme}://",
            "write http:// or https://; a step may have grpc = …",
        )
    if url.scheme in ("ws", "wss"):
        raise PlanError(
            f"{name}: steps say what is sent over a WebSocket, and so does {url.scheme}://",
            f"write {'https' if url.tls else 'http'}://",
        )
    if url.path not in ("", "/"):
        raise PlanError(
            f"{name}: steps say which path and query they ask for, and so does {url}",
            f"write {url.scheme}://{url.address}, and the whole path into each step",
        )


def _list(data: dict[str, Any], listed: Listed, first: Url) -> None:
    """Put each of the listed requests into the plan, with what all of them share."""
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
    url = read_url(request.url, HTTP)
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

"""From a workload to the specification that the engine runs (`crates/engine/src/spec`), as plain data."""

import base64
import json
import re
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from jostle import units
from jostle.errors import BadValue, PlanError
from jostle.generator.grpc import Schemas, grpc_spec
from jostle.generator.journeys import check_no_slash, connections_of_a_client, engine_journeys
from jostle.host.loopback import LOOPBACK, is_loopback
from jostle.plan.connection import Connection, Tls
from jostle.plan.journeys.journey import Journey
from jostle.plan.load import ClosedLoad, OpenLoad, Trace
from jostle.plan.requests.event_stream import EventStream, StreamBound, event_pattern
from jostle.plan.requests.raw import SERIALS, Sent, Until, bytes_matched
from jostle.plan.requests.request import JSON_TYPE, PEER, Call, Expect, Request
from jostle.plan.values import Params, Think
from jostle.plan.workload import Workload
from jostle.redaction.data import redact
from jostle.redaction.names import HIDDEN
from jostle.redaction.texts import redact_text
from jostle.text import reason
from jostle.url import Url, path_at, read_url

__all__ = ["Address", "engine_spec", "interval_ns", "think_spec", "trace_starts", "without_secrets"]


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a workload is sent."""

    host: str
    port: int
    tls: bool = False
    """The server speaks HTTPS, whether or not the workload says so."""
    authorization: str = field(default="", repr=False)
    """Goes with every request that has no Authorization header of its own; "" for none."""
    peer: str = ""
    """The URL of the workload's peer; "" if it has none."""

    @classmethod
    def of(cls, url: str) -> Self:
        """The address in the URL of a server."""
        read = read_url(url)
        return cls(host=read.host, port=read.port, tls=read.tls, authorization=read.authorization)


def engine_spec(
    name: str,
    workload: Workload,
    address: Address,
    *,
    seed: int = 0,
    threads: int = 1,
    cores: Sequence[int] = (),
    real_time: bool = False,
    busy_poll: bool | None = False,
    allowed_hosts: Sequence[str] = (),
    journeys: Mapping[str, Journey] = {},
    reflect: bool = False,
) -> dict[str, Any]:
    """The specification of one run of a workload: the measured load first, then the background, if any.

    `allowed_hosts`: hosts to which redirects and URLs may lead, besides the server itself. `journeys`: those
    of the plan. `busy_poll`: None leaves it to the executor, which knows how many threads there will be.
    `reflect`: the server is running, and can be asked for its gRPC services. Files that the workload names
    are read here. Raises `PlanError` for a file that is missing.
    """
    target = _target(workload.connection, address)
    if workload.has_calls(journeys):
        target["http2"] = target["http2"] or {"connections": None}

    schemas = Schemas(target if reflect else None)

    def request_spec(request: Call) -> dict[str, Any]:
        return _request(request, address, schemas)

    timeouts = {
        "connect_ns": _ns(workload.connect_timeout),
        "first_byte_ns": _ns(workload.first_byte_timeout) if workload.first_byte_timeout else None,
        "total_ns": _ns(workload.timeout),
    }
    redirects = _redirects(workload.redirects, address.host, allowed_hosts)
    followed = {"redirects": redirects if workload.redirects is not None else None}
    measured: dict[str, Any] = {
        "name": name,
        "role": "measured",
        "target": target,
        "requests": [request_spec(request) for request in workload.request],
        "order": workload.order,
        "load": _load(workload.load),
        "timeouts": timeouts,
        "body_limit": workload.body_limit,
        **followed,
    }
    if workload.journeys:
        measured |= engine_journeys(
            workload.journeys,
            journeys,
            request=request_spec,
            think=think_spec,
            redirects=redirects,
            http2=target["http2"] is not None,
        )
        _bound_by_feeds(measured)
        _share_connections(measured)
    workloads = [measured]
    if workload.background is not None:
        background = {
            "name": "background",
            "role": "background",
            "requests": [request_spec(workload.background)],
            **followed,
        }
        common = {key: value for key, value in measured.items() if key not in ("journeys", "slots")}
        workloads.append(
            {**common, **background, "order": "weighted", "load": _load(workload.background.load)}
        )
    seconds = workload.seconds()
    return {
        "seed": seed,
        "threads": threads,
        "cores": list(cores),
        "real_time": real_time,
        "attentive": busy_poll,
        "duration_ns": _ns(seconds) if seconds is not None else None,
        "interval_ns": interval_ns(seconds),
        "rows": workload.rows,
        "start_unix_ns": None,
        "workloads": workloads,
    }


def without_secrets(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification for the record: possible secrets are hidden, as in the recorded plan.

    Rows of feeds and columns of files are left out: they are long, and may contain passwords.
    """
    spec = redact(spec | {"workloads": [_without_rows(workload) for workload in spec["workloads"]]})
    for request in (request for workload in spec["workloads"] for request in workload["requests"]):
        if request["grpc"]:
            request["grpc"]["schema_base64"] = None  # as long as its files
    return spec


def _without_rows(workload: Mapping[str, Any]) -> dict[str, Any]:
    requests = [request | {"params": _without_column(request["params"])} for request in workload["requests"]]
    if "journeys" not in workload:
        return {**workload, "requests": requests}
    journeys = [
        journey
        | {
            "feeds": [feed | {"rows": None} for feed in journey["feeds"]],
            "script": _without_keys(journey["script"]),
        }
        for journey in workload["journeys"]
    ]
    return {**workload, "requests": requests, "journeys": journeys}


def _without_column(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {"in-turn": []} if isinstance(param, dict) and "in-turn" in param else param
        for name, param in params.items()
    }


def _without_keys(script: dict[str, Any] | None) -> dict[str, Any] | None:
    """The script, whose source is hidden as a whole if anything in it is."""
    if script is None or redact_text(script["source"]) == script["source"]:
        return script
    return script | {"source": HIDDEN}


def _bound_by_feeds(workload: dict[str, Any]) -> None:
    """Limit the arrivals of an open load to the rows of its feeds with `order = "once"`.

    Which journey an arrival begins is drawn when it arrives, so the shortest feed bounds all together.
    """
    feeds = [feed for journey in workload["journeys"] for feed in journey["feeds"] if feed["order"] == "once"]
    load = workload["load"].get("open")
    if load is not None and feeds:
        rows = min(feed["rows"]["count"] // len(feed["columns"]) for feed in feeds)
        load["requests"] = min(load["requests"] or rows, rows)


def _share_connections(workload: dict[str, Any]) -> None:
    """Divide an open load's limit, as each journey in progress may use as many connections as a client."""
    load = workload["load"].get("open")
    if load is not None:
        load["max_connections"] //= connections_of_a_client(workload)


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def interval_ns(seconds: float | None) -> int:
    """The length of an interval: at most a second, and at least 40 intervals in a run of 4 s or more."""
    if seconds is None or seconds >= 60:
        return 1_000_000_000
    return 250_000_000 if seconds >= 10 else 100_000_000


def _target(connection: Connection, address: Address) -> dict[str, Any]:
    tls = connection.tls or (Tls() if address.tls else None)
    return {
        "host": address.host,
        "port": address.port,
        "connect_to": connection.connect_to,
        "resolve_each": connection.resolve_each,
        "source_addresses": connection.source_addresses,
        "tls": _tls(tls) if tls else None,
        "http2": {"connections": connection.http2.connections} if connection.http2 else None,
        "nodelay": connection.nodelay,
    }


def _tls(tls: Tls) -> dict[str, Any]:
    return {
        "insecure": not tls.verify,
        "ca_pem": _pem("tls.ca (--cacert)", tls.ca, "CERTIFICATE") if tls.ca else None,
        "client_cert_pem": _pem("tls.cert (--cert)", tls.cert, "CERTIFICATE") if tls.cert else None,
        "client_key_pem": _pem("tls.key (--key)", tls.key, "PRIVATE KEY") if tls.key else None,
        "server_name": tls.server_name or None,
        "alpn": tls.alpn,
        "version": tls.version,
        "resume": tls.resume,
    }


def _redirects(max_redirects: int | None, host: str, allowed: Sequence[str]) -> dict[str, Any]:
    """The engine's `RedirectSpec`. A server on loopback may redirect to loopback under any name."""
    return {"most": max_redirects or 0, "hosts": [*allowed, *(LOOPBACK if is_loopback(host) else ())]}


def _pem(option: str, path: Path, kind: str) -> str:
    """The text of a file that holds a `kind` ("CERTIFICATE", "PRIVATE KEY") in PEM form."""
    text = _bytes(path).decode("utf-8", "replace")
    begun, ended = (
        len(re.findall(f"-----{mark} (?:[A-Z]+ )?{kind}-----", text)) for mark in ("BEGIN", "END")
    )
    if not begun or ended < begun:
        raise PlanError(
            f"{option}: {path} holds no {'whole ' if begun else ''}{kind.lower()} in PEM form",
            f"from -----BEGIN {kind}----- to -----END {kind}-----",
        )
    return text


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {reason(error)}", "the plan names this file") from None


def _request(request: Call, address: Address, schemas: Schemas) -> dict[str, Any]:
    body = _body(request)
    websocket = None
    if request.ws is not None:
        if request.send is not None:
            body = request.text.encode()
        sends = request.send is not None or request.body_file is not None
        websocket = {
            "message": _kind(body) if sends else None,
            "match": _match(request.match),
            "ping_ns": _ns(request.ping) if request.ping is not None else None,
        }
    raw = None
    if isinstance(request, Request) and request.tcp is not None and request.until is not None:
        body = _sent(request.tcp)
        raw = {"until": _until(request.until)}
    datagram = None
    if isinstance(request, Request) and request.udp is not None:
        body = _sent(request.udp)
        datagram = {"match": _datagram_match(request.match)}
    if (raw or datagram) and address.authorization:
        raise PlanError(
            "the URL of the server has a login, and raw bytes have none", "leave it out of the URL"
        )
    headers = _headers(request, address.authorization)
    grpc, stream = None, request.stream
    if request.grpc is not None:
        body = json.dumps(request.message, ensure_ascii=False).encode()
        grpc, stream = grpc_spec(request, headers, schemas)
    left_out = [name for name, lines in request.headers.items() if lines == []]
    return {
        "name": request.label,
        "weight": request.weight if isinstance(request, Request) else 1,
        "method": request.method,
        "path": request.path.replace(PEER, address.peer),
        "headers": headers,
        **({"left_out": left_out} if left_out else {}),
        "body_base64": base64.b64encode(body).decode() if body else None,
        "expect": _expect(request.expect),
        "params": _params(request, address) if isinstance(request, Request) else {},
        "stream": _stream(stream) if stream is not None else None,
        "websocket": websocket,
        "raw": raw,
        "datagram": datagram,
        "grpc": grpc,
    }


def _headers(request: Call, authorization: str) -> list[list[str]]:
    """The header lines of a request, with the login of the server's URL unless it has its own."""
    given = request.headers | request.metadata
    lines = [
        [name, line]
        for name, lines in given.items()
        for line in (lines if isinstance(lines, list) else [lines])
    ]
    if authorization and not any(name.lower() == "authorization" for name in given):
        lines.append(["Authorization", authorization])
    return lines


def _body(request: Call) -> bytes:
    """The body, or the file that is sent. JSON over the network has no byte order mark (RFC 8259, 8.1)."""
    if request.body_file is None:
        return bytes.fromhex(request.body_hex) or request.body.encode()
    body = _bytes(request.body_file)
    plain = body.removeprefix(BOM_UTF8)
    json_type = any(
        name.lower() == "content-type" and JSON_TYPE.match(value)
        for name, lines in request.headers.items()
        for value in (lines if isinstance(lines, list) else [lines])
    )
    return plain if json_type or plain.lstrip()[:1] in (b"{", b"[") else body


def _match(match: str) -> str | dict[str, str]:
    kind, _, pointer = match.partition(":")
    return {"field": pointer} if kind == "json" else kind


def _sent(sent: Sent) -> bytes:
    if sent.file is not None:
        return _bytes(sent.file)
    return sent.template()


def _datagram_match(match: str) -> str | dict[str, Any]:
    if (found := bytes_matched(match)) is not None:
        return {"bytes": {"from": found[0], "to": found[1]}}
    return {"regex": match.removeprefix("regex:")} if match.startswith("regex:") else match


def _params(request: Request, address: Address) -> dict[str, Any]:
    """The plan's parameters, and the serial numbers in raw bytes."""
    params = {name: _param(param) for name, param in request.params.items()}
    for name in params:
        if request.path == f"{{{name}}}":
            params[name] = _paths(name, params[name], address)
        elif request.path == f"/{{{name}}}":
            for value in _listed(params[name]):
                check_no_slash(f"params.{name}", name, value)
    sent = request.tcp or request.udp
    if sent is not None:
        found = SERIALS.findall(sent.text or sent.hex or "")
        params |= {name: {"serial": {"bytes": int(bits) // 8}} for name, bits in found}
    return params


def _listed(param: Mapping[str, Any]) -> list[str]:
    """The values of a parameter that is no range."""
    return [value for kind in ("choice", "in-turn") for value in param.get(kind, ())]


def _paths(name: str, param: Mapping[str, Any], address: Address) -> dict[str, Any]:
    """A parameter whose values are whole paths, or URLs of the server. Raises `PlanError` for others."""
    server = Url("https" if address.tls else "http", address.host, address.port)
    try:
        return {kind: [path_at(server, value) for value in values] for kind, values in param.items()}
    except BadValue as error:
        raise PlanError(f"params.{name}: {error.message}", error.hint) from None


def _until(until: Until) -> Any:
    if until.close:
        return "close"
    if until.length is not None:
        return {"length": until.length}
    if until.regex is not None:
        return {"regex": until.regex}
    delimiter = bytes.fromhex(until.hex) if until.hex is not None else (until.text or "").encode()
    return {"delimiter-base64": base64.b64encode(delimiter).decode()}


def _kind(message: bytes) -> str:
    """The kind of a WebSocket message: text if it is UTF-8."""
    try:
        message.decode()
    except UnicodeDecodeError:
        return "binary"
    return "text"


def _stream(stream: EventStream) -> dict[str, Any]:
    return {
        "format": stream.format,
        "events": stream.events,
        "until": stream.until,
        "stall_ns": _ns(stream.stall) if stream.stall is not None else None,
        "first": event_pattern(stream.first) if stream.first is not None else None,
        "fails": event_pattern(stream.fails) if stream.fails is not None else None,
        "usage": event_pattern(stream.usage) if stream.usage is not None else None,
        "bounds": _stream_bounds(stream.slo) if stream.slo else None,
    }


def _stream_bounds(slo: Sequence[StreamBound]) -> dict[str, Any]:
    first = next((_ns(bound.below) for bound in slo if bound.of == "first"), None)
    gap, trip = (next((b for b in slo if b.of == of), None) for of in ("gap", "round trip"))
    return {
        "first_ns": first,
        "gap_ns": _ns(gap.below) if gap is not None else None,
        "late": 1 - gap.share if gap is not None else 1.0,
        "round_trip_ns": _ns(trip.below) if trip is not None else None,
        "late_round_trips": 1 - trip.share if trip is not None else 1.0,
    }


def _expect(expect: Expect) -> dict[str, Any]:
    body: dict[str, Any] | None = None
    if expect.body is not None:
        body = {"exact": expect.body}
    elif expect.contains is not None:
        body = {"contains": expect.contains}
    elif expect.length is not None:
        body = {"length": expect.length}
    elif expect.sha256 is not None:
        body = {"sha256": expect.sha256.lower()}
    elif expect.json_ is not None:
        body = {"json": {"pointer": expect.json_.pointer, "value": expect.json_.value}}
    return {"status": expect.status, "body": body} | ({"lacks": expect.lacks} if expect.lacks else {})


def _param(param: Params) -> dict[str, Any]:
    if param.kind == "range":
        return {"range": {"from": param.low, "to": param.high}}
    return {"choice": list(param.values)} if param.kind == "choice" else {"in-turn": param.column()}


def _load(load: ClosedLoad | OpenLoad) -> dict[str, Any]:
    return {"closed": _closed(load)} if isinstance(load, ClosedLoad) else {"open": _open(load)}


def _closed(load: ClosedLoad) -> dict[str, Any]:
    return {
        "clients": load.most_clients,
        "think": think_spec(load.think),
        "requests": load.most,
        "requests_per_client": load.most_per_client,
        "renew": load.renew,
        "requests_per_connection": load.connection_limit,
        "phases": [
            {
                "name": phase.name,
                "duration_ns": _ns(phase.for_),
                "from": phase.ends[0],
                "to": phase.ends[1],
                "steps": phase.steps,
            }
            for phase in load.course()
        ],
    }


def think_spec(think: Think) -> str | dict[str, Any]:
    """The engine's `ThinkSpec`: how a think time, or another time of the same form, is drawn."""
    if think.kind == "constant":
        return {"constant": {"ns": _ns(think.seconds)}}
    if think.kind == "uniform":
        return {"uniform": {"ns": _ns(think.seconds), "spread": think.spread}}
    if think.kind == "exponential":
        return {"exponential": {"mean_ns": _ns(think.seconds)}}
    return {"list": {"ns": [_ns(turn) for turn in think.turns]}} if think.kind == "list" else "none"


def _open(load: OpenLoad) -> dict[str, Any]:
    requests = load.most
    arrivals: str | dict[str, Any]
    if isinstance(load.arrivals, Trace):
        starts = trace_starts(load.arrivals.trace)
        requests = min(requests or len(starts), len(starts))
        arrivals = {"trace": starts}
    else:
        arrivals = load.arrivals
    steps = [(step.name, step.for_, *step.ends) for step in load.rates]
    if load.rate is not None:
        steps = [("", None, load.rate, load.rate)]
    return {
        "arrivals": arrivals,
        "rates": [
            {"name": name, "duration_ns": _ns(seconds) if seconds else None, "from": begin, "to": end}
            for name, seconds, begin, end in steps
        ],
        "requests": requests,
        "max_connections": load.max_connections,
        "requests_per_connection": load.connection_limit,
    }


_TRACE_EXAMPLE = 'write a start per line: "1.25" (seconds) or "1250ms"'


def trace_starts(path: Path) -> list[int]:
    """Read the starts from a file, in ns; empty lines and comments (#) are skipped. Raises `PlanError`."""
    starts: list[int] = []
    for number, line in enumerate(_bytes(path).decode("utf-8", "replace").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            start = _ns(units.duration(text, bare="s"))
        except BadValue as error:
            raise PlanError(f"{path}, line {number}: {error.message}", _TRACE_EXAMPLE) from None
        if starts and start < starts[-1]:
            raise PlanError(f"{path}, line {number}: {text} comes before the line above", "sort the starts")
        starts.append(start)
    if not starts:
        raise PlanError(f"{path} holds no starts", _TRACE_EXAMPLE)
    return starts

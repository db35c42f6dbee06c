"""The contestants' contract: what every route must answer, as a table, and whether a running server keeps it.

Contestants that speak gRPC have methods instead of routes: see `grpc_checks`.

Routes that a contestant declares absent must really be absent, as a route is never faked.
"""

import http.client
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from jostle.contestant.checks import (
    EVENTS,
    HELLO,
    TEXT,
    CheckedServer,
    ContractCheck,
    OrdersPage,
    Refuses,
    RefusesMethods,
    RemotePair,
    Responses,
    ResponsesInParallel,
    ResponsesJson,
    SelfDescription,
    SendsAtOnce,
    TakesAtLeast,
    WorkGrows,
    WrongResponse,
    bad_numbers,
    closes_when_asked,
    keeps_connections,
)
from jostle.contestant.grpc_checks import GRPC_CHECKS
from jostle.contestant.http2 import Http2Error
from jostle.contestant.http2_checks import ResponsesHttp2, does_not_speak_http2
from jostle.contestant.routes import MAX_NUMBERS
from jostle.contestant.server import Server
from jostle.contestant.shop import EXAMPLE, SHOP
from jostle.contestant.stock import Stock
from jostle.contestant.websocket import Echoes, Pushes
from jostle.plan.servers.contestant import ContestantFile

__all__ = ["ALSO", "PROTOCOL", "ROUTES", "CheckResult", "Route", "verify"]


@dataclass(frozen=True)
class Route:
    """A route and its checks. `example`: a correct request to it, to check that a server refuses it."""

    example: str
    checks: Sequence[ContractCheck]


ROUTES: dict[str, Route] = {
    "/": Route("/", [SelfDescription()]),
    "/hello": Route("/hello", [Responses("/hello", TEXT, HELLO)]),
    "/sleep": Route(
        "/sleep?ms=1",
        [
            Responses("/sleep", TEXT, HELLO),
            Responses("/sleep?ms=0", TEXT, HELLO),
            TakesAtLeast("/sleep", 0.099),
            TakesAtLeast("/sleep?ms=250", 0.249),
            TakesAtLeast("/sleep?ms=100&jitter=0.5", 0.049),
            Refuses(400, ["/sleep?ms=abc", "/sleep?ms=-1", "/sleep?ms=60001", "/sleep?ms="]),
            Refuses(400, [f"/sleep?ms=1&jitter={jitter}" for jitter in ("2", "-0.1", "x")]),
        ],
    ),
    "/count": Route(
        "/count/1",
        [
            Responses("/count/0", TEXT, b"Hello, World 0\n"),
            Responses("/count/1000", TEXT, b"Hello, World 1000\n"),
            Refuses(400, bad_numbers("/count", MAX_NUMBERS["/count"])),
            WorkGrows([(f"/count/{10**4 * 4**n}", f"/count/{10**4 * 4 ** (n + 1)}") for n in range(9)], 2),
        ],
    ),
    "/fast": Route(
        "/fast/1",
        [
            Responses("/fast/0", TEXT, b"0"),
            Responses("/fast/44", TEXT, b"1936"),
            Responses("/fast/1000000", TEXT, b"1000000000000"),
            Refuses(400, bad_numbers("/fast", MAX_NUMBERS["/fast"])),
        ],
    ),
    "/slow": Route(
        "/slow/1",
        [
            Responses("/slow/0", TEXT, b"0"),
            Responses("/slow/1", TEXT, b"1"),
            Responses("/slow/20", TEXT, b"6765"),
            Refuses(400, bad_numbers("/slow", MAX_NUMBERS["/slow"])),
            WorkGrows([(f"/slow/{n}", f"/slow/{n + 3}") for n in range(18, 58, 3)], 2),
        ],
    ),
    "/fibs": Route(
        "/fibs/1",
        [
            ResponsesJson("/fibs/0", {"fibResult": 0}),
            ResponsesJson("/fibs/20", {"fibResult": 6765}),
            Refuses(400, bad_numbers("/fibs", MAX_NUMBERS["/fibs"])),
        ],
    ),
    "/pair": Route(
        "/pair/1/1",
        [
            ResponsesJson("/pair/20/10?where=local&async=0", {"a": 6765, "b": 55}),
            RemotePair(0),
            ResponsesJson("/pair/20/10?where=local&async=1", {"a": 6765, "b": 55}),
            RemotePair(1),
            ResponsesJson("/pair/20/10", {"a": 6765, "b": 55}),
            Refuses(400, bad_numbers("/pair/1", MAX_NUMBERS["/pair"])),
            Refuses(400, ["/pair/x/1", "/pair/1/1?where=remote", "/pair/1/1?where=elsewhere"]),
            WorkGrows([(f"/pair/{n}/1?async=0", f"/pair/{n}/{n}?async=0") for n in range(18, 61, 3)], 1.5),
        ],
    ),
    "/alloc/buffers": Route("/alloc/buffers", [Responses("/alloc/buffers", TEXT, HELLO)]),
    "/alloc/strings": Route("/alloc/strings", [Responses("/alloc/strings", TEXT, HELLO)]),
    "/spawn": Route(
        "/spawn/1",
        [
            Responses("/spawn/0", TEXT, b"0"),
            Responses("/spawn/1", TEXT, b"1"),
            Responses("/spawn/1000", TEXT, b"1000"),
            Refuses(400, bad_numbers("/spawn", MAX_NUMBERS["/spawn"])),
        ],
    ),
    "/orders": Route("/orders", [OrdersPage()]),
    "/shop": Route(EXAMPLE, SHOP),
}

WITH_DATABASE = ("/orders", "/shop")
"""Routes on which a server that was started without a database answers 503."""

ALSO: dict[str, Route] = {
    "/events": Route(
        "/events?n=1",
        [
            Responses("/events?n=0", EVENTS, b""),
            Responses("/events?n=3&gap=0", EVENTS, b"data: 1\n\ndata: 2\n\ndata: 3\n\n"),
            TakesAtLeast("/events?n=3&gap=100", 0.199),
            TakesAtLeast("/events?n=2", 0.049),
            SendsAtOnce("/events?n=2&gap=500", b"data: 1\n", b"data: 2\n"),
            Refuses(400, [f"/events?n={number}" for number in ("x", "-1", "1.5", "100001", "")]),
            Refuses(400, [f"/events?gap={gap}" for gap in ("x", "-1", "60001", "")]),
        ],
    ),
    "/ws": Route(
        "/ws",
        [
            Echoes("/ws", ["one", "two " * 500, "drei: äöü"]),
            Pushes("/ws?n=3&gap=20", ["1", "2", "3"]),
            Pushes("/ws?n=0", []),
            Refuses(400, [f"/ws?n={number}" for number in ("x", "-1", "100001", "")]),
            Refuses(400, [f"/ws?n=1&gap={gap}" for gap in ("x", "-1", "60001")]),
        ],
    ),
}
"""Routes that a contestant has only if it says so (`also`)."""

PROTOCOL: dict[str, ContractCheck] = {
    "unknown path": Refuses(404, ["/nothing-of-that-name", "/hello/there", "/count", "/fast/1/2"]),
    "other methods": RefusesMethods("/hello"),
    "keep-alive": keeps_connections,
    "Connection: close": closes_when_asked,
    "parallel requests": ResponsesInParallel("/hello", HELLO),
}
"""What must hold for all routes."""

HTTP2 = "HTTP/2"
SPEAKS_HTTP2 = ResponsesHttp2("/hello", TEXT, HELLO)

NEED_ROUTING = ("unknown path", "other methods")
"""Checks that are skipped for a server without "/", which answers every request alike."""


@dataclass(frozen=True)
class CheckResult:
    """The result for one part of the contract."""

    part: str
    """A route, a method, "HTTP/2", or a name in `PROTOCOL`."""
    ok: bool
    message: str = ""
    """What is wrong, or why the part is absent; else empty."""


def verify(
    server: Server,
    file: ContestantFile,
    *,
    pages: Mapping[str, Sequence[str]] | None = None,
    stock: Stock | None = None,
    parts: Container[str] | None = None,
) -> list[CheckResult]:
    """Check every part of the contract, or only the named `parts`. Takes some seconds.

    Methods are checked if the contestant speaks gRPC, routes if it speaks HTTP/1.1.

    `pages`: what /orders must show, customer → lines; {} if that is not known, None without a database.
    `stock`: what the shop must show, if that is known.
    """
    target = CheckedServer(server.host, server.port, pages, stock)
    methods = GRPC_CHECKS if "gRPC" in file.speaks else {}
    called = [
        _run(name, checks, target) for name, checks in methods.items() if parts is None or name in parts
    ]
    if not file.takes_http1:
        return called
    routes = [
        _check_route(name, route, file, target)
        for name, route in [*ROUTES.items(), *((name, ALSO[name]) for name in file.also)]
        if parts is None or name in parts
    ]
    protocol = [
        _check_protocol(name, check, file.absent.get(name), target)
        for name, check in PROTOCOL.items()
        if (parts is None or name in parts) and not (name in NEED_ROUTING and "/" in file.absent)
    ]
    if file.speaks and (parts is None or HTTP2 in parts):
        check = SPEAKS_HTTP2 if HTTP2 in file.speaks else does_not_speak_http2
        protocol.append(_run(HTTP2, [check], target))
    return [*called, *routes, *protocol]


def _check_route(name: str, route: Route, file: ContestantFile, target: CheckedServer) -> CheckResult:
    reason = file.absent.get(name)
    if reason is None:
        without_database = name in WITH_DATABASE and file.database and target.pages is None
        return _run(name, [Refuses(503, [route.example])] if without_database else route.checks, target)
    if "/" in file.absent:  # it answers every request alike
        return CheckResult(name, True, f"absent: {reason}")
    missing = _run(name, [Refuses(404, [route.example])], target)
    return missing if not missing.ok else CheckResult(name, True, f"absent: {reason}")


def _check_protocol(
    name: str, check: ContractCheck, absent: str | None, target: CheckedServer
) -> CheckResult:
    """Check one part. `absent`: the reason why it is declared absent; it must then really be absent."""
    found = _run(name, [check], target)
    if absent is None:
        return found
    if found.ok:
        return CheckResult(name, False, f"it is there, though declared absent: {absent}")
    return CheckResult(name, True, f"absent: {absent}")


def _run(name: str, checks: Sequence[ContractCheck], target: CheckedServer) -> CheckResult:
    """Run the checks. The first one that fails decides."""
    try:
        for check in checks:
            check(target)
    except WrongResponse as wrong:
        return CheckResult(name, False, str(wrong))
    except Http2Error as error:
        return CheckResult(name, False, f"over HTTP/2: {error}")
    except (OSError, http.client.HTTPException) as error:
        return CheckResult(name, False, f"no response: {error!r}")
    return CheckResult(name, True)

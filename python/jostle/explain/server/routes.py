"""Which routes are asked for: those that a user names, or those of a contestant, whose contract has a route
of each kind, with selectable sizes.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from jostle import roster
from jostle.explain.server.target import Role, Route
from jostle.plan.servers.contestant import ContestantFile
from jostle.url import path_at, read_url

__all__ = [
    "CALL",
    "CALL_THAT_WAITS",
    "MAX_S",
    "SIZED_BY",
    "Request",
    "contract_call",
    "contract_routes",
    "given_routes",
    "smaller",
]

MAX_S = 0.04
"""Intended service time of the longest route: many times a runtime's slice, yet short enough for many bursts.
"""

NEAR = 1.25
"""A size is good enough if its service time is within this factor of the intended one."""

SIZES = (1, 2, 4, 8)
"""How many times shorter each route is than the longest."""

FIRST_COUNT, MAX_COUNT = 1_000_000, 10**10
"""`/count/N`: the N at which the search begins, and the largest one that the contract allows."""

ATTEMPTS = 14

SEVERAL, SETTLED = 3, 10
"""How many requests of a size are asked for, and how many once more when it seems right: a runtime that still
compiles takes less time each time.
"""

WAIT = Route("/sleep?ms=100", "wait")

Serve = Callable[[Route, int], Sequence[float]]
"""Returns the service times in seconds of the given number of requests, sent one at a time."""


def contract_routes(file: ContestantFile, serve: Serve) -> tuple[Route, ...]:
    """A short route, four that compute in proportions 8 : 4 : 2 : 1, and one that waits, as far as the
    contestant has them.
    """
    if "/" in file.absent:
        return (Route("/hello", "fast"),)
    routes = [
        *([Route("/fast/44", "fast")] if "/fast" not in file.absent else []),
        *(_counts(serve) if "/count" not in file.absent else []),
        *([WAIT] if "/sleep" not in file.absent else []),
    ]
    return tuple(routes) or (Route("/", "fast"),)


ECHO = roster.ROSTER / "shared" / "grpc" / "echo.proto"
"""The service that contestants with gRPC implement."""

CALL = {"proto": [str(ECHO)], "message": '{"text": "hello"}'}
"""A call of `Say` in `ECHO`, as options of `hit_plan`."""

CALL_THAT_WAITS = 'roster.Echo/Count {"n": 2, "gap_ms": 100}'
"""A call that is answered with two messages, 100 ms apart."""


def contract_call(address: str) -> str:
    """The URL of the call that is answered quickly; `address`: host and port."""
    return f"grpc://{address}/roster.Echo/Say"


Request = Callable[[str, Mapping[str, Any]], dict[str, Any]]
"""Returns the engine's specification of a request, given its URL and the options that differ."""


def given_routes(
    url: str,
    base: str,
    first: Mapping[str, Any],
    slow: Sequence[str],
    wait: str | None,
    options: Mapping[str, Any],
    request: Request,
) -> list[Route]:
    """The routes of a running server: that of `url`, those in `slow`, and the one in `wait`.

    `base`: the server's URL without a path. `first`: the engine's specification of the request that `url` and
    `options` ask for. What `slow` and `wait` contain depends on the protocol; see `explain`. Raises
    `PlanError`.
    """
    roles: list[tuple[str, Role]] = [(given, "slow") for given in slow]
    roles += [(wait, "wait")] if wait is not None else []
    scheme = read_url(url).scheme
    if scheme in ("grpc", "grpcs"):
        method = read_url(url).path.lstrip("/")
        return [
            Route(_called(method, str(options.get("message", ""))), "fast", first),
            *(_call(url, method, text, role, request) for text, role in roles),
        ]
    if scheme in ("ws", "wss", "tcp", "udp"):
        return [
            Route(f"'{options.get('send', '')}'", "fast", first),
            *(Route(f"'{text}'", role, request(url, {"send": text})) for text, role in roles),
        ]
    return [
        Route(str(first["path"]), "fast"),
        *(Route(path_at(read_url(base), text), role) for text, role in roles),
    ]


SIZED_BY = (
    "ms", "us", "seconds", "s", "delay", "sleep", "duration", "n", "count", "size", "length", "rows", "items",
    "limit", "days", "depth", "iterations",
)  # fmt: skip
"""Parameters of a query that are likely to decide how long a request takes."""


def smaller(route: Route) -> list[Route]:
    """The same route with a half and a quarter of its size, if its query has a parameter that says one."""
    path, _, query = route.path.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    for place, (name, value) in enumerate(pairs):
        if route.request is None and name in SIZED_BY and value.isdecimal() and int(value) >= SIZES[2]:
            changed = [
                [*pairs[:place], (name, str(int(value) // part)), *pairs[place + 1 :]] for part in SIZES[1:3]
            ]
            return [replace(route, path=f"{path}?{urlencode(those)}") for those in changed]
    return []


def _call(url: str, method: str, text: str, role: Role, request: Request) -> Route:
    """The route of a gRPC call. `text`: a method, with a message if it has one, or only a message for
    `method`.
    """
    called, _, message = (method, "", text) if text[:1] in "{[@" else text.partition(" ")
    message_request = request(
        read_url(url).at_path(f"/{called.lstrip('/')}"), {"message": message.strip() or None}
    )
    return Route(_called(called, message), role, message_request)


def _called(method: str, message: str) -> str:
    """The name of a call in findings."""
    return f"{method.lstrip('/')} {message.strip()}".rstrip()


def _counts(serve: Serve) -> list[Route]:
    """`/count/N` with the N that takes about `MAX_S`, and with fractions of it."""
    count, near = FIRST_COUNT, False
    for _ in range(ATTEMPTS):
        times = serve(Route(f"/count/{count}", "slow"), SETTLED if near else SEVERAL)
        if not times:
            break
        ratio, before = MAX_S / statistics.median(times), near
        if (near := 1 / NEAR <= ratio <= NEAR) and before:
            break
        if not near:
            # A short request says little about how long a long one takes, so the steps are limited.
            count = max(1, min(MAX_COUNT, round(count * min(ratio, 20.0))))
    return [Route(f"/count/{max(1, count // part)}", "slow") for part in SIZES]

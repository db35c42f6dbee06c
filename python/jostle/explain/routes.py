"""Which routes are asked for: those that a user names, or those of a contestant, whose contract has one of
each kind, with sizes that can be chosen.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from jostle import roster
from jostle.explain.target import Role, Route, path_of
from jostle.plan.contestant import ContestantFile

__all__ = [
    "CALL",
    "CALL_THAT_WAITS",
    "LONGEST_S",
    "Request",
    "contract_call",
    "contract_routes",
    "given_routes",
]

LONGEST_S = 0.04
"""Service time of the longest route: many times a runtime's slice, and short enough for many bursts."""

NEAR = 1.25
"""A size that gives a time within this factor of the intended one will do."""

SIZES = (1, 2, 4, 8)
"""The longest route over each of the others."""

FIRST_COUNT, MOST_COUNT = 1_000_000, 10**10
"""`/count/N`: where the search begins, and the most that the contract has."""

ATTEMPTS = 10

WAIT = Route("/sleep?ms=100", "wait")

Serve = Callable[[Route, int], Sequence[float]]
"""Service times in seconds of so many requests, one at a time."""


def contract_routes(file: ContestantFile, serve: Serve) -> tuple[Route, ...]:
    """A short route, four that compute in proportions 8 : 4 : 2 : 1, and one that waits, as far as they
    are there.
    """
    if "/" in file.absent:
        return (Route("/hello", "fast"),)
    there = [
        *([Route("/fast/44", "fast")] if "/fast" not in file.absent else []),
        *(_counts(serve) if "/count" not in file.absent else []),
        *([WAIT] if "/sleep" not in file.absent else []),
    ]
    return tuple(there) or (Route("/", "fast"),)


ECHO = roster.ROSTER / "shared" / "grpc" / "echo.proto"
"""What contestants that speak gRPC answer."""

CALL = {"proto": [str(ECHO)], "message": '{"text": "hello"}'}
"""Of `ECHO`'s `Say`, as options of `hit_plan`."""

CALL_THAT_WAITS = 'roster.Echo/Count {"n": 2, "gap_ms": 100}'
"""Two messages, 100 ms apart."""


def contract_call(address: str) -> str:
    """The URL of the call that is answered soon; `address`: host and port."""
    return f"grpc://{address}/roster.Echo/Say"


Request = Callable[[str, Mapping[str, Any]], dict[str, Any]]
"""The engine's specification of the request that a URL and changed options ask for."""


def given_routes(
    url: str,
    base: str,
    first: Mapping[str, Any],
    slow: Sequence[str],
    wait: str | None,
    options: Mapping[str, Any],
    request: Request,
) -> list[Route]:
    """The routes of a running server: that of `url`, those of `slow`, and the one of `wait`. `base`: its URL
    without a path. `first`: the engine's specification of the request that `url` and `options` ask for. What
    `slow` and `wait` hold depends on the protocol, as `explain` says. Raises `PlanError`.
    """
    roles: list[tuple[str, Role]] = [(given, "slow") for given in slow]
    roles += [(wait, "wait")] if wait is not None else []
    scheme = urlsplit(url).scheme
    if scheme in ("grpc", "grpcs"):
        method = urlsplit(url).path.lstrip("/")
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
        *(Route(path_of(base, text), role) for text, role in roles),
    ]


def _call(url: str, method: str, text: str, role: Role, request: Request) -> Route:
    """`text`: a method, with its message if it has one, or only a message of `method`."""
    called, _, message = (method, "", text) if text[:1] in "{[@" else text.partition(" ")
    there = urlsplit(url)._replace(path=f"/{called.lstrip('/')}").geturl()
    asked = request(there, {"message": message.strip() or None})
    return Route(_called(called, message), role, asked)


def _called(method: str, message: str) -> str:
    """As findings name a call."""
    return f"{method.lstrip('/')} {message.strip()}".rstrip()


def _counts(serve: Serve) -> list[Route]:
    """`/count/N` with the N that takes about `LONGEST_S`, and parts of it."""
    count = FIRST_COUNT
    for _ in range(ATTEMPTS):
        times = serve(Route(f"/count/{count}", "slow"), 3)
        if not times:
            break
        ratio = LONGEST_S / statistics.median(times)
        if 1 / NEAR <= ratio <= NEAR:
            break
        # A short one says little about how long a long one takes: step by step.
        count = max(1, min(MOST_COUNT, round(count * min(ratio, 20.0))))
    return [Route(f"/count/{max(1, count // part)}", "slow") for part in SIZES]

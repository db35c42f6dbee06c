"""The generators that are compared: how each is told to send. All run until they are ended."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = [
    "AB",
    "ECHO_PROTO",
    "GHZ",
    "GRPC_CONNECTIONS",
    "H2LOAD",
    "HTTP2_CONNECTIONS",
    "JOSTLE",
    "JOSTLE_GRPC",
    "JOSTLE_HTTP1",
    "JOSTLE_HTTP2",
    "K6",
    "K6_JOURNEY",
    "OHA",
    "WRK",
    "Tool",
]

FOREVER_S = 600
ECHO_PROTO = Path(__file__).parents[1] / "tests" / "support" / "grpc" / "echo.proto"
K6_SCRIPT = Path(__file__).parent / "k6.js"
K6_JOURNEY_SCRIPT = Path(__file__).parent / "k6_journey.js"


@dataclass(frozen=True)
class Tool:
    """Commands for a closed loop of so many connections (`closed`), the same with a new connection for every
    request (`connecting`), and a constant rate per second over at most so many connections (`open`)."""

    name: str
    closed: Callable[[str, int], list[str]]
    connecting: Callable[[str, int], list[str]] | None = None
    open: Callable[[str, int, int], list[str]] | None = None


def _jostle(url: str, connections: int, *more: str) -> list[str]:
    hit = [sys.executable, "-m", "jostle", "hit", url, "-c", str(connections)]
    return [*hit, "-d", f"{FOREVER_S}s", "--timeout", "60s", "--connect-timeout", "60s", "--json", *more]


def _oha(url: str, connections: int, *more: str) -> list[str]:
    return ["oha", "--no-tui", "-c", str(connections), "-z", f"{FOREVER_S}s", *more, url]


def _k6(url: str, connections: int, rate: int | None = None, script: Path = K6_SCRIPT) -> list[str]:
    settings = {"URL": url, "VUS": connections, "RATE": rate or 0, "SECONDS": FOREVER_S}
    pairs = [word for name, value in settings.items() for word in ("-e", f"{name}={value}")]
    return ["k6", "run", "--quiet", "--no-usage-report", "--address", "", *pairs, str(script)]


JOSTLE = Tool(
    "jostle",
    _jostle,
    lambda url, c: _jostle(url, c, "--no-keepalive"),
    lambda url, rate, c: _jostle(url, c, "--rate", f"{rate}/s", "--arrivals", "constant"),
)
HTTP2_CONNECTIONS = 10
"""Over HTTP/2 clients are streams of so many connections."""
JOSTLE_HTTP1 = replace(JOSTLE, name="jostle, HTTP/1.1")
"""Beside its own HTTP/2."""
JOSTLE_HTTP2 = Tool("jostle", lambda url, c: _jostle(url, c, "--http2-connections", str(HTTP2_CONNECTIONS)))
H2LOAD = Tool(
    "h2load",
    lambda url, c: [
        *("h2load", "-t1", f"-c{HTTP2_CONNECTIONS}", f"-m{c // HTTP2_CONNECTIONS}", f"-D{FOREVER_S}"),
        url,
    ],
)
GRPC_CONNECTIONS = 10
"""Calls go side by side over so many connections."""
MESSAGE = json.dumps({"text": "x" * 100, "number": 7})
JOSTLE_GRPC = Tool(
    "jostle",
    lambda url, c: _jostle(
        *(f"grpc://{url}/test.v1.Echo/Say", c, "--http2-connections", str(GRPC_CONNECTIONS)),
        *("--proto", str(ECHO_PROTO), "--message", MESSAGE),
    ),
)
GHZ = Tool(
    "ghz",
    lambda url, c: [
        *("ghz", "--insecure", "--proto", str(ECHO_PROTO), "--call", "test.v1.Echo/Say", "-d", MESSAGE),
        *("-c", str(c), "--connections", str(GRPC_CONNECTIONS), "-z", f"{FOREVER_S}s", "--cpus", "1"),
        *("-t", "60s", url),
    ],
)
WRK = Tool("wrk", lambda url, c: ["wrk", "-t1", f"-c{c}", f"-d{FOREVER_S}s", "--timeout", "60s", url])
OHA = Tool(
    "oha",
    _oha,
    lambda url, c: _oha(url, c, "--disable-keepalive"),
    lambda url, rate, c: _oha(url, c, "-q", str(rate)),
)
K6 = Tool("k6", _k6, open=lambda url, rate, c: _k6(url, c, rate))
K6_JOURNEY = Tool("k6", lambda url, c: _k6(f"{url}journey/", c, script=K6_JOURNEY_SCRIPT))
AB = Tool(
    "ab",
    lambda url, c: ["ab", "-q", "-k", "-c", str(c), "-t", str(FOREVER_S), "-n", "20000000", url],
    lambda url, c: ["ab", "-q", "-c", str(c), "-t", str(FOREVER_S), "-n", "5000000", url],
)

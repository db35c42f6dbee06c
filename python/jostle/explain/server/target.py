"""What is explained: a server, the routes to ask for, and whether jostle started it."""

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urljoin

from jostle.errors import PlanError, UnreachableTarget
from jostle.explain.server.observe import Usage
from jostle.plan.hit.plan import hit_plan
from jostle.plan.journeys.builder import JourneyBuilder
from jostle.plan.model import Plan
from jostle.redaction.data import redact
from jostle.runner.tryout import try_journeys
from jostle.text import one_line, reason

__all__ = ["ResponseHead", "Role", "Route", "Target", "check", "connect_s", "intermediary", "look"]

Role = Literal["fast", "slow", "wait"]
"""A route that is answered quickly, one that takes long, or one that waits without computing."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")

PROXY_HEADERS = (
    "via", "x-cache", "cf-ray", "x-amz-cf-id", "x-served-by", "x-varnish", "x-envoy-upstream-service-time",
)  # fmt: skip
"""A response with one of these headers came through an intermediary. Via: RFC 9110, section 7.6.3."""

PROXIES = ("cloudflare", "varnish", "cloudfront", "akamai", "envoy", "haproxy", "traefik")
"""Products whose Server header says that the response came through them."""


@dataclass(frozen=True)
class Route:
    """What is asked for. `path`: path and query; for requests other than GET, what is called or sent.

    `request`: the engine's specification of such a call or message; None for a GET of the path.
    """

    path: str
    role: Role
    request: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name in findings and records, with secrets in the query hidden."""
        return one_line(redact(self.path))

    @property
    def in_sentences(self) -> str:
        """The name as used in sentences: "GET /hello", "shop.Shop/Buy", "'ping'"."""
        return f"GET {self.name}" if self.request is None else self.name


@dataclass(frozen=True)
class Target:
    """The server to explain."""

    label: str
    url: str
    routes: tuple[Route, ...]
    """The fast one comes first."""

    workload: Mapping[str, Any] = field(repr=False)
    """The specification of a workload that asks for the first route; each probe is derived from it."""

    protocol: str = "HTTP/1.1"
    """Its name for readers."""

    headers: Mapping[str, str | list[str]] = field(default_factory=dict, repr=False)
    """Sent with every request."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """How to connect, as `hit_plan` takes them."""

    generator_cores: tuple[int, ...] = ()
    usage: Callable[[], Usage] | None = None
    """Reads the CPU time that the server has used so far; None if its process is not known."""

    started_here: bool = False
    """Whether jostle started the server and may load it as it likes."""

    cores: int | None = None
    """How many cores it may use, if known."""

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine, so that its process may be named."""
        return str(self.workload["target"]["host"]) in LOOPBACK

    @property
    def over_http(self) -> bool:
        """Whether its routes are paths and its responses have a head."""
        return self.routes[0].request is None

    @property
    def has_streams(self) -> bool:
        """Whether several requests may be under way on one connection."""
        return self.workload["target"].get("http2") is not None

    def request(self, route: Route) -> dict[str, Any]:
        """The engine's specification of a request for the route."""
        (pattern,) = self.workload["requests"]
        request = {**pattern, "path": route.path} if route.request is None else route.request
        return {**request, "name": route.name}


@dataclass(frozen=True)
class ResponseHead:
    """The head of one response, read before anything is measured. Header names are lower case."""

    route: Route
    status: int
    headers: Mapping[str, str]


LOOK_S = 10.0


def look(target: Target, route: Route) -> ResponseHead:
    """Asks once, as the probes do. Raises `UnreachableTarget` if no response comes in the protocol."""
    plan = _plan_of_one(target, route)
    ((_, trace),) = next(try_journeys(plan, plan.contestants[0])).steps
    if not trace["head"]:
        raise UnreachableTarget(
            f"no response from {target.url} to GET {route.name}: "
            f"{one_line(trace['why'] or trace['outcome'])}",
            "is the server running, and are the address and the protocol right?",
        )
    first, *lines = trace["head"].decode("latin-1").splitlines()
    headers = dict(line.split(":", 1) for line in lines if ":" in line)
    return ResponseHead(
        route, int(first.split()[1]), {name.lower(): value.strip() for name, value in headers.items()}
    )


def _plan_of_one(target: Target, route: Route) -> Plan:
    """A plan whose journey asks for the route once."""
    step = JourneyBuilder("look").get(route.path, headers=dict(target.headers))
    return hit_plan(target.url, {**target.options, "journey": step, "timeout": LOOK_S})


def connect_s(target: Target) -> float:
    """How long the kernel takes to open a connection, which is one round trip over the network; 0 for UDP,
    which has no connections. Raises `UnreachableTarget`.
    """
    if target.protocol == "UDP":
        return 0.0
    to = target.workload["target"]
    before = time.perf_counter()
    try:
        socket.create_connection((to["host"], to["port"]), LOOK_S).close()
    except OSError as error:
        raise UnreachableTarget(
            f"cannot connect to {target.url}: {reason(error)}",
            "is the server running, and the address right?",
        ) from None
    return time.perf_counter() - before


def check(target: Target, looks: Sequence[ResponseHead]) -> None:
    """Raises `PlanError` if a route redirects or answers with an error: then there is nothing to explain."""
    for seen in looks:
        path = seen.route.name
        if 300 <= seen.status < 400:
            where = one_line(urljoin(target.url + path, seen.headers.get("location", "")))
            raise PlanError(
                f"GET {path} is redirected ({seen.status}) to {where}",
                f"redirects are not followed; explain the page itself: {where}",
            )
        if seen.status >= 400:
            raise PlanError(
                f"GET {path} answers {seen.status}: an error tells nothing about how requests are served",
                "name a route that answers 200; -H 'Name: value' sends a header, such as a token",
            )


def intermediary(looks: Sequence[ResponseHead]) -> str:
    """The header that reveals a proxy or cache in between, such as "via: 1.1 varnish"; "" if none does."""
    for seen in looks:
        for name in PROXY_HEADERS:
            if name in seen.headers:
                return one_line(f"{name}: {seen.headers[name]}")
        server = seen.headers.get("server", "")
        if any(product in server.lower() for product in PROXIES):
            return one_line(f"server: {server}")
    return ""

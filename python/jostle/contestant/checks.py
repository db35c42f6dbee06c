"""The checks of the contract: each sends requests to a running server, and says what the responses must be.

A check is called with the server, and raises `WrongResponse` if a response is not right. It uses only
sockets, so that it sees what a client would see.
"""

import html.parser
import http.client
import json
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jostle.contestant.stock import Stock

__all__ = [
    "EVENTS",
    "HELLO",
    "HTML",
    "JSON",
    "TEXT",
    "CheckedServer",
    "ContractCheck",
    "OrdersPage",
    "Page",
    "Refuses",
    "RefusesMethods",
    "RemotePair",
    "Responses",
    "ResponsesInParallel",
    "ResponsesJson",
    "SelfDescription",
    "SendsAtOnce",
    "TakesAtLeast",
    "WorkGrows",
    "WrongResponse",
    "bad_numbers",
    "closes_when_asked",
    "expect",
    "keeps_connections",
    "kind_of",
]

TIMEOUT_S = 30.0
HELLO = b"x" * 1023 + b"\n"
TEXT, JSON, HTML = "text/plain", "application/json", "text/html"
EVENTS = "text/event-stream"
ATTEMPTS = 4
"""How often a check is tried that a stall of the machine can spoil."""
REQUESTS_ON_ONE_CONNECTION = 150
"""More than the hundred after which many servers close a connection by default."""
PARALLEL = 100
PAGES = 8
"""How often /orders is requested: the same customer of thousands eight times in a row is no coincidence."""
MEASURABLE_S = 0.01
"""Work that takes longer than this stands out from the cost of a request."""
LONG_S = 0.2
"""Work that takes longer than this hardly depends on what else the machine does."""


class WrongResponse(Exception):
    """A response that is not as the contract says."""


@dataclass(frozen=True)
class CheckedServer:
    """The server that is checked."""

    host: str
    port: int
    pages: Mapping[str, Sequence[str]] | None = None
    """What /orders must show, customer → lines; {} if that is not known, None without a database."""
    stock: Stock | None = None
    """What /shop must show; None if that is not known."""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_S)

    def get(
        self, path: str, method: str = "GET", body: bytes | None = None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send one request on a connection of its own."""
        connection = self.connect()
        try:
            connection.request(method, path, body, {"Connection": "close"})
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def exchange(self, request: str) -> bytes:
        """Send `request` unchanged. Returns all that comes until the server closes. Raises `TimeoutError`."""
        with socket.create_connection((self.host, self.port), TIMEOUT_S) as connection:
            connection.sendall(request.encode())
            response = b""
            while part := connection.recv(65536):
                response += part
            return response

    def seconds(self, path: str) -> float:
        start = time.perf_counter()
        self.get(path)
        return time.perf_counter() - start


ContractCheck = Callable[[CheckedServer], None]


@dataclass(frozen=True)
class Responses:
    """GET returns 200, the content type and the body (None: any); HEAD the same without a body."""

    path: str
    kind: str
    body: bytes | None = None

    def __call__(self, target: CheckedServer) -> None:
        self.body_of(target)

    def body_of(self, target: CheckedServer) -> bytes:
        response, body = target.get(self.path)
        expect(f"GET {self.path}: status", response.status, 200)
        expect(f"GET {self.path}: content type", kind_of(response), self.kind)
        if self.body is not None:
            expect(f"GET {self.path}: body", body, self.body)
        length = response.headers["Content-Length"]
        if length is None and response.headers["Transfer-Encoding"] != "chunked":
            raise WrongResponse(f"GET {self.path}: neither Content-Length nor chunked")
        head = target.exchange(
            f"HEAD {self.path} HTTP/1.1\r\nHost: {target.host}\r\nConnection: close\r\n\r\n"
        )
        lines, _, rest = head.partition(b"\r\n\r\n")
        expect(f"HEAD {self.path}: status line", lines.split(b"\r\n")[0][:12], b"HTTP/1.1 200")
        expect(f"HEAD {self.path}: body", rest, b"")
        return body


@dataclass(frozen=True)
class ResponsesJson:
    """As `Responses`, but the body is a JSON value, however it is formatted."""

    path: str
    value: Any

    def __call__(self, target: CheckedServer) -> None:
        body = Responses(self.path, JSON).body_of(target)
        expect(f"GET {self.path}: body as JSON", _json(self.path, body), self.value)


@dataclass(frozen=True)
class Refuses:
    """Each path gets the status and one line of plain text."""

    status: int
    paths: Sequence[str]

    def __call__(self, target: CheckedServer) -> None:
        for path in self.paths:
            response, body = target.get(path)
            expect(f"GET {path}: status", response.status, self.status)
            expect(f"GET {path}: content type", kind_of(response), TEXT)
            if not body.strip() or b"\n" in body.strip():
                raise WrongResponse(f"GET {path}: the message should be one plain line, not {body[:80]!r}")


@dataclass(frozen=True)
class TakesAtLeast:
    """The response does not come before this time."""

    path: str
    seconds: float

    def __call__(self, target: CheckedServer) -> None:
        if (took_s := target.seconds(self.path)) < self.seconds:
            raise WrongResponse(f"GET {self.path}: answered after {took_s * 1000:.1f} ms")


@dataclass(frozen=True)
class SendsAtOnce:
    """When `first` has been received, `last` of the same body has not."""

    path: str
    first: bytes
    last: bytes

    def __call__(self, target: CheckedServer) -> None:
        if all(self.last in self._come_with_first(target) for _ in range(ATTEMPTS)):
            raise WrongResponse(f"GET {self.path}: what is ready is held back until the end")

    def _come_with_first(self, target: CheckedServer) -> bytes:
        with socket.create_connection((target.host, target.port), TIMEOUT_S) as connection:
            connection.sendall(f"GET {self.path} HTTP/1.1\r\nHost: {target.host}\r\n\r\n".encode())
            come = b""
            while self.first not in come:
                part = connection.recv(65536)
                if not part:
                    raise WrongResponse(f"GET {self.path}: closed after {_short(come)}")
                come += part
            return come


@dataclass(frozen=True)
class WorkGrows:
    """At some size, the larger path of a pair takes at least `times` as long as the smaller one.

    `pairs` are of growing size; those that take too little time are skipped. Both paths are measured in turn,
    as the machine's speed may change, and the minimum of several counts, as a busy machine only adds time.
    More measurements are taken before a size counts as failed.
    """

    pairs: Sequence[tuple[str, str]]
    times: float

    def __call__(self, target: CheckedServer) -> None:
        problem = "they take no time: nothing is computed"
        for small, large in self.pairs:
            taken: list[tuple[float, float]] = []
            for _ in range(ATTEMPTS):
                taken += [(target.seconds(small), target.seconds(large)) for _ in range(4)]
                small_s, large_s = map(min, zip(*taken, strict=True))
                if small_s < MEASURABLE_S:
                    break
                if large_s >= self.times * small_s:
                    return
            else:
                problem = f"GET {large} takes only {large_s / small_s:.2f} times as long as {small}"
                if small_s > LONG_S:
                    break
        raise WrongResponse(problem)


class SelfDescription:
    """GET / returns the server's name, version and runtime, and the number of its workers."""

    KINDS = (("name", str), ("version", str), ("runtime", str), ("workers", int))

    def __call__(self, target: CheckedServer) -> None:
        found = _json("/", Responses("/", JSON).body_of(target))
        if not isinstance(found, dict) or any(
            not isinstance(found.get(key), kind) for key, kind in self.KINDS
        ):
            raise WrongResponse(f"GET /: should give name, version, runtime and workers, not {_short(found)}")


@dataclass(frozen=True)
class RemotePair:
    """/pair with the server as its own peer.

    A server that serves one request at a time would wait for itself for ever, so it may refuse with 409.
    """

    concurrently: int

    def __call__(self, target: CheckedServer) -> None:
        path = f"/pair/20/10?where=remote&peer={target.url}&async={self.concurrently}"
        if target.get(path)[0].status != 409:
            ResponsesJson(path, {"a": 6765, "b": 55})(target)
            return
        Refuses(409, [path])(target)
        if _json("/", target.get("/")[1]).get("workers") != 1:
            raise WrongResponse(f"GET {path}: refused, although it has several workers")


class OrdersPage:
    """Each page shows one customer's orders by date, and not always the same customer."""

    def __call__(self, target: CheckedServer) -> None:
        Responses("/orders", HTML)(target)
        names = {self._customer(target) for _ in range(PAGES)}
        if len(names) == 1:
            raise WrongResponse(f"GET /orders: the same customer {PAGES} times: {names.pop()!r}")

    def _customer(self, target: CheckedServer) -> str:
        """Check a page, and return the customer's name on it."""
        page = Page(target.get("/orders")[1].decode(errors="replace"))
        if len(page.headings) != 1 or not page.items:
            raise WrongResponse("GET /orders: should show the customer's name in an h1, each order in a li")
        (name,) = page.headings
        if page.items != sorted(page.items):
            raise WrongResponse(f"GET /orders: not sorted by date: {_short(page.items)}")
        if target.pages:
            if name not in target.pages:
                raise WrongResponse(f"GET /orders: there is no customer {name!r}")
            expect(f"GET /orders: the orders of {name}", page.items, list(target.pages[name]))
        return name


class Page(html.parser.HTMLParser):
    """The texts of all h1 and li of an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.items: list[str] = []
        self._open: list[str] | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag in ("h1", "li"):
            self._open = self.headings if tag == "h1" else self.items
            self._open.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("h1", "li"):
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._open[-1] += data


@dataclass(frozen=True)
class RefusesMethods:
    """Only GET and HEAD are allowed."""

    path: str

    def __call__(self, target: CheckedServer) -> None:
        for method, body in (("POST", b"a=1"), ("PUT", b"a=1"), ("DELETE", None), ("OPTIONS", None)):
            response, _ = target.get(self.path, method, body)
            expect(f"{method} {self.path}: status", response.status, 405)


@dataclass(frozen=True)
class ResponsesInParallel:
    """`PARALLEL` connections are open at once, and each gets its response."""

    path: str
    body: bytes

    def __call__(self, target: CheckedServer) -> None:
        connections = [target.connect() for _ in range(PARALLEL)]
        for connection in connections:
            connection.request("GET", self.path, headers={"Connection": "close"})
        for number, connection in enumerate(connections, 1):
            body = connection.getresponse().read()
            expect(f"parallel request {number} of {PARALLEL}: body", body, self.body)
            connection.close()


def keeps_connections(target: CheckedServer) -> None:
    """Check that many requests can be sent on one connection."""
    connection = target.connect()
    connection.connect()
    first = connection.sock
    for number in range(1, REQUESTS_ON_ONE_CONNECTION + 1):
        connection.request("GET", "/hello")
        body = connection.getresponse().read()
        expect(f"request {number} on one connection: body", body, HELLO)
        if connection.sock is not first:
            raise WrongResponse(f"the server closed the connection after request {number}")
    connection.close()


def closes_when_asked(target: CheckedServer) -> None:
    """Check that with Connection: close the server answers, then closes."""
    response = target.exchange(f"GET /hello HTTP/1.1\r\nHost: {target.host}\r\nConnection: close\r\n\r\n")
    if not response.startswith(b"HTTP/1.1 200") or not response.partition(b"\r\n\r\n")[2]:
        raise WrongResponse(f"with Connection: close it answers {_short(response)}")


def bad_numbers(route: str, max_number: int) -> list[str]:
    """Paths with wrong numbers, which the route must refuse."""
    numbers: Iterable[str] = ("x", "-1", "1.5", "1e3", "+1", "0x10", str(max_number + 1), "9" * 40)
    return [f"{route}/{number}" for number in numbers]


def expect(what: str, got: object, wanted: object) -> None:
    """Raise `WrongResponse` if `got` is not as wanted."""
    if got != wanted:
        raise WrongResponse(f"{what}: {_short(got)} instead of {_short(wanted)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}… ({len(value)} long)"  # type: ignore[arg-type]


def kind_of(response: http.client.HTTPResponse) -> str:
    """The content type of a response, without parameters."""
    return (response.headers["Content-Type"] or "").partition(";")[0].strip().lower()


def _json(path: str, body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise WrongResponse(f"GET {path}: not JSON: {_short(body)}") from None

"""Does a running server keep the contestants' contract? Every route is asked, with nothing but sockets.

Routes that a contestant declares absent are not asked for their answer, but they must not be there either: a
route is never faked.
"""

import html.parser
import http.client
import json
import socket
import time
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jostle.contestant import Server
    from jostle.database import Database

__all__ = ["RouteCheck", "verify"]

TIMEOUT_S = 30.0
HELLO = b"x" * 1023 + b"\n"
TEXT, JSON = "text/plain", "application/json"
KEPT_REQUESTS = 150
"""On one connection: above the hundred at which many servers close by default."""
PARALLEL = 100
PAGES = 8
"""Of /orders: that one customer in thousands comes eight times running is no chance."""
REAL_S = 0.01
"""Work that takes longer than that can be told from the cost of a request."""
LONG_S = 0.2
"""Work that takes longer than that no longer depends on what else the machine does."""


@dataclass(frozen=True)
class RouteCheck:
    """`says`: what is wrong; for an absent route its reason; else empty."""

    route: str
    ok: bool
    says: str = ""


class WrongAnswerError(Exception):
    """An answer that is not as the contract says."""


def verify(server: "Server", parts: Container[str] | None = None) -> list[RouteCheck]:
    """Check every part of the contract, or some routes and manners of it. Takes some seconds."""
    absent = server.contestant.file.absent
    manners = [name for name in MANNERS if name not in TELLING or "/" not in absent]
    asked = _Asked(server.host, server.port, server.database)
    wanted = [name for name in (*ROUTES, *manners) if parts is None or name in parts]
    return [
        _route(name, server, asked) if name in ROUTES else _manner(name, absent.get(name), asked)
        for name in wanted
    ]


def _route(route: str, server: "Server", asked: "_Asked") -> RouteCheck:
    file = server.contestant.file
    reason = file.absent.get(route)
    example, check = ROUTES[route]
    if reason is None:
        without = route == "/orders" and file.database and server.database is None
        refusing = partial(_Asked.refused, status=503, paths=(example,))
        return _outcome(route, refusing if without else check, asked)
    if "/" in file.absent:  # it does not tell requests apart
        return RouteCheck(route, True, f"absent: {reason}")
    missing = _outcome(route, partial(_Asked.refused, status=404, paths=(example,)), asked)
    return RouteCheck(route, missing.ok, missing.says or f"absent: {reason}")


def _manner(name: str, lacking: str | None, asked: "_Asked") -> RouteCheck:
    """`lacking`: the reason for which it is declared absent; then it must in fact not be there."""
    kept = _outcome(name, MANNERS[name], asked)
    if lacking is None:
        return kept
    if kept.ok:
        return RouteCheck(name, False, f"it is there, though declared absent: {lacking}")
    return RouteCheck(name, True, f"absent: {lacking}")


def _outcome(name: str, check: "Callable[[_Asked], None]", asked: "_Asked") -> RouteCheck:
    try:
        check(asked)
    except WrongAnswerError as wrong:
        return RouteCheck(name, False, str(wrong))
    except (OSError, http.client.HTTPException) as error:
        return RouteCheck(name, False, f"no answer: {error!r}")
    return RouteCheck(name, True)


@dataclass(frozen=True)
class _Asked:
    """The server that is asked."""

    host: str
    port: int
    database: "Database | None" = None

    @property
    def own(self) -> str:
        """Its address, as a peer would be given it."""
        return f"http://{self.host}:{self.port}"

    def get(
        self, path: str, method: str = "GET", body: bytes | None = None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, body, {"Connection": "close"})
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def raw(self, request: str) -> bytes:
        """All that comes back until the server closes. Raises `TimeoutError` when it does not."""
        with socket.create_connection((self.host, self.port), TIMEOUT_S) as connection:
            connection.sendall(request.encode())
            answer = b""
            while part := connection.recv(65536):
                answer += part
            return answer

    def seconds(self, path: str) -> float:
        start = time.perf_counter()
        self.get(path)
        return time.perf_counter() - start

    def answers(self, path: str, kind: str, body: bytes | None = None) -> bytes:
        """GET gives 200, the content type and the body; HEAD the same without a body."""
        response, got = self.get(path)
        _same(f"GET {path}: status", response.status, 200)
        _same(f"GET {path}: content type", _kind(response), kind)
        if body is not None:
            _same(f"GET {path}: body", got, body)
        length = response.headers["Content-Length"]
        if length is None and response.headers["Transfer-Encoding"] != "chunked":
            raise WrongAnswerError(f"GET {path}: neither Content-Length nor chunked")
        head = self.raw(f"HEAD {path} HTTP/1.1\r\nHost: {self.host}\r\nConnection: close\r\n\r\n")
        lines, _, rest = head.partition(b"\r\n\r\n")
        _same(f"HEAD {path}: status line", lines.split(b"\r\n")[0][:12], b"HTTP/1.1 200")
        _same(f"HEAD {path}: body", rest, b"")
        return got

    def answers_json(self, path: str, value: Any) -> None:
        _same(f"GET {path}: body as JSON", _json(path, self.answers(path, JSON)), value)

    def refused(self, status: int, paths: Iterable[str]) -> None:
        """Each path gives the status and one plain line."""
        for path in paths:
            response, body = self.get(path)
            _same(f"GET {path}: status", response.status, status)
            _same(f"GET {path}: content type", _kind(response), TEXT)
            if not body.strip() or b"\n" in body.strip():
                raise WrongAnswerError(f"GET {path}: the message should be one plain line, not {body[:80]!r}")


def _same(what: str, got: Any, wanted: Any) -> None:
    if got != wanted:
        raise WrongAnswerError(f"{what}: {_short(got)} instead of {_short(wanted)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}… ({len(value)} long)"


def _kind(response: http.client.HTTPResponse) -> str:
    return (response.headers["Content-Type"] or "").partition(";")[0].strip().lower()


def _json(path: str, body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        raise WrongAnswerError(f"GET {path}: not JSON: {_short(body)}") from None


def _root(asked: _Asked) -> None:
    told = _json("/", asked.answers("/", JSON))
    kinds = {"name": str, "version": str, "runtime": str, "workers": int}
    if not isinstance(told, dict) or any(not isinstance(told.get(key), kind) for key, kind in kinds.items()):
        raise WrongAnswerError(f"GET /: should tell name, version, runtime and workers, not {_short(told)}")


def _hello(asked: _Asked) -> None:
    asked.answers("/hello", TEXT, HELLO)


def _sleep(asked: _Asked) -> None:
    asked.answers("/sleep", TEXT, HELLO)
    asked.answers("/sleep?ms=0", TEXT, HELLO)
    for path, least_s in (("/sleep", 0.099), ("/sleep?ms=250", 0.249), ("/sleep?ms=100&jitter=0.5", 0.049)):
        if (took_s := asked.seconds(path)) < least_s:
            raise WrongAnswerError(f"GET {path}: answered after {took_s * 1000:.1f} ms")
    bad = ("ms=abc", "ms=-1", "ms=60001", "ms=", "ms=1&jitter=2", "ms=1&jitter=-0.1", "ms=1&jitter=x")
    asked.refused(400, (f"/sleep?{query}" for query in bad))


def _count(asked: _Asked) -> None:
    for number in (0, 1000):
        asked.answers(f"/count/{number}", TEXT, f"Hello, World {number}\n".encode())
    asked.refused(400, _bad("/count", 10**10))
    _grows(asked, ((f"/count/{10**4 * 4**n}", f"/count/{10**4 * 4**n * 16}") for n in range(8)), 4)


def _fast(asked: _Asked) -> None:
    for number, square in ((0, b"0"), (44, b"1936"), (10**6, b"1000000000000")):
        asked.answers(f"/fast/{number}", TEXT, square)
    asked.refused(400, _bad("/fast", 10**6))


def _slow(asked: _Asked) -> None:
    for number, fibonacci in ((0, b"0"), (1, b"1"), (20, b"6765")):
        asked.answers(f"/slow/{number}", TEXT, fibonacci)
    asked.refused(400, _bad("/slow", 60))
    _grows(asked, ((f"/slow/{n}", f"/slow/{n + 6}") for n in range(18, 55, 3)), 4)


def _fibs(asked: _Asked) -> None:
    for number, fibonacci in ((0, 0), (20, 6765)):
        asked.answers_json(f"/fibs/{number}", {"fibResult": fibonacci})
    asked.refused(400, _bad("/fibs", 60))


def _pair(asked: _Asked) -> None:
    for concurrently in (0, 1):
        asked.answers_json(f"/pair/20/10?where=local&async={concurrently}", {"a": 6765, "b": 55})
        _asks_itself(asked, f"/pair/20/10?where=remote&peer={asked.own}&async={concurrently}")
    asked.answers_json("/pair/20/10", {"a": 6765, "b": 55})
    asked.refused(400, _bad("/pair/1", 60))
    asked.refused(400, ("/pair/x/1", "/pair/1/1?where=remote", "/pair/1/1?where=elsewhere"))
    _grows(asked, ((f"/pair/{n}/1?async=0", f"/pair/{n}/{n}?async=0") for n in range(18, 61, 3)), 1.5)


def _asks_itself(asked: _Asked, path: str) -> None:
    """A server that serves one request at a time would wait for itself for ever: it may refuse with 409."""
    if asked.get(path)[0].status != 409:
        asked.answers_json(path, {"a": 6765, "b": 55})
        return
    asked.refused(409, [path])
    if _json("/", asked.get("/")[1]).get("workers") != 1:
        raise WrongAnswerError(f"GET {path}: refused, although it has several workers")


def _buffers(asked: _Asked) -> None:
    asked.answers("/alloc/buffers", TEXT, HELLO)


def _strings(asked: _Asked) -> None:
    asked.answers("/alloc/strings", TEXT, HELLO)


def _spawn(asked: _Asked) -> None:
    for number in (0, 1, 1000):
        asked.answers(f"/spawn/{number}", TEXT, str(number).encode())
    asked.refused(400, _bad("/spawn", 10**6))


def _orders(asked: _Asked) -> None:
    """Each page shows one customer's orders by date, and not always the same customer."""
    content = asked.database.content() if asked.database is not None else None
    asked.answers("/orders", "text/html")
    names = set()
    for _ in range(PAGES):
        page = _Page(asked.get("/orders")[1].decode(errors="replace"))
        if len(page.headings) != 1 or not page.items:
            raise WrongAnswerError(
                "GET /orders: should show the customer's name in an h1, each order in a li"
            )
        (name,) = page.headings
        names.add(name)
        if page.items != sorted(page.items):
            raise WrongAnswerError(f"GET /orders: not sorted by date: {_short(page.items)}")
        if content is not None:
            if name not in content:
                raise WrongAnswerError(f"GET /orders: there is no customer {name!r}")
            orders = [f"{order.ordered_on}: {order.item}" for order in content[name].by_date()]
            _same(f"GET /orders: the orders of {name}", page.items, orders)
    if len(names) == 1:
        raise WrongAnswerError(f"GET /orders: the same customer {PAGES} times: {names.pop()!r}")


class _Page(html.parser.HTMLParser):
    """The texts of all h1 and li of an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.items: list[str] = []
        self._open: list[str] | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        if tag in ("h1", "li"):
            self._open = self.headings if tag == "h1" else self.items
            self._open.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("h1", "li"):
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._open[-1] += data


def _bad(route: str, most: int) -> Iterator[str]:
    """Numbers that the route must refuse."""
    return (
        f"{route}/{number}" for number in ("x", "-1", "1.5", "1e3", "+1", "0x10", str(most + 1), "9" * 40)
    )


def _grows(asked: _Asked, pairs: Iterable[tuple[str, str]], times: float) -> None:
    """At some size, the larger path of a pair takes at least so many times as long as the smaller one.

    `pairs` grow; those that take no time to speak of say nothing. Least of several: a busy machine only adds.
    """
    found = "they take no time: nothing is computed"
    for small, large in pairs:
        small_s = min(asked.seconds(small) for _ in range(5))
        if small_s < REAL_S:
            continue
        large_s = min(asked.seconds(large) for _ in range(3))
        if large_s >= times * small_s:
            return
        found = f"GET {large} takes only {large_s / small_s:.2f} times as long as {small}"
        if small_s > LONG_S:
            break
    raise WrongAnswerError(found)


def _unknown_path(asked: _Asked) -> None:
    asked.refused(404, ("/nothing-of-that-name", "/hello/there", "/count", "/fast/1/2"))


def _other_methods(asked: _Asked) -> None:
    for method, body in (("POST", b"a=1"), ("PUT", b"a=1"), ("DELETE", None), ("OPTIONS", None)):
        response, _ = asked.get("/hello", method, body)
        _same(f"{method} /hello: status", response.status, 405)


def _keep_alive(asked: _Asked) -> None:
    connection = http.client.HTTPConnection(asked.host, asked.port, timeout=TIMEOUT_S)
    connection.connect()
    first = connection.sock
    for number in range(1, KEPT_REQUESTS + 1):
        connection.request("GET", "/hello")
        response = connection.getresponse()
        _same(f"request {number} on one connection: body", response.read(), HELLO)
        if connection.sock is not first:
            raise WrongAnswerError(f"the server closed the connection after request {number}")
    connection.close()


def _close(asked: _Asked) -> None:
    answer = asked.raw(f"GET /hello HTTP/1.1\r\nHost: {asked.host}\r\nConnection: close\r\n\r\n")
    if not answer.startswith(b"HTTP/1.1 200") or not answer.partition(b"\r\n\r\n")[2]:
        raise WrongAnswerError(f"with Connection: close it answers {_short(answer)}")


def _parallel(asked: _Asked) -> None:
    connections = [
        http.client.HTTPConnection(asked.host, asked.port, timeout=TIMEOUT_S) for _ in range(PARALLEL)
    ]
    for connection in connections:
        connection.request("GET", "/hello", headers={"Connection": "close"})
    for number, connection in enumerate(connections, 1):
        _same(f"parallel request {number} of {PARALLEL}: body", connection.getresponse().read(), HELLO)
        connection.close()


ROUTES: dict[str, tuple[str, Callable[[_Asked], None]]] = {
    "/": ("/", _root),
    "/hello": ("/hello", _hello),
    "/sleep": ("/sleep?ms=1", _sleep),
    "/count": ("/count/1", _count),
    "/fast": ("/fast/1", _fast),
    "/slow": ("/slow/1", _slow),
    "/fibs": ("/fibs/1", _fibs),
    "/pair": ("/pair/1/1", _pair),
    "/alloc/buffers": ("/alloc/buffers", _buffers),
    "/alloc/strings": ("/alloc/strings", _strings),
    "/spawn": ("/spawn/1", _spawn),
    "/orders": ("/orders", _orders),
}
"""Each route with an example, and its check."""

TELLING = ("unknown path", "other methods")
"""What only a server that tells requests apart can be asked."""

MANNERS: dict[str, Callable[[_Asked], None]] = {
    "unknown path": _unknown_path,
    "other methods": _other_methods,
    "keep-alive": _keep_alive,
    "Connection: close": _close,
    "parallel requests": _parallel,
}

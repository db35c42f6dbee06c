"""verify finds a server that answers wrongly, fakes its work, or has what it says it lacks."""

import http.server
import threading
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from jostle import contestant
from jostle.contestant.checks import HELLO
from jostle.contestant.contract import PROTOCOL, ROUTES, CheckResult, verify
from jostle.plan.servers.contestant import ContestantFile

REASON = "for a reason"


class Server(http.server.BaseHTTPRequestHandler):
    """A part of the contract, kept by the letter; tests break it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    responses: ClassVar[dict[str, tuple[str, bytes]]] = {}
    post_status = 405
    closes_after = 10**9
    count_s = 3e-8
    lacks: ClassVar[dict[str, str]] = {}
    uses_database = False
    also: ClassVar[list[str]] = []
    shown: ClassVar[dict[str, list[str]] | None] = None
    pages: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        route, _, number = self.path[1:].partition("/")
        if self.path in self.responses:
            self.reply(200, *self.responses[self.path])
        elif self.path == "/orders" and self.pages:
            self.pages.append(self.pages.pop(0))
            self.reply(200, "text/html; charset=utf-8", self.pages[0].encode())
        elif self.path == "/orders" and self.uses_database:
            self.reply(503, "text/plain", b"no database")
        elif route == "count" and number.isdecimal() and int(number) <= 10**10:
            time.sleep(int(number) * self.count_s)
            self.reply(200, "text/plain", f"Hello, World {number}\n".encode())
        elif route == "count" and number:
            self.reply(400, "text/plain", b"N should be a whole number")
        else:
            self.reply(404, "text/plain; charset=utf-8", b"no such path")

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.reply(self.post_status, "text/plain", b"only GET and HEAD")

    do_PUT = do_DELETE = do_OPTIONS = do_POST  # noqa: N815

    def reply(self, status: int, kind: str, body: bytes) -> None:
        self.answered = getattr(self, "answered", 0) + 1
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.answered >= self.closes_after:
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class Listener(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that has seen enough closes early."""


@pytest.fixture
def handler() -> type[Server]:
    """A server of one's own to break."""

    class Own(Server):
        responses: ClassVar[dict[str, tuple[str, bytes]]] = {"/hello": ("text/plain; charset=utf-8", HELLO)}

    return Own


@pytest.fixture
def checks(handler: type[Server]) -> Iterator[Any]:
    """Verifies the server; all but /, /hello, /count and what is `claimed` is declared absent."""
    with Listener(("127.0.0.1", 0), handler) as listener:
        threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True).start()

        def run(*claimed: str, part: str | None = None) -> dict[str, CheckResult]:
            absent = {route: REASON for route in ROUTES if route not in ("/hello", "/count", *claimed)}
            absent.pop("/", None)
            absent.update(handler.lacks)
            server = contestant.Server("mine", "127.0.0.1", listener.server_port, None)
            file = ContestantFile(
                command=["x"], absent=absent, database=handler.uses_database, also=handler.also
            )
            return {
                check.part: check
                for check in verify(server, file, pages=handler.shown, parts=part and [part])
            }

        yield run
        listener.shutdown()


def test_a_server_that_keeps_the_contract(handler: type[Server], checks: Any) -> None:
    handler.responses["/"] = (
        "application/json",
        b'{"name": "mine", "version": "1", "runtime": "CPython", "workers": 1}',
    )
    found = checks()
    assert list(found) == [*ROUTES, *PROTOCOL]
    assert [check for check in found.values() if not check.ok] == []
    assert found["/fast"].message == f"absent: {REASON}"


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("text/html", HELLO, "GET /hello: content type: 'text/html' instead of 'text/plain'"),
        ("text/plain", HELLO[:-1], "(1023 long)"),
        ("text/plain", b"", "GET /hello: body: b''"),
    ],
)
def test_a_wrong_response(handler: type[Server], checks: Any, kind: str, body: bytes, told: str) -> None:
    handler.responses["/hello"] = (kind, body)
    assert told in checks(part="/hello")["/hello"].message


def test_work_that_is_not_done(handler: type[Server], checks: Any) -> None:
    handler.count_s = 0
    assert checks(part="/count")["/count"] == CheckResult(
        "/count", False, "they take no time: nothing is computed"
    )


def test_work_that_takes_a_fixed_time(handler: type[Server], checks: Any) -> None:
    class Fixed(float):
        def __rmul__(self, other: Any) -> float:
            return 0.02 if other >= 10**4 else 0.0

    handler.count_s = Fixed()
    found = checks(part="/count")["/count"]
    assert not found.ok
    assert "times as long as" in found.message


def test_a_route_that_is_there_though_declared_absent(handler: type[Server], checks: Any) -> None:
    handler.responses["/fast/1"] = ("text/plain", b"1")
    assert checks(part="/fast")["/fast"] == CheckResult(
        "/fast", False, "GET /fast/1: status: 200 instead of 404"
    )


def test_a_route_that_is_not_there(checks: Any) -> None:
    assert checks("/fibs", part="/fibs")["/fibs"].message == "GET /fibs/0: status: 404 instead of 200"


def test_a_root_that_does_not_say_who_it_is(handler: type[Server], checks: Any) -> None:
    handler.responses["/"] = ("application/json", b'{"name": "mine"}')
    assert "should give name, version, runtime and workers" in checks(part="/")["/"].message
    handler.responses["/"] = ("application/json", b"<html>")
    assert "not JSON" in checks(part="/")["/"].message


EVENTS = {"/events?n=0": 0, "/events?n=2": 2, "/events?n=2&gap=500": 2}
EVENTS |= {"/events?n=3&gap=0": 3, "/events?n=3&gap=100": 3}


def streams(handler: type[Server], *, held_back: bool) -> None:
    """Makes it answer /events: each event on its schedule, or all of them at the end."""
    plain = handler.do_GET

    def get(self: Server) -> None:
        if not self.path.startswith("/events"):
            plain(self)
        elif self.path not in EVENTS:
            self.reply(400, "text/plain", b"a number is needed here")
        else:
            gap_s = float(self.path.partition("gap=")[2] or 50) / 1000
            events = [b"data: %d\n\n" % number for number in range(1, EVENTS[self.path] + 1)]
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(sum(map(len, events))))
            self.end_headers()
            if self.command == "HEAD":
                return
            for number, event in enumerate(events):
                time.sleep(gap_s if number else 0)
                if not held_back:
                    self.wfile.write(event)
            if held_back:
                self.wfile.write(b"".join(events))

    handler.do_GET = handler.do_HEAD = get  # type: ignore[method-assign]


def test_a_route_beyond_the_others_is_asked_for_where_it_is_claimed(
    handler: type[Server], checks: Any
) -> None:
    assert "/events" not in checks(part="/events")
    handler.also = ["/events"]
    assert "404 instead of 200" in checks(part="/events")["/events"].message
    streams(handler, held_back=False)
    assert checks(part="/events")["/events"] == CheckResult("/events", True)


def test_events_that_are_held_back_until_the_end(handler: type[Server], checks: Any) -> None:
    handler.also = ["/events"]
    streams(handler, held_back=True)
    found = checks(part="/events")["/events"]
    assert found.message == "GET /events?n=2&gap=500: what is ready is held back until the end"


def test_other_methods(handler: type[Server], checks: Any) -> None:
    handler.post_status = 200
    assert checks(part="other methods")["other methods"].message == "POST /hello: status: 200 instead of 405"


def test_a_connection_that_is_not_kept(handler: type[Server], checks: Any) -> None:
    handler.closes_after = 100
    found = checks(part="keep-alive")["keep-alive"]
    assert not found.ok
    assert found.message.startswith("no response: ")


def test_protocol_parts_may_be_declared_absent_but_not_when_they_are_there(
    handler: type[Server], checks: Any
) -> None:
    handler.lacks = {"keep-alive": REASON}
    assert "it is there" in checks(part="keep-alive")["keep-alive"].message
    handler.closes_after = 1
    assert checks(part="keep-alive")["keep-alive"] == CheckResult("keep-alive", True, f"absent: {REASON}")


def page(name: str, *items: str) -> str:
    return f"<h1>{name}</h1><ol>{''.join(f'<li>{item}</li>' for item in items)}</ol>"


ADA, BOB = (
    page("Ada &amp; Sons", "2012-01-01: tea", "2013-01-01: &lt;pot&gt;"),
    page("Bob", "2011-02-03: map"),
)
SHOWN = {
    "Ada & Sons": ["2012-01-01: tea", "2013-01-01: <pot>"],
    "Bob": ["2011-02-03: map"],
}


def test_orders_without_a_database_are_refused(handler: type[Server], checks: Any) -> None:
    handler.uses_database = True
    assert checks("/orders", part="/orders")["/orders"].ok
    handler.pages = [ADA]
    assert checks("/orders", part="/orders")["/orders"].message == "GET /orders: status: 200 instead of 503"


@pytest.mark.parametrize(
    ("pages", "told"),
    [
        ([ADA, BOB], ""),
        ([BOB], "the same customer 8 times: 'Bob'"),
        ([BOB, page("Cid", "2011-02-03: map")], "there is no customer 'Cid'"),
        ([BOB, page("Ada &amp; Sons", "2012-01-01: tea")], "the orders of Ada & Sons"),
        ([BOB, page("Ada &amp; Sons", "2013-01-01: &lt;pot&gt;", "2012-01-01: tea")], "not sorted by date"),
        ([BOB, "<p>nothing</p>"], "should show the customer's name"),
    ],
)
def test_orders_are_those_of_the_database(
    handler: type[Server], checks: Any, pages: list[str], told: str
) -> None:
    handler.uses_database, handler.pages = True, list(pages)
    handler.shown = SHOWN
    found = checks("/orders", part="/orders")["/orders"]
    assert found.ok == (not told)
    assert told in found.message


def test_a_server_that_is_gone() -> None:
    server = contestant.Server("mine", "127.0.0.1", 1, None)
    found = verify(server, ContestantFile(command=["x"]))
    assert not any(check.ok for check in found)
    assert "no response: ConnectionRefusedError" in found[0].message

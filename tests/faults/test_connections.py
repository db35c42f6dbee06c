"""Limits of connections and of rates, and what connections do to responses: there, as the truth says."""

import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from faults.client import Client, all_at_once, stats
from faults.hall import APPLICATIONS, started
from jostle.contestant.http2 import Http2Client
from jostle.host import ports

NEARLY = 0.9
REQUEST = b"GET %s HTTP/1.1\r\nHost: here\r\n\r\n"


def opened(port: int) -> float:
    """Seconds until a connection is open and its first response is there."""
    began = time.monotonic()
    with socket.create_connection((ports.HOST, port), 30) as connection:
        connection.sendall(REQUEST % b"/hello")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
    return time.monotonic() - began


def test_whose_connection_finds_no_room_waits_for_a_second() -> None:
    """The kernel asks again after 1 s."""
    with started(APPLICATIONS["accept-backlog"]) as running, ThreadPoolExecutor(24) as pool:
        took = sorted(pool.map(opened, [running.port] * 24))
    assert took[-1] >= NEARLY * 1.0
    assert took[0] < took[-1] - 0.5, "the first ones are taken at once"


def test_on_a_connection_that_is_open_nobody_waits_for_a_second() -> None:
    with started(APPLICATIONS["accept-backlog"]) as running:
        before = stats(running)["accepted"]
        client = Client(running.port)
        assert min(client.get("/hello").seconds for _ in range(20)) < 0.5
        assert stats(running)["accepted"] == before + 2, "one for this client, one to ask for it"
        client.close()


def test_who_asks_too_often_is_refused() -> None:
    with started(APPLICATIONS["rate-limit"]) as running:
        began = time.monotonic()
        responses = all_at_once(running.port, ["/hello"] * 60)
        allowed = 11 + 20 * (time.monotonic() - began)
        assert stats(running)["passed"] == sum(response.status == 200 for response in responses)
    statuses = [response.status for response in responses]
    assert statuses.count(429) == 60 - statuses.count(200) > 0
    assert 10 <= statuses.count(200) <= allowed + 1


def test_the_thousandth_request_of_a_connection_is_its_last() -> None:
    with (
        started(APPLICATIONS["keep-alive-limit"]) as running,
        socket.create_connection((ports.HOST, running.port), 30) as connection,
        connection.makefile("rb") as received,
    ):
        for place in range(1, 1001):
            connection.sendall(REQUEST % b"/hello")
            head = b"".join(iter(received.readline, b"\r\n")).lower()
            received.read(int(re.search(rb"content-length: (\d+)", head)[1]))  # type: ignore[index]
            assert (b"connection: close" in head) == (place == 1000)
        assert received.read() == b""


def test_who_comes_after_a_while_waits_for_the_instance() -> None:
    with started(APPLICATIONS["slow-after-idle"]) as running:
        client = Client(running.port)
        client.get("/hello")
        before = stats(running)["woken"]
        time.sleep(1.6)
        assert client.get("/hello").seconds >= NEARLY * 0.250
        assert stats(running)["woken"] == before + 1
        assert min(client.get("/hello").seconds for _ in range(20)) < 0.250
        client.close()


def test_images_of_one_connection_are_made_one_after_another() -> None:
    with started(APPLICATIONS["http2-head-of-line"]) as running:
        with Http2Client(ports.HOST, running.port, 30.0) as client:
            began = time.monotonic()
            left = {client.request("/image") for _ in range(6)}
            while left:
                part = client.receive()
                if part.end:
                    left.remove(part.stream)
            assert time.monotonic() - began >= NEARLY * 6 * 0.040
        one = stats(running)
        assert one["together"] > 1, "they were asked for together"
        assert one["most"] == 1, "and made one at a time"
        all_at_once(running.port, ["/image"] * 12)
        assert stats(running)["most"] > 1, "those of several connections are made together"


def test_a_body_waits_for_the_acknowledgement_of_its_head() -> None:
    """Not on a new connection, whose first packets are acknowledged at once."""
    late = []
    with (
        started(APPLICATIONS["nagle"]) as running,
        socket.create_connection((ports.HOST, running.port), 30) as connection,
        connection.makefile("rb") as received,
    ):
        for _ in range(40):
            connection.sendall(REQUEST % b"/price")
            while received.readline() != b"\r\n":
                pass
            began = time.monotonic()
            assert received.read(6) == b"12.50\n"
            late.append(time.monotonic() - began >= 0.030)
    assert sum(late[-20:]) >= 10


def test_each_session_stays_in_memory() -> None:
    def resident(pid: int | None) -> int:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024  # type: ignore[index]

    with started(APPLICATIONS["memory-growth"]) as running:
        client = Client(running.port)
        for _ in range(20):
            client.get("/session")
        before = resident(running.server.pid)
        for _ in range(600):
            client.get("/session")
        client.close()
        assert stats(running)["sessions"] == 620
        assert resident(running.server.pid) - before >= NEARLY * 600 * 65536

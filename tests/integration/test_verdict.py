"""What a real server does badly stands in the first lines, and is no reason to doubt the measurement."""

import contextlib
import itertools
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.handlers import Handler, serving
from support.real import Jostle, as_json

FIRST_LINES = 8
"""The verdict, three reasons and what to do about each."""


def failing(every: int, status: int = 503) -> type[Handler]:
    """A server that answers one of so many requests with another status."""

    class Server(Handler):
        asked = itertools.count(1)

        def do_GET(self) -> None:
            self.response(status if next(self.asked) % every == 0 else 200, "hello")

    return Server


def head(done: subprocess.CompletedProcess[str]) -> str:
    """The first lines, as one text."""
    return " ".join(" ".join(done.stdout.splitlines()[:FIRST_LINES]).split())


def checks(result: Any) -> dict[str, Any]:
    (trial,) = result["trials"]
    return {check["name"]: check for check in trial["validity"]["checks"]}


@pytest.mark.parametrize(("every", "share"), [(2000, "0.05 %"), (20, "5 %"), (2, "50 %")])
def test_503s_are_a_result_with_their_share(jostle_command: Jostle, every: int, share: str) -> None:
    with serving(failing(every)) as url:
        done = jostle_command("hit", url, "-c", "2", "-n", "4000")
    assert done.returncode == 0
    assert "invalid" not in done.stdout
    assert f"{share} failed: {4000 // every:,} × 503" in head(done)


def test_a_quantile_that_lies_among_failures_fails_its_requirement(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    with serving(failing(20)) as url:
        plan = plan_of(tmp_path, url, "p99 < 10 s", "p50 < 10 s", "errors < 1 %")
        done = jostle_command("run", plan, "--json", "--no-pages")
    decided = {one["that"]: one["verdict"] for one in as_json(done)["requirements"]}
    assert decided["p99 < 10 s"] == decided["errors < 1 %"] == "fail"
    assert decided["p50 < 10 s"] != "fail"
    assert done.returncode == 1


def plan_of(
    tmp_path: Path, url: str, *that: str, more: str = "", load: str = "clients = 2, requests = 1000"
) -> Path:
    requirements = "".join(f'[[require]]\nthat = "{one}"\n' for one in that)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""title = "Is it right?"
contestants = ["mine"]
rounds = 1
{more}
[contestant.mine]
url = "{url}"
[workload.w]
request = {{ get = "/" }}
load = {{ {load} }}
{requirements}"""
    )
    return plan


def test_all_wrong_is_invalid(jostle_command: Jostle) -> None:
    with serving(failing(1)) as url:
        done = jostle_command("hit", url, "-c", "2", "-n", "500")
    assert done.returncode == 3
    assert done.stdout.startswith("✗ invalid")
    assert "none of 500 requests was answered as expected" in head(done)
    assert "500 × 503" in head(done)


def test_the_plan_says_what_is_invalid(jostle_command: Jostle, tmp_path: Path) -> None:
    with serving(failing(20)) as url:
        plans = (
            plan_of(tmp_path, url, more=f'invalid-if = ["errors > {limit}"]') for limit in ("1 %", "10 %")
        )
        strict, lax = (as_json(jostle_command("run", plan, "--json", "--no-pages")) for plan in plans)
    assert (strict["verdict"], checks(strict)["invalid-if"]["message"]) == (
        "invalid",
        "errors are 5 %, and the plan calls a trial invalid if errors > 1 %",
    )
    assert "invalid-if" not in checks(lax)
    assert lax["verdict"] != "invalid"


SERVER = """
import http.server, os, sys, threading
LIFE_S = float(sys.argv[2])
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    ends = None
    def do_GET(self):
        if LIFE_S and Handler.ends is None:
            Handler.ends = threading.Timer(LIFE_S, os._exit, [1])
            Handler.ends.start()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *args): pass
http.server.ThreadingHTTPServer.daemon_threads = True
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
"""Ends so many seconds after its first request; never with 0."""


class Mortal:
    """A server in a process of its own that ends under load, and may be started again on its port."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.start(1.5)

    def start(self, life_s: float) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", SERVER, str(self.port), str(life_s)])
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            time.sleep(0.02)

    def restart(self) -> None:
        """Once it has ended."""
        self.process.wait()
        time.sleep(1)
        self.start(0)


@pytest.fixture
def mortal() -> Iterator[Mortal]:
    server = Mortal()
    yield server
    server.process.kill()
    server.process.wait()


def test_a_server_that_dies_is_told_in_the_first_sentence(
    jostle_command: Jostle, mortal: Mortal, tmp_path: Path
) -> None:
    plan = plan_of(
        tmp_path,
        f"http://127.0.0.1:{mortal.port}",
        "errors < 1 %",
        "p99 < 10 s",
        "unavailable < 5 %",
        load='clients = 4, for = "5s"',
    )
    done = jostle_command("run", plan, "--no-pages", "--into", "runs")
    assert done.stdout.startswith("? suspect")
    assert "no response from " in head(done)
    assert "to the end (" in head(done)
    assert "/s while it answered" in head(done)
    assert done.returncode == 1
    (run,) = (tmp_path / "runs").iterdir()
    result = as_json(jostle_command("report", run, "--format", "json"))
    assert 0.3 < result["trials"][0]["unavailable"] < 0.9
    assert result["trials"][0]["error_share"] < 0.2  # clients of a closed loop wait
    assert {one["that"]: one["verdict"] for one in result["requirements"]} == {
        "errors < 1 %": "fail",
        "p99 < 10 s": "fail",
        "unavailable < 5 %": "fail",
    }


def test_a_server_that_restarts_is_told_with_its_times(jostle_command: Jostle, mortal: Mortal) -> None:
    restarting = threading.Thread(target=mortal.restart)
    restarting.start()
    done = jostle_command("hit", f"http://127.0.0.1:{mortal.port}/", "-c", "4", "-d", "6s")
    restarting.join()
    assert done.returncode == 0
    assert done.stdout.startswith("? suspect")
    assert "no response from " in head(done)
    assert "to the end" not in head(done)


def test_a_warm_up_is_told_with_what_is_left_without_it(jostle_command: Jostle) -> None:
    class Server(Handler):
        first: float | None = None

        def do_GET(self) -> None:
            if Server.first is None:
                Server.first = time.monotonic()
            time.sleep(0.06 if time.monotonic() - Server.first < 2 else 0.01)
            self.response(200)

    with serving(Server) as url:
        done = jostle_command("hit", url, "-c", "4", "-d", "6s")
        lines = head(done)
        assert "warm-up: the first " in lines
        assert " times slower, without them " in lines
        assert "--warm-up " in lines
        after = jostle_command("hit", url, "-c", "4", "-d", "6s")
    assert "warm-up: " not in after.stdout


def test_a_login_that_redirects_after_a_while_is_told(jostle_command: Jostle) -> None:
    class Server(Handler):
        first: float | None = None

        def do_GET(self) -> None:
            if Server.first is None:
                Server.first = time.monotonic()
            away = time.monotonic() - Server.first > 2
            self.response(302 if away else 200, headers={"Location": "/login"} if away else None)

    with serving(Server) as url:
        done = jostle_command("hit", url, "-c", "4", "-d", "4s")
    assert "the statuses of the right responses changed: 200 until" in head(done)
    assert "302" in head(done)
    assert " × 200" in done.stdout
    assert " × 302" in done.stdout


def test_more_clients_than_are_answered_in_time_are_not_valid(jostle_command: Jostle) -> None:
    class Server(Handler):
        one_at_a_time = threading.Lock()

        def do_GET(self) -> None:
            with self.one_at_a_time:
                time.sleep(0.02)
            self.response(200)

    with serving(Server) as url:
        done = jostle_command("hit", url, "-c", "200", "-d", "1s")
    assert not done.stdout.startswith("✓")
    assert "of the requests were neither answered nor failed when the trial ended" in head(done)

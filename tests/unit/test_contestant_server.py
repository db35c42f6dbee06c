"""A server's life: ready, watched, ended; and every way in which a start can go wrong."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jostle.contestant import Contestant, Server, find
from jostle.errors import StartFailed, UnreachableTarget
from jostle.host import ports
from jostle.host.procfs import with_environment
from jostle.plan.servers.contestant import ContestantFile

SERVER = """
import http.server, json, os, signal, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        facts = {"name": "mine", "version": "1", "uid": os.getuid(), "cwd": os.getcwd(),
                 "environ": dict(os.environ), "cores": sorted(os.sched_getaffinity(0))}
        body = json.dumps(facts).encode()
        self.send_response(int(STATUS))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass

STATUS = 200
port, behaviour = int(sys.argv[1]), sys.argv[2]
exec(behaviour)
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The server's folder, and beside it the cache; an unprivileged user can get at both."""
    with TemporaryDirectory(prefix="jostle-test-") as name:
        base = Path(name)
        base.chmod(0o755)
        monkeypatch.setenv("JOSTLE_CACHE", str(base / "cache"))
        (base / "server").mkdir()
        (base / "server" / "server.py").write_text(SERVER)
        yield base / "server"
        assert left(base) == []


def left(base: Path) -> list[Path]:
    """Folders of servers that run, or that were not tidied up."""
    running = base / "cache" / "running"
    return list(running.iterdir()) if running.is_dir() else []


def mine(folder: Path, behaviour: str = "", **table: object) -> Contestant:
    python = {"command": "python3", "paths": ["/usr/bin/python3"], "version": ["{command}", "--version"]}
    full = {
        "folder": str(folder),
        "command": ["{python3}", "server.py", "{port}", behaviour],
        "needs": [python],
        **table,
    }
    return find("mine", {"mine": ContestantFile.of(full, "contestant.mine")})


def refused(contestant: Contestant, **how: int) -> str:
    with pytest.raises(StartFailed) as caught:
        contestant.start(**how)  # type: ignore[arg-type]
    return str(caught.value)


def marked(server: Server) -> list[int]:
    assert server.process is not None
    return with_environment(server.process.task.env["TMPDIR"])


def test_from_start_to_stop(folder: Path) -> None:
    core = min(os.sched_getaffinity(0))
    contestant = mine(folder)
    with contestant.start(cores=[core]) as server:
        assert server.alive()
        assert server.pid in marked(server)
        assert server.response["cores"] == [core]
        assert server.response["cwd"] == str(folder)
        assert {"PATH", "HOME", "LANG", "TMPDIR"} >= server.response["environ"].keys() - {"LC_CTYPE"}
        if os.geteuid() == 0:
            assert server.response["uid"] == 65534
        told = contestant.describe(server)
        assert told["label"] == "mine"
        assert told["command"][2] == str(server.port)
        assert told["needs"]["python3"].startswith("Python 3")
    assert not server.alive()
    assert marked(server) == []
    server.stop()  # once more does nothing


def test_its_children_in_their_own_sessions_are_ended_too(folder: Path) -> None:
    fork = "\nfor _ in range(3):\n    if os.fork() == 0: os.setsid(); os.fork(); time.sleep(1000)"
    with mine(folder, fork).start() as server:
        assert len(marked(server)) == 7
    assert marked(server) == []


def test_one_that_dies_at_start_is_told_with_its_own_words(folder: Path) -> None:
    told = refused(mine(folder, 'print("no configuration"); sys.exit(3)'))
    assert told == "mine ended with exit code 3 before it was ready; its last output:\n│ no configuration"


def test_one_that_is_killed_at_start(folder: Path) -> None:
    told = refused(mine(folder, "os.abort()"))
    assert told.startswith("mine was ended by SIGABRT before it was ready")


def test_one_that_goes_into_the_background(folder: Path) -> None:
    told = refused(mine(folder, "\nif os.fork() > 0: os._exit(0)\nos.setsid()"))
    assert "ended with exit code 0 before it was ready and left 1 processes running" in told
    assert "must stay in the foreground" in told


DAEMON = """
for _ in range(2):
    if os.fork() > 0: os._exit(0)
    os.setsid()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for fd in range(3): os.close(fd)
"""


def test_a_daemon_that_hides_twice_is_found_and_ended(folder: Path) -> None:
    before = set(with_environment_of(folder))
    told = refused(mine(folder, DAEMON))
    assert "ended with exit code 0 before it was ready and left" in told
    assert set(with_environment_of(folder)) == before


def with_environment_of(folder: Path) -> list[int]:
    """Processes whose temporary folder lies in this test's cache."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"TMPDIR={folder.parent}".encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
    return found


@pytest.mark.parametrize(
    "behaviour",
    [
        "os.close(1); os.close(2)",
        "time.sleep(0.3)",
        "import threading; threading.Thread(target=lambda: [print('x' * 999) for _ in iter(int, 1)]).start()",
    ],
    ids=["closes its output", "listens late", "prints without end"],
)
def test_one_with_odd_ways_serves_and_is_ended(folder: Path, behaviour: str) -> None:
    with mine(folder, behaviour).start() as server:
        assert server.alive()
        assert server.process is not None
        kept = server.process.task.output
    assert marked(server) == []
    assert not kept.exists() or kept.stat().st_size < 1 << 20
    assert len(server.printed()) < 10_000


def test_one_that_is_never_ready(folder: Path) -> None:
    contestant = mine(folder, 'print("still warming up", flush=True); STATUS = 503', ready={"timeout": "1s"})
    told = refused(contestant)
    assert "mine was not ready within 1" in told
    assert re.search(r"the last one: GET / on port \d+: status 503", told)
    assert "name a route that answers 200" in told
    assert "still warming up" in told


def test_one_that_is_asked_in_http2_and_does_not_speak_it(folder: Path) -> None:
    told = refused(mine(folder, speaks=["gRPC"], ready={"timeout": "1s"}))
    assert re.search(r"the last one: HTTP/2 on port \d+: the connection was closed", told)


def test_one_that_listens_elsewhere(folder: Path) -> None:
    told = refused(mine(folder, "port = 0", ready={"timeout": "1s"}))
    assert "connection refused; it printed nothing" in told


def answering(body: bytes) -> str:
    """Behaviour of a server that answers every request with `body`."""
    return (
        "\nbody = " + repr(body) + "\n"
        "def do_GET(self):\n"
        "    self.send_response(200)\n"
        "    self.send_header('Content-Length', str(len(body)))\n"
        "    self.end_headers()\n"
        "    self.wfile.write(body)\n"
        "Handler.do_GET = do_GET"
    )


@pytest.mark.parametrize("body", [b"[" * 60_000, b"{", b"\xff\xfe", b"[1]", b'"text"'])
def test_a_response_that_is_no_json_object_says_nothing_of_it(folder: Path, body: bytes) -> None:
    contestant = mine(folder, answering(body))
    with contestant.start() as server:
        assert server.response == {}
        assert contestant.describe(server)["version"] == ""


def test_what_a_server_tells_of_itself_can_be_recorded(folder: Path) -> None:
    """A lone surrogate is valid JSON, and no valid Unicode; a version may be of any length."""
    contestant = mine(folder, answering(rb'{"version": "1.\ud800", "runtime": "' + b"x" * 10_000 + b'"}'))
    with contestant.start() as server:
        described = contestant.describe(server)
    assert described["version"] == "1.?"
    assert described["runtime"] == "x" * 200
    json.dumps(described, ensure_ascii=False).encode()


def test_a_line_of_its_output_is_no_order_to_a_ci_runner(folder: Path) -> None:
    told = refused(mine(folder, 'print("::stop-commands::x"); sys.exit(1)'))
    assert not [line for line in told.splitlines() if line.lstrip().startswith("::")]


def test_a_command_that_is_not_there(folder: Path) -> None:
    assert "`./no-such-server 1` could not be run: No such file" in refused(
        mine(folder, command="./no-such-server 1")
    )


def test_a_core_that_is_not_there(folder: Path) -> None:
    with pytest.raises(StartFailed, match="could not be run: Invalid argument"):
        mine(folder).start(cores=[1000])


def test_a_port_that_is_taken_is_told_with_who_has_it(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused(mine(folder), port=port)
        assert f"port {port} on 127.0.0.1 is taken by " in told
        assert f"(pid {os.getpid()})" in told


def test_whether_a_server_may_be_on_a_core_is_seen_by_who_listens() -> None:
    mine, nobodys = os.sched_getaffinity(0), {4095}
    with socket.create_server(("127.0.0.1", 0)) as listening:
        place = f"127.0.0.1:{listening.getsockname()[1]}"
        assert ports.may_be_on(mine, [place])
        assert not ports.may_be_on(nobodys, [place])
        with subprocess.Popen(["sleep", "60"], pass_fds=[listening.fileno()]) as heir:
            listening.close()
            assert ports.may_be_on(mine, [place])
            heir.kill()
    assert not ports.may_be_on(mine, [place])
    assert ports.may_be_on(nobodys, ["unix:/run/one.sock"])
    assert not ports.may_be_on(mine, [])


def test_servers_of_datagrams_are_seen_as_well() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{bound.getsockname()[1]}"
        assert ports.may_be_on(os.sched_getaffinity(0), [place])
        assert not ports.may_be_on({4095}, [place])


def test_somebody_else_who_answers_is_not_taken_for_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process gets the port between our look at it and the server's start."""
    port = free_port()
    with subprocess.Popen([sys.executable, "-c", SERVER, str(port), ""]) as other:
        try:
            wait_for(port)
            monkeypatch.setattr("jostle.host.ports.claim", lambda *_: port)
            assert f"something else answers on port {port}" in refused(mine(folder, "time.sleep(1000)"))
        finally:
            other.kill()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(1000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        subprocess.run(["sleep", "0.01"], check=True)


def test_one_that_dies_in_the_middle(folder: Path) -> None:
    die = 'Handler.do_HEAD = lambda self: (print("out of luck", flush=True), os._exit(9))'
    with mine(folder, die).start() as server:
        assert server.alive()
        with socket.create_connection((server.host, server.port)) as connection:
            connection.sendall(b"HEAD / HTTP/1.1\r\n\r\n")
            connection.recv(1)
        assert server.process is not None
        server.process.wait()
        assert not server.alive()
        assert str(server.exit) == "ended with exit code 9"
        assert server.last_lines() == "out of luck"


def test_what_it_prints_goes_where_it_is_wanted(folder: Path, tmp_path: Path) -> None:
    with mine(folder, r'print("\x1b[31mred", flush=True)').start(output=tmp_path / "out") as server:
        assert server.last_lines() == "\N{REPLACEMENT CHARACTER}[31mred"
    assert (tmp_path / "out").read_text() == "\x1b[31mred\n"


def test_a_server_that_runs_already_is_left_running() -> None:
    port = free_port()
    with subprocess.Popen([sys.executable, "-c", SERVER, str(port), ""]) as process:
        try:
            wait_for(port)
            table = ContestantFile.of(
                {"url": f"http://127.0.0.1:{port}", "pid": process.pid}, "contestant.mine"
            )
            with find("mine", {"mine": table}).start() as server:
                assert (server.pid, server.url, server.last_lines()) == (
                    process.pid,
                    f"http://127.0.0.1:{port}",
                    "",
                )
            assert server.alive()
            assert process.poll() is None
        finally:
            process.kill()


def test_a_server_that_should_run_already_but_does_not() -> None:
    table = ContestantFile.of({"url": f"http://127.0.0.1:{free_port()}"}, "contestant.mine")
    with pytest.raises(UnreachableTarget, match=r"cannot connect to .*: connection refused"):
        find("mine", {"mine": table}).start()


def test_a_server_that_runs_already_is_tried_where_clients_will_connect(tmp_path: Path) -> None:
    table = ContestantFile.of({"url": "http://no-such-host.invalid/"}, "contestant.mine")
    path = tmp_path / "app.sock"
    with socket.socket(socket.AF_UNIX) as there, socket.create_server(("127.0.0.1", 0)) as too:
        there.bind(str(path))
        there.listen()
        places = [f"unix:{path}", f"127.0.0.1:{too.getsockname()[1]}"]
        assert find("mine", {"mine": table}).start(connect_to=places).pid is None
    with pytest.raises(UnreachableTarget, match=r"cannot connect to unix:.*: connection refused"):
        find("mine", {"mine": table}).start(connect_to=places)

"""Every contestant of the roster: built, started, verified on every route, stopped; nothing of it stays.

A contestant whose runtime is missing fails here: CI has them all. Each is started twice: with a database for
the whole contract, and without one for what is refused then and for a stop in the middle of work.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jostle import database, roster
from jostle.contestant import Server, contract, find
from jostle.contestant.checks import HELLO, TEXT, Answers, AnswersJson, Refuses, Target
from jostle.contestant.contract import CheckResult, verify
from jostle.database import Database
from jostle.errors import StartFailed
from jostle.host.procfs import with_environment
from jostle.host.resource_usage import Sampler
from support.real import as_json, command
from support.waiting import eventually

JOSTLE = """
import sys, time
from jostle.contestant import find
server = find(sys.argv[1]).start()
print(server.process.task.scratch.folder, *server.process.tree(), flush=True)
time.sleep(1000)
"""

CLIENT = """
import sys, grpc
from echo_pb2 import Schedule, Words
from echo_pb2_grpc import EchoStub
with grpc.insecure_channel(sys.argv[1]) as channel:
    echo = EchoStub(channel)
    words = echo.Say(Words(text="hällo", number=7))
    print(words.text, words.number)
    print(*(words.number for words in echo.Count(Schedule(n=3, gap_ms=1))))
    print(*(words.text for words in echo.Talk(iter([Words(text="one"), Words(text="two")]))))
    try:
        list(echo.Count(Schedule(n=-1)))
    except grpc.RpcError as error:
        print(error.code().name)
"""

CALLS = {
    "Say": ["--message", '{"text": "hällo"}', "--expect", '"text":"hällo"'],
    "Count": ["--message", '{"n": 5, "gap_ms": 1}', "--stream-events", "5"],
    "Talk": ["--message", '[{"number": 1}, {"number": 2}]', "--every", "1ms"],
}
"""Methods of echo.proto, with what `jostle hit` is told for each."""

BUSY = 30
"""Requests that compute at the same time: more than the workers and threads of any contestant by default that
serve one request each, but the Java thread pools.
"""
LONG = 12_000
"""Requests on a connection: several servers limit frames or requests by default."""
COMPUTING_S = 0.2
"""CPU time that shows that a server is at it."""

FILES = {name: roster.load(name)[0] for name in roster.names()}

HTTP2 = [name for name in FILES if "HTTP/2" in FILES[name].speaks and not name.startswith("reference-")]
GRPC = [name for name in FILES if "gRPC" in FILES[name].speaks]
ECHO = Path(roster.__file__).parent / "shared" / "grpc" / "echo.proto"


ALL_BUT_HTTP2 = [*contract.ROUTES, *contract.ALSO, *contract.PROTOCOL, *contract.METHODS]


def computes(name: str) -> bool:
    """Reference servers serve by the clock: their work takes time and no processor."""
    file = FILES[name]
    return file.takes_http1 and "/slow" not in file.absent and not name.startswith("reference-")


@pytest.fixture(scope="module")
def shop() -> Iterator[Database]:
    with database.start(database.Options(pool=5)) as started:
        yield started


@pytest.mark.parametrize("name", FILES)
def test_keeps_the_contract(name: str, shop: Database) -> None:
    contestant = find(name)
    assert [(tool.command, tool.install) for tool in contestant.missing()] == []
    with contestant.start(database=shop.placeholders()) as server:
        assert server.process is not None
        tmp = server.process.task.env["TMPDIR"]
        results = verify(server, contestant.file, pages=shop.pages(), stock=shop.stock(), parts=ALL_BUT_HTTP2)
        printed = server.last_lines()
        results += verify(server, contestant.file, parts=[contract.HTTP2])  # who does not speak it may say so
        if os.geteuid() == 0:
            assert {owner(pid) for pid in server.process.tree()} == {65534}
        assert server.alive()
        server.stop()
    assert [result for result in results if not result.ok] == []
    assert with_environment(tmp) == []
    assert not Path(tmp).exists()
    assert not server.process.killed, "it does not stop on SIGTERM within the grace time"
    assert re.sub(r"listening on 127\.0\.0\.1:\d+", "", printed) == "", "it prints what it was not asked for"


@pytest.mark.parametrize("name", [name for name in FILES if FILES[name].database or computes(name)])
def test_it_refuses_what_needs_a_database_without_one_and_stops_while_it_computes(name: str) -> None:
    contestant = find(name)
    with contestant.start() as server, contextlib.ExitStack() as clients:
        assert server.process is not None
        if contestant.file.database:
            refused = verify(server, contestant.file, parts=["/orders", "/shop"])
            assert [result for result in refused if not result.ok] == []
        if computes(name):
            idle_s = cpu_s(server)
            for _ in range(BUSY):
                client = clients.enter_context(socket.create_connection((server.host, server.port), 10))
                client.sendall(b"GET /slow/60 HTTP/1.1\r\nHost: x\r\n\r\n")
            eventually(lambda: cpu_s(server) > idle_s + COMPUTING_S)
        server.stop()
    assert not server.process.killed, "it does not stop on SIGTERM within the grace time"


@pytest.mark.parametrize("name", HTTP2)
def test_a_connection_of_http2_lasts(name: str) -> None:
    with find(name).start() as server:
        load = ["--http2-connections", "1", "-c", "20", "-n", str(LONG)]
        words = command("hit", f"{server.url}/hello", *load, "--json")
        result = as_json(subprocess.run(words, capture_output=True, text=True))
    assert result["trials"][0]["outcomes"] == {"ok": LONG}


@pytest.fixture(scope="session")
def grpcio(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    """A command that calls each method of the server at its argument, by Google's own client."""
    folder = tmp_path_factory.mktemp("grpcio")
    (folder / "client.py").write_text(CLIENT)
    python = find("python-grpc").build() / "venv" / "bin" / "python"  # type: ignore[operator]
    outputs = [f"--python_out={folder}", f"--grpc_python_out={folder}"]
    subprocess.run([python, "-m", "grpc_tools.protoc", f"-I{ECHO.parent}", *outputs, ECHO.name], check=True)
    return [python, folder / "client.py"]


@pytest.mark.parametrize("name", GRPC)
def test_every_method_is_called_by_another_client(name: str, grpcio: list[str | Path]) -> None:
    with find(name).start() as server:
        words = [*grpcio, f"{server.host}:{server.port}"]
        called = subprocess.run(words, capture_output=True, text=True)
    assert (called.stdout, called.stderr) == ("hällo 7\n1 2 3\none two\nINVALID_ARGUMENT\n", "")


@pytest.mark.parametrize("name", GRPC)
def test_every_method_is_called_by_jostle(name: str) -> None:
    with find(name).start() as server:
        for method, options in CALLS.items():
            url = f"grpc://{server.host}:{server.port}/roster.Echo/{method}"
            load = ["--http2-connections", "2", "-c", "20", "-n", "200", "--json"]
            words = command("hit", url, "--proto", ECHO, *options, *load)
            result = as_json(subprocess.run(words, capture_output=True, text=True))
            assert result["trials"][0]["outcomes"] == {"ok": 200}, method


@pytest.mark.parametrize("name", GRPC)
def test_no_file_is_needed_where_a_server_describes_itself(name: str) -> None:
    with find(name).start() as server:
        url = f"grpc://{server.host}:{server.port}/roster.Echo/Say"
        words = command(
            "hit", url, "--message", '{"text": "hällo"}', "--expect", "hällo", "-n", "20", "--json"
        )
        result = as_json(subprocess.run(words, capture_output=True, text=True))
    assert result["trials"][0]["outcomes"] == {"ok": 20}


@pytest.mark.parametrize(("label", "part"), [("erlang-mochiweb:smarter", "/count")])
def test_a_variant_that_does_a_route_in_another_way_keeps_the_contract(label: str, part: str) -> None:
    contestant = find(label)
    with contestant.start() as server:
        assert verify(server, contestant.file, parts=[part]) == [CheckResult(part, True)]


@pytest.mark.parametrize("name", [name for name in FILES if FILES[name].garbage])
def test_garbage_that_is_made_is_collected_and_told(name: str) -> None:
    contestant = find(name)
    with contestant.start() as server:
        before = server.ask(contestant.file.garbage)
        target = Target(server.host, server.port)

        def grown() -> bool:
            for _ in range(50):
                Answers("/alloc/strings", TEXT, HELLO)(target)
            after = server.ask(contestant.file.garbage)
            return after["collections"] > before["collections"] and after["seconds"] > before["seconds"]

        eventually(grown)


def test_a_jdk_that_ringo_does_not_know_is_refused() -> None:
    with pytest.raises(StartFailed, match="jdk is 17 or 25"):
        find("ringo:jdk=21").start()


@pytest.mark.parametrize(
    "label",
    [
        "ruby-puma:workers=1,threads=1",
        "python-gunicorn:workers=1",
        "php-fpm:workers=1",
        "rails-puma:workers=1,threads=1",
        "rails-unicorn:workers=1",
        "java-thread-pool:threads=1",
    ],
)
def test_a_server_of_one_request_at_a_time_does_not_wait_for_itself(label: str) -> None:
    with find(label).start() as server:
        target = Target(server.host, server.port)
        AnswersJson("/pair/1/1?where=local", {"a": 1, "b": 1})(target)
        Refuses(409, [f"/pair/1/1?where=remote&peer={server.url}&async={n}" for n in (0, 1)])(target)
        AnswersJson("/pair/1/1", {"a": 1, "b": 1})(target)


@pytest.mark.parametrize(
    "name",
    ["node-cluster", "go", "go:processes=3", "java-virtual-threads", "rails-puma", "reference-workers"],
)
def test_nothing_stays_after_kill_9_of_jostle(name: str) -> None:
    with subprocess.Popen([sys.executable, "-c", JOSTLE, name], stdout=subprocess.PIPE, text=True) as jostle:
        assert jostle.stdout is not None
        scratch, *started = jostle.stdout.readline().split()
        jostle.send_signal(signal.SIGKILL)
        jostle.wait()
    assert len(started) >= ({"node-cluster": 3, "go:processes=3": 4, "rails-puma": 5}.get(name, 1))
    places = [Path(scratch), *(Path(f"/proc/{pid}") for pid in started)]
    eventually(lambda: not any(place.exists() for place in places))


@pytest.mark.parametrize("name", ["go", "elixir-cowboy"])
def test_several_processes_listen_at_one_port_and_end_together(name: str) -> None:
    with find(f"{name}:processes=3").start() as server:
        eventually(lambda: listeners(server.port) == 3)
        assert verify(server, FILES[name], parts=["/hello"]) == [CheckResult("/hello", True)]
        assert server.process is not None
        os.kill(server.process.tree()[-1], signal.SIGKILL)
        eventually(lambda: listeners(server.port) == 0 and not server.alive())


def test_the_workers_of_a_cluster_are_watched() -> None:
    with find("node-cluster:workers=3").start() as server:
        assert server.answer["workers"] == 3
        assert server.pid is not None
        sample = Sampler(server.pid).sample(0)
        assert sample is not None
        assert sample.processes == 4


def listeners(port: int) -> int:
    """Sockets that listen there, as /proc/net/tcp tells them: state 0A."""
    sockets = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    return sum(state == "0A" and local.endswith(f":{port:04X}") for _, local, _, state, *_ in sockets)


def cpu_s(server: Server) -> float:
    assert server.pid is not None
    sample = Sampler(server.pid).sample(0)
    assert sample is not None
    return sample.cpu_user_s


def owner(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid

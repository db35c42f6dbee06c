"""The processes of contestants: who serves one request at a time, who has several, and what stays of them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jostle.contestant import find
from jostle.contestant.checks import CheckedServer, Refuses, ResponsesJson
from jostle.contestant.contract import CheckResult, verify
from jostle.host.resource_usage import Sampler
from support.contestants import FILES
from support.waiting import eventually

JOSTLE = """
import sys, time
from jostle.contestant import find
server = find(sys.argv[1]).start()
while len(server.process.tree()) < int(sys.argv[2]):  # a server may answer before it has started all of them
    time.sleep(0.01)
print(server.process.task.scratch.folder, *server.process.tree(), flush=True)
time.sleep(1000)
"""


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
        target = CheckedServer(server.host, server.port)
        ResponsesJson("/pair/1/1?where=local", {"a": 1, "b": 1})(target)
        Refuses(409, [f"/pair/1/1?where=remote&peer={server.url}&async={n}" for n in (0, 1)])(target)
        ResponsesJson("/pair/1/1", {"a": 1, "b": 1})(target)


@pytest.mark.parametrize(
    ("name", "processes"),
    [
        ("node-cluster", 3),
        ("go", 1),
        ("go:processes=3", 4),
        ("java-virtual-threads", 1),
        ("rails-puma", 5),
        ("reference-workers", 1),
    ],
)
def test_nothing_stays_after_kill_9_of_jostle(name: str, processes: int) -> None:
    command = [sys.executable, "-c", JOSTLE, name, str(processes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as jostle:
        assert jostle.stdout is not None
        scratch, *started = jostle.stdout.readline().split()
        jostle.send_signal(signal.SIGKILL)
        jostle.wait()
    assert len(started) >= processes
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
        assert server.response["workers"] == 3
        assert server.pid is not None
        sample = Sampler(server.pid).sample(0)
        assert sample is not None
        assert sample.processes == 4


def listeners(port: int) -> int:
    """Sockets that listen there, as /proc/net/tcp tells them: state 0A."""
    sockets = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    return sum(state == "0A" and local.endswith(f":{port:04X}") for _, local, _, state, *_ in sockets)

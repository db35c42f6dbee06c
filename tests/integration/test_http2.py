"""HTTP/2 through the command line: a server whose discipline is known, and servers that others wrote."""

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from support.handlers import certificate_in
from support.http2 import frame
from support.nginx import nginx
from support.real import Jostle, as_json, reference_server

NODE = """
const http2 = require("http2"), fs = require("fs");
const [folder] = process.argv.slice(1);
const pair = { key: fs.readFileSync(`${folder}/key.pem`), cert: fs.readFileSync(`${folder}/cert.pem`) };
const response = (stream, headers) => {
  const body = [];
  stream.on("error", () => {});
  stream.on("data", (piece) => body.push(piece));
  stream.on("end", () => {
    if (stream.destroyed) return; // its client has gone
    stream.respond({ ":status": 200, "set-cookie": "seen=1", "x-path": headers[":path"] });
    stream.end(`${headers[":method"]} ${Buffer.concat(body).length}`);
  });
};
const settings = { maxConcurrentStreams: 2 };
const servers = [http2.createServer({ settings }), http2.createSecureServer({ ...pair, allowHTTP1: false })];
const ports = servers.map((server) => new Promise((told) => {
  server.on("stream", response);
  server.listen(0, "127.0.0.1", () => told(server.address().port));
}));
Promise.all(ports).then((found) => console.log(found.join(" ")));
"""

LEAVES = """
  server {{
    listen unix:{folder}/socket ssl http2; keepalive_requests 40;
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    location / {{ return 200 "nginx says $http2"; }}
  }}
"""

FILES = """
  server {{
    listen unix:{folder}/socket http2; keepalive_requests 100000; root {folder}/root;
    location = /small {{ return 204; }}
  }}
"""
"""A response of a single frame keeps nobody waiting, however long this machine stalls."""

MIX = """
title = "One large response among small ones"
contestants = ["nginx"]
[contestant.nginx]
url = "http://127.0.0.1:{port}"
[workload.mix]
request = [
  {{ name = "big", get = "/big", weight = 1 }},
  {{ name = "small", get = "/small", weight = 50 }},
]
load = {{ clients = 8, think = "5ms", for = "2s" }}
connection = {{ http2 = {{ connections = 2 }} }}
"""

SLOWLY = 20e6
"""Bytes a second."""


@contextmanager
def narrow(target: Path) -> Iterator[int]:
    """A port from which all goes to a unix socket; of the responses, each connection has `SLOWLY`.

    What nginx has sent waits here in turn: the heads of responses overtake what is still with nginx.
    """
    listener = socket.create_server(("127.0.0.1", 0))

    def take(source: socket.socket, taken: "SimpleQueue[bytes]") -> None:
        with suppress(OSError):
            while piece := source.recv(65536):
                taken.put(piece)
        taken.put(b"")

    def forward(taken: "SimpleQueue[bytes]", sink: socket.socket, rate: float) -> None:
        with suppress(OSError):
            while piece := taken.get():
                sink.sendall(piece)
                time.sleep(len(piece) / rate)
            sink.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a body would wait 40 ms
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(target))
                for source, sink, rate in ((client, server, float("inf")), (server, client, SLOWLY)):
                    taken: SimpleQueue[bytes] = SimpleQueue()
                    threading.Thread(target=take, args=(source, taken), daemon=True).start()
                    threading.Thread(target=forward, args=(taken, sink, rate), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with key.pem and cert.pem."""
    folder = tmp_path_factory.mktemp("certificate")
    certificate_in(folder)
    return folder


@pytest.fixture(scope="module")
def node(certificate: Path) -> Iterator[tuple[str, str]]:
    """URLs without TLS, where two streams may be open at a time, and with it."""
    process = subprocess.Popen(["node", "-e", NODE, "--", certificate], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        plain, secure = process.stdout.readline().split()
        yield f"http://127.0.0.1:{plain}", f"https://127.0.0.1:{secure}"
    finally:
        process.terminate()
        process.wait(10)


def outcomes(result: dict[str, Any]) -> dict[str, int]:
    return dict(result["trials"][0]["outcomes"])


def connects(result: dict[str, Any]) -> int:
    return int(result["summaries"][0]["parts"]["connect"]["p50"]["n"])


def test_streams_of_a_connection_wait_for_each_other_only_in_the_server(jostle_command: Jostle) -> None:
    """One worker needs 4 ms for a request, and eight clients wait for it, over however many connections."""
    with reference_server("run-to-completion") as url:
        options = ["--http2-connections", "2", "-c", "8", "-n", "80", "--json"]
        result = as_json(jostle_command("hit", f"{url}/work?us=4000", "--expect", "4000", *options))
        assert outcomes(result) == {"ok": 80}
        assert connects(result) == 2
        service = result["summaries"][0]["service"]
        assert service["p50"]["value"] == pytest.approx(0.032, rel=0.1)
        shown = jostle_command("hit", f"{url}/hello", *options[:-1]).stdout
        assert "8 clients over 2 HTTP/2 connections" in shown


def test_events_and_journeys_need_nothing_of_their_own(
    jostle_command: Jostle, node: tuple[str, str], tmp_path: Path
) -> None:
    with reference_server("events") as url:
        options = ["--stream", "sse", "--stream-until", "END", "--http2", "-c", "4", "-n", "8", "--json"]
        result = as_json(jostle_command("hit", f"{url}/events?n=5&gap-ms=10&until=END", *options))
    assert outcomes(result) == {"ok": 8}
    assert result["streams"][0]["gap"]["p50"]["value"] == pytest.approx(0.010, rel=0.25)
    journey = tmp_path / "shop.toml"
    journey.write_text(
        '[journey.shop]\ncookies = true\nsteps = [{ get = "/a", capture = { path = "header:x-path" } },\n'
        '  { post = "/b{path}", body = "12345", expect = "POST 5" }]\n'
    )
    options = ["--http2-connections", "1", "-c", "2", "-n", "6", "--json"]
    result = as_json(jostle_command("hit", node[1], "-k", "--journey", str(journey), *options))
    assert outcomes(result) == {"ok": 12}
    assert connects(result) == 1


def test_who_waits_for_a_stream_is_told(jostle_command: Jostle, node: tuple[str, str]) -> None:
    """Node takes two streams at a time; six clients have one connection."""
    options = ["--http2-connections", "1", "-c", "6", "-d", "500ms"]
    shown = jostle_command("hit", f"{node[0]}/x", *options).stdout
    assert "waited for a free stream of an HTTP/2 connection" in " ".join(shown.split())


def test_who_waits_behind_a_large_response_is_shown(jostle_command: Jostle, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/big").write_bytes(bytes(2_000_000))
    with nginx(tmp_path, FILES.format(folder=tmp_path)), narrow(tmp_path / "socket") as port:
        (tmp_path / "plan.toml").write_text(MIX.format(port=port))
        jostle_command("run", "plan.toml", "--rounds", "1", "-o", "result.json", "--no-pages")
    result = json.loads((tmp_path / "result.json").read_text())
    (found,) = result["head_of_line"]
    assert found["behind"]["request"] == "big"
    waiting = [one["stream"] for one in found["streams"] if one["waited_s"]]
    assert len(waiting) == found["waited"] >= 1
    assert found["behind"]["stream"] not in waiting


@pytest.mark.parametrize("options", [["--rate", "200/s", "-d", "500ms"], ["--processes", "2", "-n", "40"]])
def test_node_over_tls_under_open_loads_and_from_several_processes(
    jostle_command: Jostle, node: tuple[str, str], tmp_path: Path, options: list[str]
) -> None:
    body = tmp_path / "body"
    body.write_bytes(bytes(100_000))  # larger than the server's windows
    command = ["--http2-connections", "2", "-c", "8", "-k", "-b", f"@{body}", "--expect", "POST 100000"]
    result = as_json(jostle_command("hit", node[1], *command, *options, "--json"))
    assert set(outcomes(result)) <= {"ok", "unfinished", "never_sent"}
    assert outcomes(result)["ok"] >= 40
    assert connects(result) == 2


def test_nginx_says_goodbye_after_its_requests_and_a_new_connection_follows(
    jostle_command: Jostle, certificate: Path
) -> None:
    with nginx(certificate, LEAVES.format(folder=certificate)):
        options = ["--unix-socket", str(certificate / "socket"), "-k", "--http2", "-c", "2", "-n", "200"]
        result = as_json(
            jostle_command("hit", "https://localhost/", *options, "--expect", "nginx says h2", "--json")
        )
    assert outcomes(result) == {"ok": 200}
    assert connects(result) >= 4


def leave_after_ten(connection: socket.socket, late: list[int]) -> None:
    """A server of one stream at a time, which answers ten requests and says goodbye before the last response.

    `late`: the streams that are opened after that.
    """
    settings, headers, goaway, whole = 4, 1, 7, 0x5  # END_STREAM and END_HEADERS
    leaving = False
    with connection, connection.makefile("rb") as incoming, suppress(OSError):
        connection.sendall(frame(settings, 0, 0, b"\0\3" + (1).to_bytes(4)))
        incoming.read(24)
        while head := incoming.read(9):
            incoming.read(int.from_bytes(head[:3]))
            kind, stream = head[3], int.from_bytes(head[5:])
            if kind != headers:
                continue
            if leaving:
                late.append(stream)
                continue
            if stream == 19:
                connection.sendall(frame(goaway, 0, 0, stream.to_bytes(4) + bytes(4)))
                leaving = True
                time.sleep(0.1)
            connection.sendall(frame(headers, whole, stream, b"\x88"))


def test_no_stream_is_opened_after_a_goodbye_by_those_who_wait_for_one(jostle_command: Jostle) -> None:
    """RFC 9113 section 6.8; they go on to the next connection, as this server would ignore them."""
    late: list[int] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=leave_after_ten, args=(listener.accept()[0], late)).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        options = ["--http2-connections", "1", "-c", "3", "-n", "60", "--json"]
        result = as_json(jostle_command("hit", url, *options))
        listener.shutdown(socket.SHUT_RDWR)
    assert late == []
    assert outcomes(result) == {"ok": 60}


def test_requests_that_cannot_be_sent_do_not_keep_their_thread_busy(
    jostle_command: Jostle, node: tuple[str, str], tmp_path: Path
) -> None:
    """Each rests for a millisecond instead, so that other clients go on, and the end of the run is seen."""
    script = tmp_path / "spin.luau"
    script.write_text('return function()\n  while true do\n    http.get("/a<b")\n  end\nend\n')
    options = ["--journey", str(script), "--http2", "-c", "2", "-d", "500ms", "--json"]
    result = as_json(jostle_command("hit", node[0], *options))
    assert 50 < outcomes(result)["unsendable"] <= 1_000


def test_a_server_without_http2_is_told_in_words(jostle_command: Jostle, node: tuple[str, str]) -> None:
    finished = jostle_command("hit", node[1].replace("https", "http"), "--http2", "-n", "2", "-c", "1")
    assert "before it sent anything; does it speak HTTP/2 here?" in " ".join(finished.stdout.split())
    refused = jostle_command("hit", f"{node[0]}/x", "--http2-connections", "3", "-t", "2", "-n", "2")
    assert refused.returncode == 2
    assert "3 connections cannot be shared evenly by 2 threads" in " ".join(refused.stderr.split())

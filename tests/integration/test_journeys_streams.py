"""A page and what it needs over HTTP/2, as a browser fetches it: streams of one connection."""

import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.real import Jostle, as_json, reference_server

NODE = """
const http2 = require("http2"), http = require("http");
const most = Number(process.argv[1]);
const asked = {};  // by connection
let sessions = 0, waiting = [];
const response = (stream, path, cookie) => {
  if (stream.destroyed) return;
  const url = path === "/page" ? "/part/d" : "/";
  stream.respond({ ":status": 200, "set-cookie": `seen=${path.split("/").pop()}; Path=/` });
  stream.end(JSON.stringify({ url, cookie }));
};
const server = http2.createServer({ settings: { maxConcurrentStreams: most } });
server.on("session", (session) => { session.number = sessions++; });
server.on("stream", (stream, headers) => {
  const path = headers[":path"];
  stream.on("error", () => {});
  (asked[stream.session.number] ??= []).push(path);
  if (!path.startsWith("/part/")) return response(stream, path, headers.cookie);
  waiting.push(() => response(stream, path, headers.cookie));
  // As many as can be open are there at the same time.
  if (waiting.length === Math.min(most, 4)) waiting.splice(0).forEach((one) => one());
});
const told = http.createServer((request, response) => response.end(JSON.stringify(asked)));
server.listen(0, "127.0.0.1", () => told.listen(0, "127.0.0.1", () =>
  console.log(server.address().port, told.address().port)));
"""

PAGE = """
[journey.page]
cookies = true
steps = [
  { name = "page", get = "/page", capture = { url = "json:/url" } },
  { parallel = [
      { name = "a", get = "/part/a", capture = { cookie = "json:/cookie" } },
      { name = "b", get = "/part/b" },
      { name = "c", post = "/part/c", body = "hello" },
      { name = "d", get = "{url}" },
    ] },
  { name = "after", get = "/after?{cookie}" },
]
"""


@contextmanager
def node(most: int) -> Iterator[tuple[str, int]]:
    """Its URL, and the port where it says what it was asked for. `most`: streams at a time."""
    words = ["node", "-e", NODE, "--", str(most)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port, told = process.stdout.readline().split()
        yield f"http://127.0.0.1:{port}", int(told)
    finally:
        process.terminate()
        process.wait(10)


def asked(port: int) -> list[list[str]]:
    """Paths by connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/")
    found: dict[str, list[str]] = json.loads(connection.getresponse().read())
    connection.close()
    return list(found.values())


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.toml"
    file.write_text(PAGE, encoding="utf-8")
    return file


def one_page(result: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = result["journeys"][0]
    return found


def test_parts_of_a_page_are_streams_of_the_connection_that_the_page_came_over(
    jostle_command: Jostle, page: Path
) -> None:
    with node(100) as (url, told):
        options = ("--http2", "-n", "6", "-c", "2", "--json")
        result = as_json(jostle_command("hit", url, "--journey", page, *options))
        by_connection = asked(told)
    assert result["trials"][0]["outcomes"] == {"ok": 36}
    assert one_page(result)["completed"] == 6
    assert len(by_connection) == 2, "each client has one"
    parts = {"/part/a", "/part/b", "/part/c", "/part/d"}
    for paths in by_connection:
        for first in range(0, len(paths), 6):
            assert paths[first] == "/page"
            assert set(paths[first + 1 : first + 5]) == parts
            assert paths[first + 5].startswith("/after?seen%3Dpage")


def test_clients_share_connections_and_a_page_stays_on_one(jostle_command: Jostle, page: Path) -> None:
    with node(100) as (url, told):
        options = ("--http2-connections", "1", "-n", "4", "-c", "1", "--json")
        result = as_json(jostle_command("hit", url, "--journey", page, *options))
        assert result["trials"][0]["outcomes"] == {"ok": 24}
        assert len(asked(told)) == 1


def test_where_a_server_takes_few_streams_parts_wait_and_that_is_told_apart(
    jostle_command: Jostle, page: Path
) -> None:
    with node(2) as (url, told):
        shown = jostle_command("hit", url, "--journey", page, "--http2", "-n", "5", "-c", "1").stdout
        (paths,) = asked(told)
    assert len(paths) == 30
    assert "10 requests waited for a free stream of an HTTP/2 connection" in " ".join(shown.split())


def test_check_shows_each_request_of_a_group(jostle_command: Jostle, page: Path) -> None:
    with node(100) as (url, _):
        shown = jostle_command("hit", url, "--journey", page, "--http2", "--once")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    for line in ("GET /part/a", "GET /part/b", "POST /part/c", "GET /part/d"):
        assert f"  > {line} HTTP/2" in shown.stdout


def test_parts_wait_for_one_another_in_a_server_of_one_worker(jostle_command: Jostle, tmp_path: Path) -> None:
    """It needs 20 ms for each, and all are there at the same time: 20, 40 and 60 ms."""
    file = tmp_path / "page.toml"
    parts = ", ".join(f'{{ name = "{name}", get = "/work?us=20000" }}' for name in "abc")
    file.write_text(f"[journey.page]\nsteps = [{{ parallel = [{parts}] }}]", encoding="utf-8")
    with reference_server("run-to-completion") as url:
        result = as_json(
            jostle_command("hit", url, "--journey", file, "--http2", "-n", "5", "-c", "1", "--json")
        )
    assert one_page(result)["completed"] == 5
    assert result["summaries"][0]["service"]["p50"]["value"] == pytest.approx(0.040, rel=0.25)

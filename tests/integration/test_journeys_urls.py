"""Whole URLs that a server gives: a client asks for them next, and they lead nowhere else."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

import jostle
from support.handlers import Handler, serving
from support.real import Jostle, as_json

PAGES = """
cookies = true
steps = [
  { name = "first", get = "/list/", capture = { next = "json:/next" } },
  { get = "{next}", headers = { X-Seen = "{next}" }, capture = { link = 'regex:href="([^"]+)"' } },
  { name = "link", post = "{link}", json = { page = 2 }, capture = { made = "header:Location" } },
  { name = "made", get = "{made}" },
]
"""


class Site(Handler):
    """`/list/` names `next`, that has a link, which answers with a Location."""

    asked: ClassVar[list[tuple[str, str]]] = []
    headers_of: ClassVar[dict[str, Any]] = {}
    next: ClassVar[str] = "../list/2?x=1&y=a b#part"

    def do_GET(self) -> None:
        self._response()

    def do_POST(self) -> None:
        self.body()
        self._response()

    def _response(self) -> None:
        Site.asked.append((self.command, self.path))
        Site.headers_of[self.path] = self.headers
        body = {
            "/list/": json.dumps({"next": Site.next}),
            "/list/2?x=1&y=a%20b": '<a href="/moved">',
            "/moved": "",
        }.get(self.path, "{}")
        location = {"/moved": "/made/", "/made/": "item/7"}.get(self.path, "")
        status = {"/moved": 307, "/made/": 201}.get(self.path, 200)
        self.response(status, body, {"Set-Cookie": "seen=1; Path=/", "Location": location})


@pytest.fixture
def site() -> Iterator[str]:
    Site.asked.clear()
    Site.headers_of.clear()
    Site.next = "../list/2?x=1&y=a b#part"
    with serving(Site) as url:
        yield url


@pytest.fixture
def stranger() -> Iterator[socket.socket]:
    """On this machine under an address that no plan allows."""
    with socket.create_server(("127.0.0.2", 0)) as listening:
        listening.setblocking(False)
        yield listening


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    file = tmp_path / "pages.toml"
    file.write_text(f"[journey.pages]{PAGES}", encoding="utf-8")
    return file


ALL = [
    ("GET", "/list/"),
    ("GET", "/list/2?x=1&y=a%20b"),
    ("POST", "/moved"),
    ("POST", "/made/"),
    ("GET", "/made/item/7"),
]
"""The last one is relative to the URL to which the redirect led."""


def outcomes(result: dict[str, Any]) -> dict[str, int]:
    return result["trials"][0]["outcomes"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("start", ["", "http://127.0.0.1:{port}/list/", "http://LOCALHOST:{port}/list/"])
def test_urls_are_absolute_or_relative_to_the_response_that_they_come_from(
    jostle_command: Jostle, site: str, pages: Path, start: str
) -> None:
    Site.next = start.format(port=site.rpartition(":")[2]) + Site.next
    result = as_json(jostle_command("hit", site, "--journey", pages, "-L", "-n", "2", "-c", "1", "--json"))
    assert outcomes(result) == {"ok": 10}
    assert Site.asked == ALL * 2
    headers = Site.headers_of[ALL[1][1]]
    assert headers["X-Seen"] == Site.next, "elsewhere it is the value that was captured"
    assert headers["Cookie"] == (None if "LOCALHOST" in start else "seen=1"), "cookies stay with their host"


def test_redirects_that_are_not_followed_stay_responses(
    jostle_command: Jostle, site: str, pages: Path
) -> None:
    as_json(jostle_command("hit", site, "--journey", pages, "-n", "1", "-c", "1", "--json"))
    assert Site.asked == [*ALL[:3], ("GET", "/made/")]


@pytest.mark.parametrize(
    ("next_", "why"),
    [
        ("http://127.0.0.2:{port}/x", "its URL leads to http://127.0.0.2:{port}, which may not be loaded"),
        ("//127.0.0.2:{port}/x", "its URL leads to http://127.0.0.2:{port}, which may not be loaded"),
        ("ftp://127.0.0.1/", "its URL cannot be asked for: ftp is not HTTP"),
        ("http://127.0.0.1:0/", 'its URL cannot be asked for: "0" is no port'),
        (" ", "its URL is empty"),
    ],
)
def test_a_server_cannot_turn_the_load_on_another_host(
    jostle_command: Jostle, site: str, pages: Path, stranger: socket.socket, next_: str, why: str
) -> None:
    port = stranger.getsockname()[1]
    Site.next = next_.format(port=port)
    result = as_json(jostle_command("hit", site, "--journey", pages, "-n", "2", "-c", "1", "--json"))
    assert outcomes(result) == {"ok": 2, "redirect_failed": 2}
    assert result["journeys"][0]["ended"] == 2
    assert result["summaries"][0]["failures"]["redirect_failed"] == {why.format(port=port): 2}
    with pytest.raises(BlockingIOError):
        stranger.accept()


def test_another_host_is_loaded_where_it_is_allowed(
    jostle_command: Jostle, site: str, tmp_path: Path
) -> None:
    file = tmp_path / "away.toml"
    file.write_text(
        '[journey.j]\nsteps = [{ get = "/list/", capture = { next = "json:/next" } }, { get = "{next}" }]',
        encoding="utf-8",
    )
    with serving(Site, host="127.0.0.2") as other:
        Site.next = f"{other}/away"
        options = ("--journey", file, "--allow-target", "127.0.0.2", "-n", "2", "-c", "1", "--json")
        result = as_json(jostle_command("hit", site, *options))
    assert outcomes(result) == {"ok": 4}
    assert f"http://{Site.headers_of['/away']['Host']}" == other


def test_a_script_asks_for_urls_and_is_told_of_those_that_are_refused(
    jostle_command: Jostle, site: str, tmp_path: Path
) -> None:
    script = tmp_path / "s.luau"
    script.write_text(
        """
        return function()
            local list = http.get("/list/")
            local page = http.get(list:json().next, { name = "next", headers = { ["X-Who"] = "me" } })
            local away = http.get(`http://127.0.0.2:1/{page.status}`)
            check(away.outcome == "redirect_failed" and away.status == 0, away.outcome)
        end
        """,
        encoding="utf-8",
    )
    Site.next = f"{site}/list/2?x=1&y=a b"
    result = as_json(jostle_command("hit", site, "--journey", script, "-n", "2", "-c", "1", "--json"))
    assert outcomes(result) == {"ok": 4, "redirect_failed": 2}
    assert result["journeys"][0]["completed"] == 2
    assert Site.asked == ALL[:2] * 2
    assert Site.headers_of[ALL[1][1]]["X-Who"] == "me"


def test_a_hurl_file_asks_for_a_captured_url(jostle_command: Jostle, site: str, tmp_path: Path) -> None:
    file = tmp_path / "pages.hurl"
    file.write_text(
        """GET http://localhost:1/list/
HTTP 200
[Captures]
next: jsonpath "$.next"

GET {{next}}
HTTP 200
[Captures]
link: regex /href="([^"]+)"/

POST http://localhost:1{{link}}
``
HTTP 307
""",
        encoding="utf-8",
    )
    result = as_json(jostle_command("hit", site, "--journey", file, "-n", "1", "-c", "1", "--json"))
    assert outcomes(result) == {"ok": 3}
    assert Site.asked == ALL[:3]
    assert [step["name"] for step in result["journeys"][0]["steps"]] == [
        "/list/",
        "{{next}}",
        "POST {{link}}",
    ]


def test_from_python(site: str, tmp_path: Path) -> None:
    pages = jostle.journey("pages").get("/list/").capture(next="json:/next").get("{next}")
    jostle.hit(site, journey=pages, clients=1, requests=2, into=tmp_path)
    assert Site.asked == ALL[:2] * 2

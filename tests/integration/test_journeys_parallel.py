"""A page and what it needs, over several connections of one client, as a browser does it."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from support.handlers import Handler, serving
from support.real import Jostle, as_json

JOURNEY = """
[journey.page]
connections = 3
cookies = true
steps = [
  { name = "page", get = "/page", capture = { v = "header:X-Version" } },
  { parallel = [
      { name = "a", get = "/part/a?{v}.{client}.{iteration}", capture = { hash = "json:/hash" } },
      { name = "b", get = "/part/b?{v}.{client}.{iteration}" },
      { name = "c", get = "/part/c?{v}.{client}.{iteration}", once-per-client = true },
      { name = "d", get = "/moved/d?{v}.{client}.{iteration}" },
    ] },
  { name = "after", get = "/after/{hash}" },
]
"""


class Site(Handler):
    """It answers the parts of a page only when as many have been asked for as a client has connections."""

    lock: ClassVar[threading.Condition] = threading.Condition()
    connections: ClassVar[Counter[tuple[str, int]]] = Counter()
    asked: ClassVar[list[str]] = []
    cookies: ClassVar[dict[str, str]] = {}
    at_once: ClassVar[int] = 0
    most: ClassVar[int] = 0
    failing: ClassVar[str] = ""

    def do_GET(self) -> None:
        with Site.lock:
            Site.connections[self.client_address] += 1
            Site.asked.append(self.path)
            Site.cookies[self.path] = self.headers["Cookie"] or ""
            Site.at_once += 1
            Site.most = max(Site.most, Site.at_once)
            Site.lock.notify_all()
            page = self.path.partition("?")[2]
            if page:
                Site.lock.wait_for(lambda: sum(asked.endswith(f"?{page}") for asked in Site.asked) >= 3)
        try:
            self._response()
        finally:
            with Site.lock:
                Site.at_once -= 1

    def _response(self) -> None:
        moved = self.path.startswith("/moved/")
        failed = Site.failing and self.path.startswith(Site.failing)
        cookie = self.path.split("?")[0].strip("/").replace("/", "-")
        headers = {"X-Version": "v1", "Set-Cookie": f"{cookie}=1; Path=/"}
        if moved:
            headers["Location"] = self.path.replace("/moved/", "/part/")
        body = "" if moved else json.dumps({"hash": "7"})
        self.response(500 if failed else 302 if moved else 200, body, headers)


@pytest.fixture
def site() -> Iterator[str]:
    Site.connections.clear()
    Site.asked.clear()
    Site.cookies.clear()
    Site.at_once, Site.most, Site.failing = 0, 0, ""
    with serving(Site) as url:
        yield url


@pytest.fixture
def journey(tmp_path: Path) -> Path:
    file = tmp_path / "page.toml"
    file.write_text(JOURNEY, encoding="utf-8")
    return file


def steps_of(result: dict[str, object]) -> dict[str, int]:
    (found,) = result["journeys"]  # type: ignore[misc]
    return {step["name"]: step["requests"] for step in found["steps"]}  # type: ignore[index]


def test_parts_of_a_page_are_fetched_over_several_connections(
    jostle_command: Jostle, site: str, journey: Path
) -> None:
    result = as_json(jostle_command("hit", site, "--journey", journey, "-L", "-n", "5", "-c", "1", "--json"))
    (found,) = result["journeys"]
    assert (found["completed"], found["ended"], found["unfinished"]) == (5, 0, 0)
    assert steps_of(result) == {"page": 5, "a": 5, "b": 5, "c": 1, "d": 10, "after": 5}
    assert result["trials"][0]["outcomes"] == {"ok": 30}, "c is recorded apart"
    assert Site.most == 3, "of four parts three are under way at a time"
    assert len(Site.connections) == 3, "they are kept for the next page"
    assert Site.asked[0] == "/page"
    assert set(Site.asked[1:6]) == {
        f"/{part}?v1.1.1" for part in ("part/a", "part/b", "part/c", "part/d", "moved/d")
    }
    assert Site.asked[6] == "/after/7", "the journey goes on when all parts are there"
    assert "part-b=1" in Site.cookies["/after/7"]
    assert Site.cookies["/part/a?v1.1.1"].startswith("page=1")
    together = [step["together"] for step in found["steps"]]
    assert together == [False, False, True, True, True, False]


def test_a_failed_part_ends_the_journey_after_all_of_them(
    jostle_command: Jostle, site: str, journey: Path
) -> None:
    Site.failing = "/part/b"
    result = as_json(jostle_command("hit", site, "--journey", journey, "-L", "-n", "3", "-c", "1", "--json"))
    (found,) = result["journeys"]
    assert (found["completed"], found["ended"]) == (0, 3)
    assert steps_of(result) == {"page": 3, "a": 3, "b": 3, "c": 1, "d": 6, "after": 0}
    assert [step["ended"] for step in found["steps"] if step["name"] == "b"] == [{"wrong_status": 3}]
    text = journey.read_text(encoding="utf-8").replace(
        '"/part/b?{v}.{client}.{iteration}"', '"/part/b?{v}.{client}.{iteration}", on-failure = "go-on"'
    )
    journey.write_text(text, encoding="utf-8")
    result = as_json(jostle_command("hit", site, "--journey", journey, "-L", "-n", "3", "-c", "1", "--json"))
    assert result["journeys"][0]["completed"] == 3


def test_an_open_load_keeps_the_connections_of_its_pool(
    jostle_command: Jostle, site: str, journey: Path
) -> None:
    options = ("-r", "20", "-n", "10", "-c", "3", "-L", "--json")
    result = as_json(jostle_command("hit", site, "--journey", journey, *options))
    (found,) = result["journeys"]
    assert found["completed"] == 10
    assert steps_of(result)["c"] == 10, "every arrival is a new client"
    assert len(Site.connections) == 3


def test_several_processes_send_them_all(jostle_command: Jostle, site: str, journey: Path) -> None:
    options = ("-n", "8", "-c", "4", "-L", "--processes", "2", "--json")
    result = as_json(jostle_command("hit", site, "--journey", journey, *options))
    assert result["journeys"][0]["completed"] == 8
    assert steps_of(result)["d"] == 16
    assert len(Site.connections) <= 12


def test_a_load_that_ends_amid_a_group_leaves_nothing_out(
    jostle_command: Jostle, site: str, journey: Path
) -> None:
    result = as_json(jostle_command("hit", site, "--journey", journey, "-d", "1", "-c", "4", "-L", "--json"))
    (found,) = result["journeys"]
    assert found["completed"] > 0
    assert found["unfinished"] <= 4
    assert found["ended"] == 0


def test_check_shows_each_request_of_a_group(jostle_command: Jostle, site: str, journey: Path) -> None:
    plan = f"""
title = "A page"
contestants = ["site"]
contestant.site.url = "{site}"
[workload.page]
journeys = "page"
redirects = 3
load = {{ clients = 50, for = "1h" }}
{JOURNEY}"""
    (journey.parent / "plan.toml").write_text(plan, encoding="utf-8")
    shown = jostle_command("check", journey.parent / "plan.toml")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    for part in ("a", "b", "c", "d"):
        assert f"  > GET /part/{part}?v1.1.1 HTTP/1.1" in shown.stdout
    assert "  hash = 7" in shown.stdout
    assert "completed" in shown.stdout

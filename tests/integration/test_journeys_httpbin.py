"""Journeys on httpbin, which nobody here wrote: cookies, redirects, passwords, compression, what was sent."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.real import Jostle, as_json

SERVE = """
from httpbin import app
from werkzeug.serving import WSGIRequestHandler, make_server
WSGIRequestHandler.protocol_version = "HTTP/1.1"
server = make_server("127.0.0.1", 0, app, threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
"""
"""By Debian's own interpreter, as httpbin is a Debian package (scripts/install-test-tools.sh)."""

JOURNEY = """
[journey.visit]
cookies = true
feed = { csv = "users.csv", each = "client" }
steps = [
  { name = "set", get = "/cookies/set?user={user}", expect = { status = 302 }, capture = { next = "header:Location" } },
  { name = "keep", get = "/cookies", capture = { who = "json:/cookies/user" } },
  { name = "uuid", get = "/uuid", capture = { id = "json:/uuid" } },
  { name = "bearer", get = "/bearer", headers = { Authorization = "Bearer t-{id}" }, expect = { json = { pointer = "/authenticated", value = true } }, capture = { token = "json:/token" } },
  { name = "basic", get = "/basic-auth/ann/secret", headers = { Authorization = "Basic YW5uOnNlY3JldA==" } },
  { name = "sent", post = "/anything/{token}?by={who}", json = { by = "{who}" }, capture = { by = "json:/json/by", asked = "json:/args/by" } },
  { name = "form", post = "/post", form = { by = "{by}" }, capture = { filled = "json:/form/by" } },
  { name = "gzip", get = "/gzip", headers = { Accept-Encoding = "gzip" }, expect = { json = { pointer = "/gzipped", value = true } } },
  { name = "brotli", get = "/brotli", headers = { Accept-Encoding = "br" }, expect = { json = { pointer = "/brotli", value = true } } },
  { name = "forget", get = "/cookies/delete?user", expect = { status = 302 } },
  { name = "gone", get = "/cookies", expect = { json = { pointer = "/cookies", value = {} } } },
]
"""  # noqa: E501
STEPS = re.findall(r'name = "(\w+)"', JOURNEY)


@pytest.fixture(scope="module")
def httpbin() -> Iterator[str]:
    with subprocess.Popen(
        ["/usr/bin/python3", "-c", SERVE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        assert port, "httpbin is not installed: scripts/install-test-tools.sh"
        yield f"http://127.0.0.1:{port}"
        server.terminate()


@pytest.fixture
def journey(tmp_path: Path) -> Path:
    (tmp_path / "users.csv").write_text('user\n"ann, ""queen"" & co"\nbob/é\n', encoding="utf-8")
    file = tmp_path / "visit.toml"
    file.write_text(JOURNEY, encoding="utf-8")
    return file


def test_every_step_gets_what_the_one_before_it_gave(
    jostle_command: Jostle, httpbin: str, journey: Path
) -> None:
    result = as_json(jostle_command("hit", httpbin, "--journey", journey, "-n", "12", "-c", "3", "--json"))
    (found,) = result["journeys"]
    assert (found["completed"], found["ended"], found["unfinished"]) == (12, 0, 0)
    assert {step["name"]: step["outcomes"] for step in found["steps"]} == {name: {"ok": 12} for name in STEPS}


def test_what_was_sent_came_back_as_it_was(jostle_command: Jostle, httpbin: str, journey: Path) -> None:
    shown = jostle_command("hit", httpbin, "--journey", journey, "--once").stdout
    values = dict(re.findall(r"^  (\w+) = (.*)$", shown, re.MULTILINE))
    assert values["next"] == "/cookies"
    assert {values[name] for name in ("who", "by", "asked", "filled")} == {'ann, "queen" & co'}
    assert values["token"] == f"t-{values['id']}"


def test_a_wrong_password_ends_the_journey_at_its_step(
    jostle_command: Jostle, httpbin: str, journey: Path
) -> None:
    journey.write_text(JOURNEY.replace("YW5uOnNlY3JldA==", "YW5uOndyb25n"), encoding="utf-8")
    result = as_json(jostle_command("hit", httpbin, "--journey", journey, "-n", "4", "-c", "2", "--json"))
    (found,) = result["journeys"]
    assert (found["completed"], found["ended"]) == (0, 4)
    assert {step["name"]: step["ended"] for step in found["steps"] if step["ended"]} == {
        "basic": {"wrong_status": 4}
    }


def test_redirects_are_followed_and_cookies_are_taken_on_the_way(
    jostle_command: Jostle, httpbin: str, tmp_path: Path
) -> None:
    file = tmp_path / "away.toml"
    file.write_text(
        """
[journey.away]
cookies = true
steps = [
  { name = "away", get = "/redirect/3", capture = { there = "json:/url" } },
  { name = "set", get = "/cookies/set?a=1", capture = { a = "json:/cookies/a" } },
]
""",
        encoding="utf-8",
    )
    result = as_json(jostle_command("hit", httpbin, "--journey", file, "-L", "-n", "5", "-c", "1", "--json"))
    (found,) = result["journeys"]
    assert (found["completed"], found["ended"]) == (5, 0)
    assert result["trials"][0]["outcomes"] == {"ok": 5 * (4 + 2)}, (
        "each redirect leads to a request of its own"
    )

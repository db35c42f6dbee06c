"""Journeys on Django's administration, which nobody here wrote: a form needs its token and its cookie."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.real import Jostle, as_json

SERVER = Path(__file__).parents[1] / "support" / "django-admin" / "serve.py"
TOKEN = """token = 'regex:name="csrfmiddlewaretoken" value="([^"]+)"'"""
JOURNEY = """
[journey.edit]
cookies = true
feed = { csv = "users.csv" }
steps = [
  { name = "away", get = "/admin/", expect = { status = 302 } },
  { name = "form", get = "/admin/login/?next=/admin/", expect = { status = 200 }, capture = { TOKEN } },
  { name = "login", post = "/admin/login/?next=/admin/", form = { username = "{user}", password = "{password}", csrfmiddlewaretoken = "{token}" }, expect = { status = 302 }, capture = { session = "cookie:sessionid" } },
  { name = "add", get = "/admin/auth/group/add/", expect = { status = 200 }, capture = { TOKEN } },
  { name = "save", post = "/admin/auth/group/add/", form = { name = "{user} & <{session}> é", csrfmiddlewaretoken = "{token}" }, expect = { status = 302 } },
  { name = "find", get = "/admin/auth/group/?q={session}", capture = { group = 'regex:/admin/auth/group/(\\d+)/change/' } },
  { name = "ask", get = "/admin/auth/group/{group}/delete/", expect = { contains = "Are you sure" }, capture = { TOKEN } },
  { name = "delete", post = "/admin/auth/group/{group}/delete/", form = { post = "yes", csrfmiddlewaretoken = "{token}" }, expect = { status = 302 } },
  { name = "gone", get = "/admin/auth/group/{group}/change/", expect = { status = 302 } },
  { name = "logout", get = "/admin/logout/", expect = { contains = "Logged out" } },
  { name = "outside", get = "/admin/auth/group/", expect = { status = 302 } },
]
""".replace("TOKEN", TOKEN)  # noqa: E501
STEPS = re.findall(r'name = "(\w+)"', JOURNEY)


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with subprocess.Popen(
        ["/usr/bin/python3", SERVER, tmp_path_factory.mktemp("admin")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        assert port, "Django is not installed: scripts/install-test-tools.sh"
        yield f"http://127.0.0.1:{port}"
        server.terminate()


@pytest.fixture
def journey(tmp_path: Path) -> Path:
    (tmp_path / "users.csv").write_text(
        "user,password\nann,ann's & secret\nbob,bob's & secret\neve,eve's & secret\n", encoding="utf-8"
    )
    file = tmp_path / "edit.toml"
    file.write_text(JOURNEY, encoding="utf-8")
    return file


def test_forms_are_filled_with_their_tokens_from_the_login_to_the_logout(
    jostle_command: Jostle, admin: str, journey: Path
) -> None:
    result = as_json(jostle_command("hit", admin, "--journey", journey, "-n", "12", "-c", "3", "--json"))
    (found,) = result["journeys"]
    assert {step["name"]: step["outcomes"] for step in found["steps"]} == {name: {"ok": 12} for name in STEPS}
    assert (found["completed"], found["ended"], found["unfinished"]) == (12, 0, 0)


def test_a_form_without_its_token_is_forbidden_and_ends_the_journey(
    jostle_command: Jostle, admin: str, journey: Path
) -> None:
    journey.write_text(
        JOURNEY.replace('"{password}", csrfmiddlewaretoken = "{token}"', '"{password}"'), encoding="utf-8"
    )
    result = as_json(jostle_command("hit", admin, "--journey", journey, "-n", "6", "-c", "2", "--json"))
    (found,) = result["journeys"]
    assert (found["completed"], found["ended"]) == (0, 6)
    assert {step["name"]: step["ended"] for step in found["steps"] if step["ended"]} == {
        "login": {"wrong_status": 6}
    }
    shown = jostle_command("hit", admin, "--journey", journey, "--once").stdout
    assert "< HTTP/1.1 403 Forbidden" in shown
    assert "ended early: the step 'login' ended it" in shown


def test_a_token_is_worth_nothing_without_the_cookie_of_its_form(
    jostle_command: Jostle, admin: str, journey: Path
) -> None:
    journey.write_text(JOURNEY.replace("cookies = true", ""), encoding="utf-8")
    result = as_json(jostle_command("hit", admin, "--journey", journey, "-n", "2", "-c", "1", "--json"))
    (found,) = result["journeys"]
    assert {step["name"]: step["ended"] for step in found["steps"] if step["ended"]} == {
        "login": {"wrong_status": 2}
    }

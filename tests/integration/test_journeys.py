"""A form with a CSRF token, a login, a search and an order, on the HTTP server of Python's own library."""

import json
import re
import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from support.handlers import Handler, serving
from support.real import Jostle, as_json

JOURNEY = r"""
[journey.buy]
cookies = true
feed = { csv = "users.csv", each = "client" }
steps = [
  { name = "form", get = "/login", capture = { csrf = 'regex:name="csrf" value="([^"]+)"' }, once-per-client = true },
  { name = "login", post = "/login", form = { user = "{user}", csrf = "{csrf}" }, capture = { token = "json:/user/token" }, once-per-client = true },
  { name = "search", get = "/search?q={user}&n={iteration}", capture = { id = "json:/items/1/id" } },
  { name = "order", post = "/orders/{id}", json = { by = "{user}" }, headers = { Authorization = "Bearer {token}" }, expect = { status = 201 } },
]
"""  # noqa: E501


class Shop(Handler):
    """Every step is right only with what the one before it gave."""

    forms: ClassVar[dict[str, str]] = {}
    tokens: ClassVar[dict[str, str]] = {}
    orders: ClassVar[Counter[str]] = Counter()

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/login":
            session, csrf = secrets.token_hex(8), secrets.token_hex(8)
            Shop.forms[session] = csrf
            page = f'<form><input type="hidden" name="csrf" value="{csrf}"></form>'
            self.response(200, page, {"Set-Cookie": f"session={session}; Path=/; HttpOnly"})
        else:
            (word,) = parse_qs(url.query)["q"]
            self.response(200, json.dumps({"items": [{"id": "no"}, {"id": f"of {word}"}]}))

    def do_POST(self) -> None:
        body = self.body()
        session = (self.headers["Cookie"] or "").removeprefix("session=")
        if self.path == "/login":
            form = parse_qs(body)
            if form.get("csrf") != [Shop.forms.get(session, "")]:
                return self.response(403, "{}")
            Shop.tokens[session] = f"token {form['user'][0]}"
            return self.response(200, json.dumps({"user": {"token": Shop.tokens[session]}}))
        user = json.loads(body)["by"]
        known = Shop.tokens.get(session) == f"token {user}"
        bearer = self.headers["Authorization"] == f"Bearer token {user}"
        asked = self.path == "/orders/" + f"of {user}".replace(" ", "%20").replace("&", "%26")
        Shop.orders[user] += 1
        return self.response(201 if known and bearer and asked else 400, "{}")


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with serving(Shop) as url:
        yield url


@pytest.fixture
def journey(tmp_path: Path) -> Path:
    (tmp_path / "users.csv").write_text("user\nann & co\nbob\n", encoding="utf-8")
    file = tmp_path / "buy.toml"
    file.write_text(JOURNEY, encoding="utf-8")
    return file


def test_clients_log_in_once_and_order_what_they_found(
    jostle_command: Jostle, shop: str, journey: Path, tmp_path: Path
) -> None:
    Shop.orders.clear()
    result = as_json(
        jostle_command("hit", shop, "--journey", journey, "-n", "60", "-c", "4", "--json", "--into", tmp_path)
    )
    (found,) = result["journeys"]
    assert (found["name"], found["completed"], found["ended"], found["unfinished"]) == ("buy", 60, 0, 0)
    sent = {step["name"]: (step["requests"], step["once"]) for step in found["steps"]}
    assert sent == {"form": (4, True), "login": (4, True), "search": (60, False), "order": (60, False)}
    assert result["trials"][0]["outcomes"] == {"ok": 120}, "what clients do once stands in no other figure"
    assert Shop.orders.total() == 60
    assert set(Shop.orders) == {"ann & co", "bob"}
    assert found["time"]["p50"]["value"] >= found["active"]["p50"]["value"] > 0
    (run,) = tmp_path.glob("20*")
    again = as_json(jostle_command("report", run, "--format", "json"))
    assert again["journeys"] == result["journeys"]
    assert "ann &" not in (run / "trials" / "001-127.0.0.1-hit" / "trial.json").read_text(encoding="utf-8")


def test_the_report_says_where_journeys_end(jostle_command: Jostle, shop: str, journey: Path) -> None:
    text = journey.read_text(encoding="utf-8").replace("status = 201", "status = 200")
    journey.write_text(text, encoding="utf-8")
    finished = jostle_command("hit", shop, "--journey", journey, "-n", "20", "-c", "2")
    assert re.search(r"Journeys\n.*\n.*buy +0 +20 +0", finished.stdout), finished.stdout
    assert re.search(r"order .*20 × wrong status +20 \(100 %\)", finished.stdout), finished.stdout
    assert max(len(line) for line in finished.stdout.splitlines()) <= 80


def test_check_sends_each_journey_once_and_shows_what_was_said(
    jostle_command: Jostle, shop: str, journey: Path
) -> None:
    plan = f"""
title = "A shop"
contestants = ["shop"]
contestant.shop.url = "{shop}"
[workload.buying]
journeys = "buy"
load = {{ clients = 50, for = "1h" }}
{JOURNEY}"""
    (journey.parent / "plan.toml").write_text(plan, encoding="utf-8")
    shown = jostle_command("check", journey.parent / "plan.toml")
    assert shown.returncode == 0, shown.stderr
    assert "completed" in shown.stdout
    assert "4. order: ok in" in shown.stdout
    assert "  > POST /orders/of%20ann%20%26%20co HTTP/1.1" in shown.stdout
    assert "  token = token ann & co" in shown.stdout
    assert "  < HTTP/1.1 201 Created" in shown.stdout
    (journey.parent / "plan.toml").write_text(plan.replace("/items/1/id", "/items/7/id"), encoding="utf-8")
    shown = jostle_command("check", journey.parent / "plan.toml")
    assert shown.returncode == 1
    assert "capture failed" in shown.stdout
    assert "id: json:/items/7/id found nothing" in shown.stdout
    assert "ended early: the step 'search' ended it" in shown.stdout


class Paths(Handler):
    """Sets a cookie without a path, and answers with the cookies that it was sent."""

    def do_GET(self) -> None:
        headers = {"Set-Cookie": "a=1"} if self.path.startswith("/shop/cart") else {}
        self.response(200, self.headers["Cookie"] or "none", headers)


def test_a_cookie_without_a_path_belongs_to_the_folder_of_the_page_that_set_it(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    """RFC 6265 section 5.1.4."""
    journey = tmp_path / "visit.toml"
    journey.write_text(
        '[journey.visit]\ncookies = true\nsteps = [{ get = "/shop/cart?to=/x", expect = "none" },\n'
        '  { get = "/shop/list", expect = "a=1" }, { get = "/other", expect = "none" }]\n'
    )
    with serving(Paths) as url:
        result = as_json(jostle_command("hit", url, "--journey", journey, "-c", "1", "-n", "1", "--json"))
    assert result["trials"][0]["outcomes"] == {"ok": 3}

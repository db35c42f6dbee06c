"""Scripts on the HTTP server of Python's own library: what is sent, how it is told, and what is refused."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from support.handlers import Handler, serving
from support.real import Jostle, as_json

SCRIPT = """
-- Log in once, follow the list that comes back, order the last.
return function(client)
    if not client.token then
        local login = http.post("/login", { form = { user = client.feed.user } })
        check(login.ok, "no login")
        client.token = login.headers["X-Token"]
    end
    local headers = { Authorization = client.token }
    local list = http.get(`/list?by={escape(client.feed.user)}`, { headers = headers }):json()
    for _, id in list.items do
        http.get(`/items/{id}`)
    end
    sleep("20ms")
    local bought = { ids = list.items, note = null }
    local order = http.post("/orders", { name = "order", json = bought, headers = headers })
    check(order.status == 200 and order:json().count == #list.items, `order: {order.status}`)
end
"""


class Shop(Handler):
    """Every request is right only with what the one before it gave."""

    users: ClassVar[set[str]] = set()

    def do_GET(self) -> None:
        if self.path.startswith("/list"):
            known = (self.headers["Authorization"] or "").startswith("token of user=") and "by=" in self.path
            return self._response(200 if known else 401, {"items": [3, 4, 5], "next": None})
        return self._response(200 if self.headers["Cookie"] == "sid=1" else 403, {})

    def do_POST(self) -> None:
        body = self.body()
        if self.path == "/login":
            Shop.users.add(body)
            return self._response(200, {}, f"token of {body}")
        sent = json.loads(body)
        right = (
            sent == {"ids": [3, 4, 5], "note": None} and self.headers["Content-Type"] == "application/json"
        )
        return self._response(200 if right else 400, {"count": len(sent["ids"])})

    def _response(self, status: int, body: object, token: str = "") -> None:
        headers = {"X-Token": token, "Set-Cookie": "sid=1; Path=/"} if token else {}
        self.response(status, json.dumps(body), headers)


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with serving(Shop) as url:
        yield url


@pytest.fixture
def plan(shop: str, tmp_path: Path) -> Path:
    (tmp_path / "buy.luau").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "users.csv").write_text("user,unused\nann & co,1\nbob,2\n", encoding="utf-8")
    file = tmp_path / "plan.toml"
    file.write_text(
        f"""
title = "A shop"
contestants = ["shop"]
rounds = 1
repeats = false
contestant.shop.url = "{shop}"
[journey.buy]
script = "buy.luau"
cookies = true
feed = {{ csv = "users.csv", each = "client" }}
[journey.look]
steps = [{{ get = "/list?by=x", headers = {{ Authorization = "token of user=x" }} }}]
[workload.buying]
journeys = {{ buy = 3, look = 1 }}
load = {{ clients = 4, iterations = 60 }}
""",
        encoding="utf-8",
    )
    return file


def test_a_script_stands_beside_steps_in_a_plan(jostle_command: Jostle, plan: Path) -> None:
    Shop.users.clear()
    result = as_json(jostle_command("run", plan, "--into", plan.parent / "runs", "--json", "--no-pages"))
    buy, look = result["journeys"]
    assert (buy["name"], buy["ended"], buy["unfinished"]) == ("buy", 0, 0)
    assert buy["completed"] + look["completed"] == 60
    sent = {step["name"]: step["requests"] for step in buy["steps"]}
    bought = buy["completed"]
    assert sent == {
        "buy: POST /login": sent["buy: POST /login"],
        "buy: /list?by={escape(client.feed.user)}": bought,
        "buy: /items/{id}": 3 * bought,
        "buy: order": bought,
    }
    assert 1 <= sent["buy: POST /login"] <= 4
    assert Shop.users <= {"user=ann%20%26%20co", "user=bob"}
    assert buy["time"]["p50"]["value"] - buy["active"]["p50"]["value"] > 0.015, "the pause is no active time"
    assert set(result["trials"][0]["outcomes"]) == {"ok"}


def test_check_shows_a_script_once_without_its_pauses(jostle_command: Jostle, plan: Path) -> None:
    script = plan.with_name("buy.luau")
    script.write_text(SCRIPT.replace('"20ms"', '"1h"'), encoding="utf-8")
    shown = jostle_command("check", plan)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "1. POST /login: ok in" in shown.stdout
    assert "5. /items/{id}: ok in" in shown.stdout
    assert "  > GET /items/5 HTTP/1.1" in shown.stdout
    assert "completed" in shown.stdout
    script.write_text(SCRIPT.replace("#list.items", "7"), encoding="utf-8")
    shown = jostle_command("check", plan)
    assert shown.returncode == 1
    assert "failed script (buy.luau:17: order: 200)" in shown.stdout
    assert "ended early: the step 'order' ended it" in shown.stdout


def test_a_script_is_hit_and_its_failures_are_told(jostle_command: Jostle, shop: str, tmp_path: Path) -> None:
    script = tmp_path / "look.luau"
    script.write_text(
        'return function()\n  check(http.get("/secret").ok, "not for us")\nend\n', encoding="utf-8"
    )
    finished = jostle_command("hit", shop, "--journey", script, "-n", "20", "-c", "2")
    said = " ".join(finished.stdout.split())
    assert "20 failed script (20 × look.luau:2: not for us)" in said, finished.stdout
    assert max(len(line) for line in finished.stdout.splitlines()) <= 80


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("return function() http.get('/') \n end end", "look.luau:2: Expected <eof>, got 'end'"),
        (
            "return function() \n http.get('/' .. 1) end",
            "look.luau:2: the path of this request is calculated",
        ),
        ("return 7", "look.luau: it makes no request"),
        ("local x = nil\nx.y = 1\nreturn function() http.get('/') end", "look.luau:2: attempt to index nil"),
    ],
)
def test_a_script_that_cannot_run_is_refused_before_anything_is_sent(
    jostle_command: Jostle, tmp_path: Path, source: str, said: str
) -> None:
    script = tmp_path / "look.luau"
    script.write_text(source, encoding="utf-8")
    finished = jostle_command("hit", "http://127.0.0.1:9/", "--journey", script, "-d", "1s")
    assert finished.returncode == 2
    assert said in " ".join(finished.stderr.split()), finished.stderr

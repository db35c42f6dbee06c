"""A journey on json-server, which nobody here wrote: what a user made is found, changed and removed."""

from pathlib import Path

from support.real import Jostle, as_json

SERVER = Path(__file__).parents[1] / "support" / "json-server"
PLAN = r"""
title = "Posts and their comments"
contestants = ["json-server"]
rounds = 1

[contestant.json-server]
folder = "FOLDER"
build = { commands = [["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]] }
command = "node node_modules/json-server/lib/cli/bin.js --quiet --host 127.0.0.1 --port {port} db.js"
ready = { timeout = "60s" }

[journey.write]
feed = { csv = "users.csv" }
steps = [
  { name = "create", post = "/posts", json = { by = "{user}", key = "{uuid}" }, expect = { status = 201 }, capture = { id = "json:/id", key = "json:/key", at = "header:Location" } },
  { name = "find", get = "/posts?key={key}&by={user}", capture = { found = "json:/0/id" } },
  { name = "comment", post = "/comments", json = { postId = "{found}", text = "{user}" }, expect = { status = 201 }, repeat = 2 },
  { name = "comments", get = "/posts/{id}/comments", capture = { second = "json:/1/text" } },
  { name = "change", patch = "/posts/{id}", json = { by = "{second}!" }, capture = { by = 'regex:"by": "([^"]*)!"' } },
  { name = "remove", delete = "/posts/{id}" },
  { name = "gone", get = "/posts/{id}", expect = { status = 404 } },
]

[workload.writing]
journeys = "write"
load = { clients = 3, iterations = 12 }
timeout = "60s"
"""  # noqa: E501
REQUESTS = {"create": 12, "find": 12, "comment": 24, "comments": 12, "change": 12, "remove": 12, "gone": 12}


def test_what_a_user_made_is_found_by_what_the_responses_said(jostle_command: Jostle, tmp_path: Path) -> None:
    (tmp_path / "users.csv").write_text('user\n"ann & co/2"\nbob é\n', encoding="utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.replace("FOLDER", str(SERVER)), encoding="utf-8")
    result = as_json(jostle_command("run", plan, "--json", "--no-pages", timeout=300))
    (found,) = result["journeys"]
    assert (found["completed"], found["ended"], found["unfinished"]) == (12, 0, 0)
    assert {step["name"]: step["outcomes"] for step in found["steps"]} == {
        name: {"ok": number} for name, number in REQUESTS.items()
    }

"""Right responses by status, from the engine to what is shown; and a server that goes away under
`capacity`."""

import contextlib
import itertools
from pathlib import Path

from support.handlers import Handler, serving
from support.real import Jostle, as_json, jostle_running, reference_server


class Limited(Handler):
    """A page for the first 200 requests, and a redirect to the login from then on; `/login` is there."""

    asked = itertools.count()

    def do_GET(self) -> None:
        away = self.path != "/login" and next(self.asked) >= 200
        self.send_response(302 if away else 200)
        if away:
            self.send_header("Location", "/login")
        self.send_header("Content-Length", "0")
        self.end_headers()


def test_a_server_that_redirects_after_a_while_is_shown_and_told(jostle_command: Jostle) -> None:
    class Server(Limited):
        asked = itertools.count()

    with serving(Server) as url:
        result = as_json(jostle_command("hit", f"{url}/", "-c", "4", "-n", "2000", "--json"))
    (summary,), (trial,) = result["summaries"], result["trials"]
    assert summary["statuses"] == {trial["requests"][0]["name"]: {"200": 200, "302": 1800}}
    (check,) = [check for check in trial["validity"]["checks"] if check["name"] == "statuses"]
    assert check["verdict"] == "suspect"
    assert "302" in check["message"]


def test_each_step_of_a_journey_has_its_own(jostle_command: Jostle, tmp_path: Path) -> None:
    class Server(Limited):
        asked = itertools.count(200)

    journey = tmp_path / "j.toml"
    journey.write_text(
        '[journey.a]\nsteps = [{ name = "page", get = "/" }, { name = "login", get = "/login" }]\n'
    )
    with serving(Server) as url:
        done = jostle_command("hit", url, "--journey", journey, "-n", "10", "-c", "2", "--json")
    (found,) = as_json(done)["journeys"]
    assert [(step["name"], step["statuses"]) for step in found["steps"]] == [
        ("page", {"302": 10}),
        ("login", {"200": 10}),
    ]


def test_a_server_that_goes_away_during_a_search_is_no_limit_of_the_generator(tmp_path: Path) -> None:
    options = ("--slo", "errors < 1 %", "--quick", "--budget", "40s", "--no-pages", "--into", tmp_path)
    with contextlib.ExitStack() as server:
        url = server.enter_context(reference_server("null"))
        with jostle_running("capacity", f"{url}/", "--most", "200/s", *options) as search:
            assert search.stderr is not None
            assert search.stderr.readline().startswith("one at a time: ")
            server.close()
            shown, progress = search.communicate(timeout=90)
    assert "does not count: cannot connect to 127.0.0.1:" in progress
    assert "the server does not come back" in progress
    said = " ".join(shown.split())
    assert "he server no longer accepts connections " in said
    assert "generator was the limit" not in said
    assert "generator" not in said.partition(" achieved ")[0]  # the table has columns for it

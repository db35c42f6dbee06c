"""`jostle hit` against reference servers: whole path, real sockets."""

import json
import signal
from pathlib import Path

import pytest

from support.handlers import Handler, serving
from support.real import Jostle, as_json, jostle_running, recorded, reference_server


def outcomes(result: dict) -> dict[str, int]:
    return result["trials"][0]["outcomes"]


def test_exactly_the_requests_asked_for_are_sent(jostle_command: Jostle, null_server: str) -> None:
    result = as_json(jostle_command("hit", null_server, "-n", "1000", "-c", "7", "--json"))
    assert outcomes(result) == {"ok": 1000}
    assert result["folder"] == "", "the record was not kept"


@pytest.mark.parametrize("words", [["-n", "1"], ["-n", "1", "--expect", "never said"]])
def test_the_json_of_one_request_is_strict(
    jostle_command: Jostle, null_server: str, words: list[str]
) -> None:
    """Statistics of one value, or of none, are no NaN, which JSON does not know."""

    def refused(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    result = json.loads(jostle_command("hit", null_server, *words, "--json").stdout, parse_constant=refused)
    assert sum(outcomes(result).values()) == 1


def test_the_table_starts_with_the_verdict(jostle_command: Jostle, null_server: str) -> None:
    finished = jostle_command("hit", null_server, "-d", "1s", "-c", "2")
    assert finished.returncode in (0, 3), finished.stderr
    first = next(line for line in finished.stdout.splitlines() if line.strip())
    assert first.split()[1] in ("valid", "suspect", "invalid")
    assert "\x1b" not in finished.stdout
    assert max(len(line) for line in finished.stdout.splitlines()) <= 80


def test_open_loop_offers_the_rate_asked_for(jostle_command: Jostle, null_server: str) -> None:
    result = as_json(
        jostle_command("hit", null_server, "--rate", "500/s", "-d", "2s", "--json", "--seed", "3")
    )
    trial = result["trials"][0]
    assert trial["offered_per_s"] == pytest.approx(500, rel=0.15)  # 1,000 Poisson arrivals: one in 30 off
    ended_by_stop = {"never_sent", "unfinished"}  # where the machine stands still at the end
    assert set(outcomes(result)) <= {"ok"} | ended_by_stop
    assert outcomes(result)["ok"] > 500


def test_the_same_seed_offers_the_same_arrivals(jostle_command: Jostle, null_server: str) -> None:
    def due() -> int:
        result = as_json(
            jostle_command("hit", null_server, "--rate", "300/s", "-d", "1s", "--json", "--seed", "11")
        )
        return sum(outcomes(result).values())

    assert due() == due()


def test_service_times_of_a_known_server_are_seen(jostle_command: Jostle) -> None:
    """One client and 20 ms of service: nothing can be faster, and with one client nothing waits."""
    with reference_server("run-to-completion") as url:
        result = as_json(jostle_command("hit", f"{url}/work?us=20000", "-c", "1", "-n", "30", "--json"))
    median = result["trials"][0]["service"]["p50"]["value"]
    assert 0.020 <= median < 0.040


def test_a_wrong_response_is_counted_and_makes_the_run_invalid(
    jostle_command: Jostle, null_server: str
) -> None:
    finished = jostle_command("hit", null_server, "-n", "50", "--expect", "never said", "--json")
    result = as_json(finished)
    assert outcomes(result) == {"wrong_body": 50}
    assert result["verdict"] == "invalid"
    assert finished.returncode == 3


def test_wrong_statuses_are_told_by_their_code(jostle_command: Jostle) -> None:
    with reference_server("hostile", "wrong-status") as url:
        said = jostle_command("hit", url, "-n", "20", "-c", "2")
        result = as_json(jostle_command("hit", url, "-n", "20", "-c", "2", "--json"))
    (summary,) = result["summaries"]
    assert summary["outcomes"] == {"wrong_status": 20}
    assert summary["failures"] == {"wrong_status": {"500": 20}}
    assert "20 wrong status (20 × 500)" in said.stdout
    assert "100 % failed: 20 × 500" in said.stdout


@pytest.mark.parametrize("keepalive", ["--keepalive", "--no-keepalive"])
def test_every_request_is_accounted_for(jostle_command: Jostle, null_server: str, keepalive: str) -> None:
    result = as_json(jostle_command("hit", null_server, "-d", "1s", "-c", "8", keepalive, "--json"))
    # never sent: those that were connecting at the end
    assert set(outcomes(result)) <= {"ok", "unfinished", "never_sent"}
    assert outcomes(result)["ok"] > 100


class ClosesAsAsked(Handler):
    """Closes the connection if the request says so, and does not say so itself."""

    def do_GET(self) -> None:
        self.response(200, "bye")


def test_nothing_is_sent_on_a_connection_after_a_request_that_says_it_is_the_last(
    jostle_command: Jostle,
) -> None:
    """RFC 9112 section 9.6."""
    with serving(ClosesAsAsked) as url:
        options = ["-H", "Connection: close", "-c", "4", "-n", "200", "--json"]
        result = as_json(jostle_command("hit", url, *options))
    assert outcomes(result) == {"ok": 200}
    assert result["summaries"][0]["parts"]["connect"]["p50"]["n"] == 200


def test_a_server_that_never_answers_gives_timeouts_not_silence(jostle_command: Jostle) -> None:
    with reference_server("hostile", "never-answers") as url:
        finished = jostle_command("hit", url, "-c", "3", "-n", "3", "--timeout", "1s", "--json")
    result = as_json(finished)
    assert finished.returncode == 3, "nothing was answered"
    assert outcomes(result) == {"response_timeout": 3}
    assert result["verdict"] != "valid"


def test_ctrl_c_shows_what_was_measured(null_server: str, tmp_path: Path) -> None:
    options = ["-d", "60s", "--json", "--into", "saved"]
    with jostle_running("hit", null_server, *options, cwd=tmp_path) as jostle:
        recorded(tmp_path / "saved")
        jostle.send_signal(signal.SIGINT)
        out, err = jostle.communicate(timeout=20)
    result = json.loads(out)
    assert not result["complete"], err
    assert outcomes(result)["ok"] > 100
    assert jostle.returncode == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["http://127.0.0.1:1/"], "127.0.0.1:1"),
        (["http://no-such-host.invalid/"], "no-such-host.invalid"),
        (["ftp://127.0.0.1/"], "ftp"),
        (["http://127.0.0.1:{port}/", "-c", "0"], "-c: zero"),
        (["http://127.0.0.1:{port}/", "-d", "tomorrow"], "tomorrow"),
        (["http://127.0.0.1:{port}/", "--rate", "fast"], "fast"),
        (["http://127.0.0.1:{port}/", "-H", "no colon"], "no colon"),
        (["http://127.0.0.1:{port}/", "-c", "1000000"], "open files"),
        (["http://127.0.0.1:{port}/", "--frobnicate"], "--frobnicate"),
        (["http://127.0.0.1:{port}/", "--into", "/dev/null/here"], "/dev/null/here"),
    ],
)
def test_a_mistake_gets_one_clear_message(
    jostle_command: Jostle, null_server: str, arguments: list[str], says: str
) -> None:
    port = null_server.rpartition(":")[2]
    finished = jostle_command("hit", *(argument.replace("{port}", port) for argument in arguments))
    assert finished.returncode == 2, finished.stderr
    assert says in finished.stderr
    assert "Traceback" not in finished.stderr


class Redirecting(Handler):
    """`/` leads to `/end`, and `/away` to a host that nobody allowed."""

    def do_GET(self) -> None:
        to = {"/": "end", "/away": "http://example.invalid/"}.get(self.path)
        self.response(302 if to else 200, headers={"Location": to} if to else None)


def test_redirects_are_followed_and_count_by_themselves(jostle_command: Jostle) -> None:
    with serving(Redirecting) as url:
        followed = as_json(jostle_command("hit", url, "-n", "10", "-c", "2", "-L", "--json"))
        refused = as_json(jostle_command("hit", f"{url}/away", "-n", "10", "-c", "2", "-L", "--json"))
    assert outcomes(followed) == {"ok": 20}
    assert any("10 redirects were followed" in note for note in followed["notes"])
    assert outcomes(refused) == {"redirect_failed": 10}
    assert any("to http://example.invalid, which may not be loaded" in why for why in refused["reasons"])

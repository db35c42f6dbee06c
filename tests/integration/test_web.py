"""The real page over HTTP: what it answers to whom, and that it stays beside what is measured."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from jostle.web.events import MAX_VIEWERS
from support.real import SILENTLY, Jostle, jostle_running, recorded, reference_server
from support.synthetic import Trial, closed, lognormal, make_run
from support.waiting import eventually
from support.web import Served, get, newest, posted, watching, web


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    base = tmp_path_factory.mktemp("runs")
    trials = [Trial("a", "w", number, closed(lognormal(0.004, 0.5), 5.0, clients=4)) for number in (1, 2)]
    run = make_run(base, trials)
    with web(base) as served:
        yield served, run.name


def test_runs_are_listed_and_open_as_reports(finished: tuple[Served, str]) -> None:
    served, run = finished
    status, headers, text = get(served, "/runs")
    assert status == 200
    assert f'<a href="/runs/{run}">' in text
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    status, headers, text = get(served, f"/runs/{run}/report")
    assert status == 200
    assert "vegaEmbed" in text
    assert headers["content-security-policy"].startswith("sandbox allow-scripts")


def test_the_stream_of_a_finished_run_has_all_of_its_figures(finished: tuple[Served, str]) -> None:
    served, run = finished
    with watching(served, f"/runs/{run}/events?trial=1") as events:
        state = json.loads(next(events)["data"])
        while "trial" not in state:
            state |= json.loads(next(events)["data"])
    assert state["run"]["status"] == "ended"
    assert [place["round"] for place in state["run"]["trials"]] == [1, 2]
    assert state["trial"]["number"] == 1
    assert sum(column["outcomes"]["ok"] for column in state["columns"]["columns"]) > 100


def test_who_returns_gets_what_came_since(finished: tuple[Served, str]) -> None:
    served, run = finished
    with watching(served, f"/runs/{run}/events?trial=2") as events:
        shown: dict[str, Any] = {}
        while "columns" not in shown or not shown["run"]["final"]:
            event = next(events)
            shown |= json.loads(event["data"])
    known, trial, attempt, each, *_ = event["id"].split(".")
    place = {"Last-Event-ID": ".".join([known, trial, attempt, each, "3", "1", "0"])}
    for number, begin in ((2, 3), (1, 0)):
        with watching(served, f"/runs/{run}/events?trial={number}", place) as again:
            message = json.loads(next(again)["data"])
            while "columns" not in message:
                message = json.loads(next(again)["data"])
        assert message["columns"]["begin"] == begin, "another trial is told from its beginning"
        assert "run" not in message


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/runs/nothing", 404),
        ("/runs/nothing/events", 404),
        ("/runs/..%2f..%2fetc/report", 404),
        ("/runs/%2e%2e/report", 404),
        ("/static/..%2fapp.py", 404),
        ("/static/nothing.js", 404),
        ("/nothing", 404),
    ],
)
def test_there_is_nothing_else(finished: tuple[Served, str], path: str, status: int) -> None:
    served, _ = finished
    assert get(served, path)[0] == status


def test_strangers_are_refused(finished: tuple[Served, str]) -> None:
    served, run = finished
    assert get(served, "/runs", {"Host": "evil.example"})[0] == 421
    assert get(served, "/runs", {"Sec-Fetch-Site": "cross-site"})[0] == 403
    status, headers, text = get(served, f"/runs/{run}", {"Jostle-Token": "wrong"}, "POST")
    assert (status, text) == (401, "")
    assert "content-security-policy" in headers


def test_one_viewer_too_many_is_told_so(finished: tuple[Served, str]) -> None:
    served, run = finished
    path = f"/runs/{run}/events"
    with contextlib.ExitStack() as stack:
        for _ in range(MAX_VIEWERS):
            next(stack.enter_context(watching(served, path)))
        status, _, text = get(served, path)
        assert status == 503
        assert text == "32 viewers watch already. Close one of their tabs, then reload this page.\n"
    eventually(lambda: get_status(served, path) == 200, "who has left still counts")


def get_status(served: Served, path: str) -> int:
    """Of a stream, which has no end."""
    connection = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", path)
        return connection.getresponse().status


def test_a_page_steps_back(finished: tuple[Served, str]) -> None:
    assert os.getpriority(os.PRIO_PROCESS, finished[0].pid) >= 10


def test_a_taken_port_is_told(jostle_command: Jostle, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = jostle_command("web", tmp_path, "--port", str(port))
    assert said.returncode == 2
    assert said.stderr.startswith(f"jostle: port {port} is taken\n")


def test_others_connect_with_token_and_tls_only(jostle_command: Jostle, tmp_path: Path) -> None:
    said = jostle_command("web", tmp_path, "--listen", "127.0.0.1")
    assert said.returncode == 2
    assert "it needs a certificate: --cert PEM --key PEM" in said.stderr
    assert "openssl req" in said.stderr
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    making = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    subprocess.run([*making, "-keyout", key, "-out", cert], check=True, capture_output=True)
    swapped = jostle_command("web", tmp_path, "--listen", "127.0.0.1", "--cert", key, "--key", cert)
    assert swapped.returncode == 2
    assert "Traceback" not in swapped.stderr
    with web(tmp_path, "--listen", "127.0.0.1", "--cert", cert, "--key", key) as served:
        assert served.url.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=str(cert))
        connection = http.client.HTTPSConnection(urlsplit(served.url).netloc, timeout=60, context=trusted)
        connection.request("GET", "/runs")
        refused = connection.getresponse()
        assert (refused.status, refused.read()) == (401, b"")


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    with jostle_running("web", tmp_path, "--port", "0") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert errors == ""


def test_a_load_is_followed_while_it_is_sent(tmp_path: Path) -> None:
    with (
        reference_server("workers") as url,
        jostle_running("hit", f"{url}/work?us=1000", "-d", "60s", "--into", tmp_path, **SILENTLY) as load,
        web(tmp_path) as served,
    ):
        recorded(tmp_path, 2_000)
        status, headers, _ = get(served, "/live")
        assert status == 303
        with watching(served, f"{headers['location']}/events") as events:
            over = []
            while len(over) < 3:
                message = json.loads(next(events)["data"])
                if "trial" in message:
                    over.append(message["trial"]["over_s"])
            assert over == sorted(set(over))
            load.kill()
            message = {}
            while "run" not in message or message["run"]["status"] == "running":
                message = json.loads(next(events)["data"])
            assert message["run"]["status"] == "killed"


@contextlib.contextmanager
def beside(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], Served]]:
    """`jostle … --web`, and its page."""
    with jostle_running(*arguments, "--web") as process:
        assert process.stderr is not None
        found = re.fullmatch(r"page        (\S+)/live#token=(\S+)\n", process.stderr.readline())
        assert found
        yield process, Served(found[1], found[2], 0)


def is_served(served: Served) -> bool:
    try:
        return get(served, "/runs")[0] == 200
    except ConnectionError:
        return False


def test_a_page_beside_a_load_tells_how_it_ended_and_ends_with_it(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    with (
        reference_server("workers") as url,
        beside("hit", f"{url}/work?us=1000", "-c", "4", "-d", "20s", "-o", result) as (load, served),
        watching(served, f"{newest(served)}/events") as events,
    ):
        (page,) = Path(f"/proc/{load.pid}/task/{load.pid}/children").read_text().split()
        idle = os.sched_getscheduler(int(page)) == os.SCHED_IDLE
        assert idle or os.sched_getaffinity(int(page)) == os.sched_getaffinity(0), "or it was starved"
        seen: dict[str, Any] = {}
        for event in events:
            seen |= json.loads(event["data"])
        _, errors = load.communicate(timeout=60)
        assert load.returncode in (0, 3), errors
        assert not is_served(served)
    (trial,) = json.loads(result.read_text())["trials"]
    assert seen["run"]["status"] == "ended"
    assert seen["run"]["trials"][0]["verdict"]["word"] == trial["validity"]["verdict"]
    assert seen["trial"]["over_s"] == trial["duration_s"]
    (ok,) = [one["count"] for one in seen["trial"]["outcomes"] if one["kind"] == "ok"]
    assert ok == f"{trial['outcomes']['ok']:,}"


def test_a_page_ends_with_a_command_that_is_killed(tmp_path: Path) -> None:
    with (
        reference_server("workers") as url,
        beside("hit", f"{url}/work?us=1000", "-d", "60s", "--into", tmp_path) as (load, served),
        watching(served, f"{newest(served)}/events") as events,
    ):
        next(events)
        load.kill()
        messages = [json.loads(event["data"]) for event in events]
        eventually(lambda: not is_served(served), "the page is served to nobody")
    assert [message["run"]["status"] for message in messages if "run" in message][-1] == "killed"


def test_a_run_whose_folder_goes_away_is_told_so(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    with (
        reference_server("workers") as url,
        jostle_running("hit", f"{url}/work?us=1000", "-d", "60s", "--into", runs, **SILENTLY),
        web(runs) as served,
    ):
        recorded(runs, 2_000)
        with watching(served, f"{newest(served)}/events") as events:
            next(events)
            shutil.rmtree(runs)
            messages = (json.loads(event["data"]) for event in events)
            assert next(message for message in messages if "run" in message)["run"]["status"] == "gone"
        assert get(served, "/runs")[0] == 200


def changed(served: Served, path: str, content: bytes, token: str | None = None) -> tuple[int, str]:
    """The response to a change, and what it says."""
    status, text = posted(served, path, content, token)
    return status, json.loads(text)["said"] if text.startswith("{") else text


def test_a_load_is_changed_by_who_has_the_token(tmp_path: Path) -> None:
    with (
        reference_server("workers") as url,
        jostle_running(
            "hit", f"{url}/work?us=1000", "--rate", "100/s", "-d", "60s", "--into", tmp_path, **SILENTLY
        ),
        web(tmp_path) as served,
    ):
        recorded(tmp_path, 2_000)
        run = newest(served)
        assert changed(served, f"{run}/steer", b'{"change": "rate=200/s"}', "wrong") == (401, "")
        status, said = changed(served, f"{run}/steer", b'{"change": "rate=200/s"}')
        assert status == 200, said
        assert "200/s from" in said
        with watching(served, f"{run}/events") as events:
            messages = (json.loads(event["data"]) for event in events)
            steered = next(m["trial"]["steered"] for m in messages if m.get("trial", {}).get("steered"))
        assert steered[0]["what"] == "200/s"
        assert changed(served, f"{run}/steer", b'{"change": "rate=fast"}')[0] == 409


def test_what_is_posted_and_is_no_change_is_told_so(finished: tuple[Served, str]) -> None:
    served, run = finished
    what_it_is = 'This must be JSON: {"change": "…"}\n'
    for content in (b"", b"{}", b"faster", b'{"change": 3}', b"[" * 999):
        assert changed(served, f"/runs/{run}/steer", content) == (400, what_it_is)
    too_long = (413, "This is too long: 1.00 kB are allowed.\n")
    assert changed(served, f"/runs/{run}/steer", b"x" * 1_001) == too_long
    for path in ("/start", "/start/check"):
        assert changed(served, path, b'{"plan": []}') == (400, 'This must be JSON: {"plan": "…"}\n')
    assert changed(served, "/start/plan", b'{"form": "x"}') == (400, 'This must be JSON: {"form": {…}}\n')
    assert changed(served, "/start/check", b"x" * 1_000_000) == (
        413,
        "This is too long: 400 kB are allowed.\n",
    )


def test_a_run_is_stopped_by_who_has_the_token(tmp_path: Path) -> None:
    with (
        reference_server("workers") as url,
        beside("hit", f"{url}/work?us=1000", "--rate", "100/s", "-d", "5m", "--into", tmp_path) as (
            load,
            served,
        ),
    ):
        run = newest(served)
        with watching(served, f"{run}/events") as events:
            next(events)
            assert changed(served, f"{run}/stop", b"", "wrong") == (401, "")
            assert changed(served, f"{run}/stop", b"") == (
                200,
                "The run stops. What was measured is reported.",
            )
            messages = [json.loads(event["data"]) for event in events]
        out, errors = load.communicate(timeout=60)
    last = [message["run"] for message in messages if "run" in message][-1]
    assert (last["status"], last["why"]) == ("stopped", "stopped by the user")
    assert last["journal"][-1]["text"] == "The run stopped: stopped by the user"
    assert "stopped" in out + errors
    assert "Traceback" not in errors


def test_a_load_that_is_over_is_not_changed(finished: tuple[Served, str]) -> None:
    served, run = finished
    status, said = changed(served, f"/runs/{run}/steer", b'{"change": "x2"}')
    assert status == 409
    assert "is over: it can be neither changed nor stopped any more" in said
    assert changed(served, f"/runs/{run}/stop", b"") == (409, said)

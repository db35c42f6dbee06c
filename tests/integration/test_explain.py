"""`jostle explain` against servers whose behaviour is known: the whole path, real sockets.

A busy machine may keep it from telling; what it must never do is to tell something else.
"""

import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from jostle.explain.limits import THOROUGH, Budget
from jostle.explain.run import target_of
from jostle.explain.schema import explanation_schema
from jostle.explain.send import Due, EngineSender
from jostle.explain.target import Route
from support.real import Jostle, as_json, reference_server

SIZES = ["--slow", "/work?us=16000", "--slow", "/work?us=8000", "--slow", "/work?us=4000"]


def explain(jostle_command: Jostle, *arguments: str) -> dict[str, Any]:
    """What is said of it as JSON, which has its form."""
    found = as_json(
        jostle_command("explain", *arguments, "--thorough", "--budget", "20s", "-q", "--json", timeout=240)
    )
    jsonschema.validate(found, explanation_schema())
    return found


def said(explanation: dict[str, Any], topic: str) -> dict[str, Any]:
    return next(finding for finding in explanation["findings"] if finding["topic"] == topic)


@pytest.mark.parametrize(("options", "protocol"), [((), "HTTP/1.1"), (("--http2",), "HTTP/2")])
def test_four_workers_are_found_and_nothing_else_is_said(
    jostle_command: Jostle, options: tuple[str, ...], protocol: str
) -> None:
    with reference_server("workers", "--workers", "4") as url:
        explanation = explain(jostle_command, f"{url}/hello", *SIZES, "--wait", "/sleep?ms=50", *options)
    assert explanation["protocol"] == protocol
    discipline, at_once = said(explanation, "discipline"), said(explanation, "parallelism")
    assert discipline["says"] == "Four workers, first come, first served." or not discipline["decided"]
    if at_once["decided"]:
        (figure,) = at_once["figures"]
        assert figure["figure"]["low"] <= 4 <= (figure["figure"]["high"] or 4)
    assert said(explanation, "slots for waiting requests")["says"].startswith(("At least ", "Cannot tell"))
    assert said(explanation, "queue limit")["reason"] == "it was not asked for"
    assert len(explanation["bursts"]) > 20
    assert explanation["connections"] <= 64


def test_a_contestant_is_started_and_explained(jostle_command: Jostle) -> None:
    explanation = explain(jostle_command, "node")
    discipline = said(explanation, "discipline")
    assert discipline["says"] == "One worker, first come, first served." or not discipline["decided"]
    assert said(explanation, "slots for waiting requests")["says"].startswith(("At least ", "Cannot tell"))
    assert "waits for most" not in said(explanation, "CPU or waiting")["says"]


def test_a_burst_is_sent_at_its_times_on_connections_that_are_open() -> None:
    """Two at once, and one 30 ms later on the first connection; what opened them does not count."""
    budget = Budget(THOROUGH)
    with reference_server("workers", "--workers", "2") as url, target_of(url) as target:
        (slow, fast) = (Route("/work?us=10000", "slow"), Route("/hello", "fast"))
        due = [Due(0.0, slow, 0), Due(0.0, slow, 1), Due(0.030, fast, 0)]
        answers = EngineSender(target, budget, timeout_s=5.0).burst(due, fast, 0.001)
    assert [(answer.route, answer.connection) for answer in answers] == [
        (slow.path, 0), (slow.path, 1), (fast.path, 0),
    ]  # fmt: skip
    assert [answer.due_s for answer in answers] == pytest.approx([0.0, 0.0, 0.030], abs=1e-6)
    for answer in answers:
        assert answer.ok
        assert answer.sent_s is not None
        assert answer.due_s <= answer.sent_s
    assert all(answer.service_s is not None and answer.service_s >= 0.010 for answer in answers[:2])
    assert (budget.requests, budget.connections) == (5, 2)


@pytest.mark.parametrize(
    ("path", "word"),
    [("/nothing-of-that-name", "answers 404"), ("/slow/x", "answers 400")],
)
def test_an_error_is_no_server_to_explain(jostle_command: Jostle, path: str, word: str) -> None:
    with reference_server("workers") as url:
        finished = jostle_command("explain", f"{url}{path}", "--json")
    refused(finished, word)


@pytest.mark.parametrize("scheme", ["ws", "wss", "tcp", "udp", "grpc", "grpcs"])
def test_what_is_not_asked_in_http_is_refused_before_anything_is_sent(
    jostle_command: Jostle, scheme: str
) -> None:
    finished = jostle_command("explain", f"{scheme}://127.0.0.1:1/a.B/C")
    assert finished.returncode == 2
    assert "explain asks over HTTP/1.1 and HTTP/2 only" in finished.stderr
    assert "write http:// or https://" in finished.stderr


def test_a_server_that_is_down_gets_a_message(jostle_command: Jostle) -> None:
    refused(jostle_command("explain", "http://127.0.0.1:1/"), "cannot connect to 127.0.0.1:1")
    refused(jostle_command("explain", "nodee"), "there is no contestant 'nodee'")


def test_a_server_that_does_not_speak_http2_is_not_asked_in_it(jostle_command: Jostle) -> None:
    refused(jostle_command("explain", "node", "--http2"), "node speaks HTTP/1.1")
    with reference_server("hostile", "close-after-accept") as url:
        refused(jostle_command("explain", f"{url}/", "--http2"), f"no answer from {url} to GET /")


def refused(finished: subprocess.CompletedProcess[str], word: str) -> None:
    """One message, no traceback, no figure."""
    assert finished.returncode == 2, finished.stderr
    assert finished.stdout == ""
    assert word in finished.stderr
    assert "Traceback" not in finished.stderr


def test_a_page_and_a_record_are_kept(jostle_command: Jostle, null_server: str, tmp_path: Path) -> None:
    finished = jostle_command(
        "explain", f"{null_server}/", "--budget", "20s", "-q", "--save", tmp_path / "kept"
    )
    assert finished.returncode == 0, finished.stderr
    assert max(map(len, finished.stdout.splitlines())) <= 80
    (folder,) = (tmp_path / "kept").iterdir()
    assert {file.name for file in folder.iterdir()} == {"explanation.json", "explain.html"}

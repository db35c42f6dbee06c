"""`jostle explain` over every protocol that it speaks: the whole path, real sockets.

What it tells of a discipline is tested on servers without noise (tests/unit/test_explain_discipline.py): what
runs beside these would keep it from telling.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from docs.explanation_schema import explanation_schema
from jostle.explain.run import target_of
from jostle.explain.send import Due, EngineSender
from jostle.explain.server.limits import THOROUGH, Budget
from jostle.explain.server.target import Route
from support.real import REFERENCE_PROTO, Jostle, as_json, reference_server

BUDGET = "20s"
SIZES = ["--slow", "/work?us=16000", "--slow", "/work?us=8000", "--slow", "/work?us=4000"]


def explain(jostle_command: Jostle, *arguments: str) -> dict[str, Any]:
    """What is said of it as JSON, which has its form."""
    found = as_json(
        jostle_command("explain", *arguments, "--thorough", "--budget", BUDGET, "-q", "--json", timeout=240)
    )
    jsonschema.validate(found, explanation_schema())
    return found


def said(explanation: dict[str, Any], topic: str) -> dict[str, Any]:
    return next(finding for finding in explanation["findings"] if finding["topic"] == topic)


@pytest.mark.alone
@pytest.mark.timeout(800)
def test_where_nothing_else_runs_four_workers_are_told(jostle_command: Jostle) -> None:
    """Where the machine stands still it cannot tell; what it tells is never wrong."""

    def told() -> bool:
        explanation = explain(jostle_command, f"{url}/hello", *SIZES, "--budget", "20s")
        discipline, at_once = said(explanation, "order of service"), said(explanation, "requests at once")
        if discipline["decided"]:
            assert discipline["says"] == "Four workers, first come, first served."
        if at_once["decided"]:
            (figure,) = at_once["figures"]
            assert figure["figure"]["low"] <= 4 <= (figure["figure"]["high"] or 4)
        return bool(discipline["decided"] and at_once["decided"])

    with reference_server("workers", "--workers", "4") as url:
        assert any(told() for _ in range(3))


def test_every_probe_says_something_over_http2(jostle_command: Jostle) -> None:
    with reference_server("workers", "--workers", "4") as url:
        explanation = explain(jostle_command, f"{url}/hello", *SIZES, "--wait", "/sleep?ms=50", "--http2")
    assert explanation["protocol"] == "HTTP/2"
    assert {finding["topic"] for finding in explanation["findings"]} >= HEADLESS
    assert said(explanation, "queue limit")["reason"] == "it was not asked for"
    assert [route["path"] for route in explanation["routes"]] == ["/hello", *SIZES[1::2], "/sleep?ms=50"]
    assert len(explanation["bursts"]) >= 4
    assert explanation["connections"] <= 64


def test_a_contestant_is_started_and_explained_with_a_page_and_a_record(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    finished = jostle_command("explain", "node", "--budget", BUDGET, "-q", "--into", kept, timeout=240)
    assert finished.returncode == 0, finished.stderr
    assert max(map(len, finished.stdout.splitlines())) <= 80
    (folder,) = kept.iterdir()
    assert {file.name for file in folder.iterdir()} == {"explanation.json", "explain.html"}
    explanation = json.loads((folder / "explanation.json").read_text(encoding="utf-8"))
    assert explanation["protocol"] == "HTTP/1.1"
    assert {route["path"].split("/")[1] for route in explanation["routes"]} >= {"count", "fast"}


def test_a_contestant_that_speaks_grpc_is_asked_as_its_service_says() -> None:
    """A call that is answered at once, and one whose second message comes 100 ms after the first."""
    with target_of("go-grpc") as target:
        sender = EngineSender(target, Budget(THOROUGH), timeout_s=5.0)
        times = {route.role: sender.serial(route, 3, 0.0) for route in target.routes}
    assert target.protocol == "gRPC"
    assert list(times) == ["fast", "wait"]
    assert all(response.ok for responses in times.values() for response in responses)
    assert all(response.service_s is not None and response.service_s >= 0.1 for response in times["wait"])


def test_a_burst_is_sent_at_its_times_on_connections_that_are_open() -> None:
    """Two at once, and one 30 ms later on the first connection; what opened them does not count."""
    budget = Budget(THOROUGH)
    with reference_server("workers", "--workers", "2") as url, target_of(url) as target:
        (slow, fast) = (Route("/work?us=10000", "slow"), Route("/hello", "fast"))
        due = [Due(0.0, slow, 0), Due(0.0, slow, 1), Due(0.030, fast, 0)]
        responses = EngineSender(target, budget, timeout_s=5.0).burst(due, fast, 0.001)
    assert [(response.route, response.connection) for response in responses] == [
        (slow.path, 0), (slow.path, 1), (fast.path, 0),
    ]  # fmt: skip
    assert [response.due_s for response in responses] == pytest.approx([0.0, 0.0, 0.030], abs=1e-6)
    for response in responses:
        assert response.ok
        assert response.sent_s is not None
        assert response.due_s <= response.sent_s
    assert all(response.service_s is not None and response.service_s >= 0.010 for response in responses[:2])
    assert (budget.requests, budget.connections) == (5, 2)


@pytest.mark.parametrize(
    ("path", "word"),
    [("/nothing-of-that-name", "answers 404"), ("/slow/x", "answers 400")],
)
def test_an_error_is_no_server_to_explain(jostle_command: Jostle, path: str, word: str) -> None:
    with reference_server("workers") as url:
        finished = jostle_command("explain", f"{url}{path}", "--json")
    refused(finished, word)


TURN = "GET {} HTTP/1.1\\r\\nHost: here\\r\\n\\r\\n"
"""A request of HTTP as bytes to send, with escapes."""

HEADLESS = {"delay between head and body", "cache", "intermediary"}
"""Topics of HTTP alone."""


def test_requests_over_bare_tcp_are_explained(jostle_command: Jostle) -> None:
    """HTTP written by hand, so that the server is one whose workers are known."""
    with reference_server("workers", "--workers", "4") as url:
        explanation = explain(
            jostle_command,
            url.replace("http:", "tcp:"),
            *("--send", TURN.format("/fast/44"), "--until", r"regex:\r\n\r\n[0-9]+"),
            *("--slow", TURN.format("/work?us=16000"), "--slow", TURN.format("/work?us=4000")),
        )
    assert explanation["protocol"] == "TCP"
    assert explanation["routes"][0]["path"] == f"'{TURN.format('/fast/44')}'"
    topics = {finding["topic"] for finding in explanation["findings"]}
    assert {"order of service", "keep-alive"} <= topics
    assert not HEADLESS & topics


def test_a_call_and_one_that_takes_longer_are_explained(jostle_command: Jostle) -> None:
    """Every call is served by itself; a stream of four messages in 120 ms is one call of 120 ms.

    So long, that the waits for a busy machine's processor are short beside it.
    """
    with reference_server("grpc") as url:
        explanation = explain(
            jostle_command,
            url.replace("http:", "grpc:") + "/jostle.Echo/Say",
            *("--proto", REFERENCE_PROTO, "--message", '{"text": "a"}', "-H", "schedule: n=4&gap-ms=40"),
            *("--slow", "jostle.Echo/Repeat", "--slow", '{"text": "b"}'),
        )
    short, long, other = explanation["routes"]
    assert explanation["protocol"] == "gRPC"
    assert short["path"] == 'jostle.Echo/Say {"text": "a"}'
    assert other["path"] == 'jostle.Echo/Say {"text": "b"}'
    assert long["service_s"] >= 0.12
    assert short["service_s"] < long["service_s"]
    topics = {finding["topic"] for finding in explanation["findings"]}
    assert "who waits behind whom" in topics
    assert not HEADLESS & topics


@pytest.mark.parametrize(
    ("kind", "to", "protocol"),
    [
        (("websocket",), "ws:{}/echo?delay-ms=20", "WebSocket"),
        (("datagrams", "--delay-ms", "20"), "udp:{}", "UDP"),
    ],
)
def test_messages_are_explained(
    jostle_command: Jostle, kind: tuple[str, ...], to: str, protocol: str
) -> None:
    with reference_server(*kind) as url:
        explanation = explain(
            jostle_command, to.format(url.removeprefix("http:")), "--send", "one", "--slow", "another"
        )
    assert explanation["protocol"] == protocol
    assert [route["path"] for route in explanation["routes"]] == ["'one'", "'another'"]
    assert all(route["service_s"] >= 0.02 for route in explanation["routes"])
    topics = {finding["topic"] for finding in explanation["findings"]}
    assert "requests at once" in topics
    assert not HEADLESS & topics
    assert ("keep-alive" in topics) == (protocol != "UDP")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("grpc://{}/jostle.Echo/Sya", "--proto", str(REFERENCE_PROTO)), "did you mean 'jostle.Echo/Say'"),
        (
            ("grpc://{}/jostle.Echo/Say", "--proto", str(REFERENCE_PROTO), "--slow", "jostle.Echo/Repaet"),
            "Repeat",
        ),
        (("grpc://{}/jostle.Echo/Say", "--proto", str(REFERENCE_PROTO), "--slow", '{"txet": ""}'), "text"),
        (("tcp://{}", "--send", "x"), "until is missing"),
        (("ws://{}/nothing", "--send", "x"), "is not answered over WebSocket"),
        (("http://{}/", "--message", "{}"), "message is for gRPC"),
        (("node", "--send", "x"), "node is a contestant"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    jostle_command: Jostle, arguments: tuple[str, ...], word: str
) -> None:
    with reference_server("grpc") as url:
        to, *rest = arguments
        refused(jostle_command("explain", to.format(url.removeprefix("http://")), *rest), word)


def test_a_server_that_is_down_gets_a_message(jostle_command: Jostle) -> None:
    refused(jostle_command("explain", "http://127.0.0.1:1/"), "cannot connect to 127.0.0.1:1")
    refused(jostle_command("explain", "nodee"), "there is no contestant 'nodee'")


def test_a_server_that_does_not_speak_http2_is_not_asked_in_it(jostle_command: Jostle) -> None:
    refused(jostle_command("explain", "node", "--http2"), "node speaks HTTP/1.1")
    with reference_server("hostile", "close-after-accept") as url:
        refused(jostle_command("explain", f"{url}/", "--http2"), f"no response from {url} to GET /")


def refused(finished: subprocess.CompletedProcess[str], word: str) -> None:
    """One message, no traceback, no figure."""
    assert finished.returncode == 2, finished.stderr
    assert finished.stdout == ""
    assert word in finished.stderr
    assert "Traceback" not in finished.stderr

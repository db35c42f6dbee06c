"""Streams of events from a server whose schedule is known: what jostle reports, and how they fail."""

import contextlib
import json
import os
import queue
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from support.handlers import Handler, serving
from support.real import Jostle, as_json, jostle_running, reference_server
from support.waiting import eventually


@pytest.fixture(scope="module")
def events() -> Iterator[str]:
    with reference_server("events") as url:
        yield f"{url}/events"


def stream(result: dict[str, Any]) -> dict[str, Any]:
    (found,) = result["streams"]
    return dict(found)


def outcomes(result: dict[str, Any]) -> dict[str, int]:
    return dict(result["trials"][0]["outcomes"])


class Commenting(Handler):
    """Sends an event, then comments that keep the connection alive, and never another event."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(b"data: 1\n\n")
            while True:
                self.wfile.write(b": still here\n\n")
                time.sleep(0.05)


def test_comments_do_not_make_a_stream_any_less_stalled(jostle_command: Jostle) -> None:
    with serving(Commenting) as url:
        options = ["--stream", "sse", "--stall", "300ms", "--timeout", "20s", "-c", "1", "-n", "1", "--json"]
        result = as_json(jostle_command("hit", url, *options))
    assert outcomes(result) == {"stream_stalled": 1}
    assert result["took_s"] < 10


@pytest.mark.parametrize("form", ["sse", "lines"])
def test_first_event_and_gaps_are_those_of_the_schedule(
    jostle_command: Jostle, events: str, form: str
) -> None:
    """The first event 30 ms after the request, seven more 100 ms apart: nothing can come earlier than that.

    Two generators, so that what they saw is added up.
    """
    url = f"{events}?n=8&first-ms=30&gap-ms=100&format={form}&until=[DONE]"
    options = ["--stream", form, "--stream-until", "[DONE]", "--stream-usage", '"event": (7)']
    options += ["--slo", "first event < 10 s, gap p50 < 1 ms", "--processes", "2"]
    result = as_json(jostle_command("hit", url, *options, "-c", "4", "-n", "24", "--json"))
    found = stream(result)
    assert outcomes(result) == {"ok": 24}
    assert (found["whole"], found["events"], found["broken_off"], found["none"]) == (24, 192, 0, 0)
    assert found["met"] == 0, "every gap is longer than 1 ms"
    assert 0.030 <= found["first"]["p50"]["value"] <= found["first"]["max"]["value"]
    assert found["gap"]["p50"]["value"] == pytest.approx(0.100, rel=0.25)
    assert found["last"]["p50"]["value"] >= 0.730
    assert found["longest_gap"]["p50"]["value"] >= found["gap"]["p50"]["value"]
    assert found["per_token"]["p50"]["value"] == pytest.approx(0.700 / 6, rel=0.25)
    assert result["summaries"][0]["parts"]["connect"]["p50"]["n"] == 4, (
        "the text that ends it frees its connection"
    )


HOW_IT_ENDS = [
    ("/events?n=3&gap-ms=2", {}, "ok", 3, ""),
    ("/events?n=1000000&gap-ms=2", {"events": 4}, "ok", 4, ""),
    ("/events?n=5&gap-ms=2&stall-after=2", {"stall": "500 ms"}, "stream_stalled", 2, "did not come in time"),
    ("/events?n=5&gap-ms=2&cut-after=2", {}, "closed_early", 2, ""),
    ("/events?n=2&gap-ms=2&cut-after=2", {}, "closed_early", 2, ""),
    ("/events?n=2&gap-ms=2", {"until": "[DONE]"}, "stream_ended", 2, "without the text"),
    ("/events?n=2&gap-ms=2", {"events": 3}, "stream_ended", 2, "before its last event"),
    ("/events?n=0", {}, "stream_ended", 0, "without an event"),
    ("/events?n=2&gap-ms=2&format=lines", {}, "no_stream", 0, "not text/event-stream"),
]
"""Path, the stream that is asked for, its outcome, how many events come, and why it is not whole."""


def test_each_step_of_a_journey_may_be_a_stream_and_says_what_it_lacks(
    jostle_command: Jostle, events: str, tmp_path: Path
) -> None:
    steps = [
        {"name": f"{number}", "get": path, "stream": wanted, "on-failure": "go-on"}
        for number, (path, wanted, *_) in enumerate(HOW_IT_ENDS)
    ]
    file = tmp_path / "watch.toml"
    file.write_text(tomli_w.dumps({"journey": {"watch": {"steps": steps}}}))
    url = events.removesuffix("/events")
    finished = jostle_command("hit", url, "--journey", str(file), "-c", "1", "-n", "3", "--json")
    result = as_json(finished)
    found = result["streams"]
    assert len(found) == len(HOW_IT_ENDS)
    for one, (path, _, outcome, number, _) in zip(found, HOW_IT_ENDS, strict=True):
        whole, begun = outcome == "ok", number > 0
        assert (one["whole"], one["broken_off"], one["none"], one["events"]) == (
            3 * whole,
            3 * (begun and not whole),
            3 * (not begun),
            3 * number,
        ), path
    sent = result["journeys"][0]["steps"]
    assert [step["outcomes"] for step in sent] == [{outcome: 3} for _, _, outcome, _, _ in HOW_IT_ENDS]
    said = str(result["summaries"][0]["failures"])
    assert all(why in said for *_, why in HOW_IT_ENDS), said


class Bursty(Handler):
    """Server-sent events without a length, all in one write after 50 ms, as HTTP/1.0 sends them."""

    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "Text/Event-Stream; charset=utf-8")
        self.end_headers()
        time.sleep(0.05)
        self.wfile.write(b": hello\n\ndata: 1\n\nevent: x\r\ndata: 2\r\n\r\ndata: 3\r\r")


def test_a_body_that_ends_with_its_connection_is_a_stream_and_the_terminal_shows_it(
    jostle_command: Jostle,
) -> None:
    with serving(Bursty) as url:
        finished = jostle_command("hit", f"{url}/", "--stream", "sse", "-c", "1", "-n", "4")
    lines = finished.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    shown = lines[lines.index("Streams of events") + 1 :]
    assert shown[0].split() == ["streams", "whole", "events/s"]
    assert shown[1].split()[:2] == ["4", "4"]
    first = next(line for line in shown if line.startswith("first event"))
    assert float(first.split()[2]) >= 50, "it holds them back for 50 ms"


STOPPED_S = 0.6
READ_S = 0.3
"""Until what was sent has been read: what is read at once has one time."""


class Stopping(Handler):
    """Two server-sent events; its client is stopped when the second one comes, and for a while afterwards."""

    protocol_version = "HTTP/1.0"
    clients: "queue.SimpleQueue[int]"
    """Whom to stop."""
    gaps: "queue.SimpleQueue[tuple[float, float]]"
    """Of each pair of events: the shortest and the longest that it can have been, s."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        client = self.clients.get(timeout=10)
        first = self.sent()
        time.sleep(READ_S)
        os.kill(client, signal.SIGSTOP)
        try:
            eventually(lambda: is_stopped(client))
            second = self.sent()
            self.gaps.put((second[0] - first[1], second[1] - first[0]))
            time.sleep(STOPPED_S)  # the fault itself: it takes as long as it takes
        finally:
            os.kill(client, signal.SIGCONT)
        time.sleep(READ_S)

    def sent(self) -> tuple[float, float]:
        """Just before and just after an event was sent."""
        before = time.monotonic()
        self.wfile.write(b"data: x\n\n")
        return before, time.monotonic()


def is_stopped(process: int) -> bool:
    threads = Path(f"/proc/{process}/task").glob("*/stat")
    return all(thread.read_text().rpartition(")")[2].split()[0] == "T" for thread in threads)


@pytest.mark.parametrize("secured", [False, True])
def test_an_event_came_when_it_came_and_not_when_it_was_read(tmp_path: Path, secured: bool) -> None:
    class StoppingOnce(Stopping):
        """For this test alone."""

        clients = queue.SimpleQueue()
        gaps = queue.SimpleQueue()

    options = ["-k", "--stream", "sse", "-c", "1", "-n", "1", "--json"]
    with (
        serving(StoppingOnce, tmp_path if secured else None) as url,
        jostle_running("hit", f"{url}/", *options) as jostle,
    ):
        StoppingOnce.clients.put(jostle.pid)
        output, complaints = jostle.communicate(timeout=60)
    assert output, complaints
    shortest, longest = StoppingOnce.gaps.get(timeout=10)
    gap = stream(json.loads(output))["gap"]["max"]["value"]
    rounding = 0.002
    assert shortest - rounding <= gap <= longest + rounding


class Model(Handler):
    """A language model: a role at once, three tokens after 60 ms, 20 ms apart; each third response fails."""

    protocol_version = "HTTP/1.0"
    served = 0

    def do_GET(self) -> None:
        type(self).served += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self._says('{"delta": {"role": "assistant", "content": ""}, "usage": {"completion_tokens": 0}}')
        time.sleep(0.06)
        for number in range(1, 4):
            time.sleep(0.02)
            told = {"delta": {"content": "so"}, "usage": {"completion_tokens": number}}
            self._says(json.dumps(told))
        if self.served % 3 == 0:
            self._says('{"error": {"message": "engine dead", "code": 500}}')
        self._says("[DONE]")

    def _says(self, data: str) -> None:
        self.wfile.write(f"data: {data}\n\n".encode())


def test_of_a_language_model_the_first_token_all_tokens_and_failures_are_told(jostle_command: Jostle) -> None:
    options = ["--stream", "sse", "--stream-until", "[DONE]", "--stream-first", "json:/delta/content"]
    options += ["--stream-usage", '"completion_tokens": *(\\d+)', "-c", "1", "-n", "6"]
    Model.served = 0
    with serving(Model) as url:
        result = as_json(jostle_command("hit", url, *options, "--json"))
    found = stream(result)
    assert outcomes(result) == {"ok": 4, "stream_error": 2}
    assert "engine dead" in str(result["summaries"][0]["failures"])
    assert (found["events"], found["whole"], found["broken_off"], found["without_tokens"]) == (18, 4, 2, 0)
    assert found["first"]["p50"]["value"] >= 0.08, "the role is no token"
    assert found["per_token"]["p50"]["n"] == 4

    Model.served = 0
    with serving(Model) as url:
        unlike = [*options[:-4], "-c", "1", "-n", "2", "--stream-usage", "no such thing (.)"]
        finished = jostle_command("hit", url, *unlike)
    assert "2 of 2 whole streams did not say how many tokens they had" in " ".join(finished.stdout.split())

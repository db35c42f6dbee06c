"""WebSockets to a server whose responses and schedule are known: what jostle reports, and how messages
fail."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.real import Jostle, as_json, reference_server


@pytest.fixture(scope="module")
def sockets() -> Iterator[str]:
    with reference_server("websocket") as url:
        yield url.replace("http://", "ws://")


def outcomes(result: dict[str, Any]) -> dict[str, int]:
    return dict(result["trials"][0]["outcomes"])


def test_a_message_comes_back_after_its_delay_and_its_socket_stays(
    jostle_command: Jostle, sockets: str
) -> None:
    """Two generators; before each response a ping, which has to be answered, and two other messages."""
    url = f"{sockets}/echo?delay-ms=20&ping=1&noise=2"
    options = ["--send", "hello", "--match", "echo", "-c", "4", "-n", "40", "--processes", "2", "--json"]
    result = as_json(jostle_command("hit", url, *options))
    assert outcomes(result) == {"ok": 40}
    summary = result["summaries"][0]
    assert summary["response"]["p50"]["value"] >= 0.020
    assert summary["parts"]["connect"]["p50"]["n"] == 4


def test_a_rate_is_kept_and_answers_are_checked(jostle_command: Jostle, sockets: str) -> None:
    url = f"{sockets}/echo"
    options = ["--send", '{"id": 7}', "--expect", '"id": 7', "-r", "200/s", "-n", "40", "--json"]
    assert outcomes(as_json(jostle_command("hit", url, *options))) == {"ok": 40}


def test_messages_that_are_pushed_have_the_gaps_of_the_schedule(jostle_command: Jostle, sockets: str) -> None:
    url = f"{sockets}/push?n=8&first-ms=30&gap-ms=20&until=bye"
    options = ["--stream", "messages", "--stream-until", "bye", "--no-keepalive", "-c", "4", "-n", "8"]
    result = as_json(jostle_command("hit", url, *options, "--json"))
    (found,) = result["streams"]
    assert outcomes(result) == {"ok": 8}
    assert (found["whole"], found["events"], found["broken_off"], found["none"]) == (8, 64, 0, 0)
    assert found["first"]["p50"]["value"] >= 0.030
    assert found["gap"]["p50"]["value"] == pytest.approx(0.020, rel=0.25)


def test_a_server_that_speaks_no_websocket_is_told_by_its_status(jostle_command: Jostle) -> None:
    with reference_server("null") as url:
        options = ["--send", "x", "-c", "1", "-n", "2"]
        finished = jostle_command("hit", url.replace("http://", "ws://"), *options)
    assert "answered the WebSocket handshake with status 200, not with 101" in " ".join(
        finished.stdout.split()
    )


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("/echo", ["--send", "x", "--think", "1s"]),
        ("/push?n=3&first-ms=1&gap-ms=500", ["--stream", "messages", "--no-keepalive"]),
    ],
)
def test_pings_have_round_trips_of_their_own(
    jostle_command: Jostle, sockets: str, path: str, options: list[str]
) -> None:
    """Two generators; pings are due while clients pause, and while they listen."""
    load = ["-c", "2", "-n", "4", "--processes", "2", "--ping", "300ms", "--json"]
    result = as_json(jostle_command("hit", sockets + path, *options, *load))
    assert outcomes(result) == {"ok": 4}
    (found,) = result["pings"]
    assert found["unanswered"] == 0
    assert found["sent"] - 2 <= found["answered"] <= found["sent"]
    assert found["answered"] >= 4
    assert found["round_trip"]["p50"]["value"] > 0


def test_a_pong_is_not_the_first_byte_of_a_response(jostle_command: Jostle, sockets: str) -> None:
    options = ["--stream", "messages", "-c", "2", "-n", "2"]
    options += ["--ping", "50ms", "--first-byte-timeout", "500ms"]
    result = as_json(jostle_command("hit", f"{sockets}/push?n=1&first-ms=4000", *options, "--json"))
    assert outcomes(result) == {"response_timeout": 2}
    assert result["summaries"][0]["failures"] == {
        "response_timeout": {"no byte of the response came in time": 2}
    }
    assert result["pings"][0]["answered"] > 0


def test_a_socket_whose_pings_get_no_response_is_given_up(jostle_command: Jostle, sockets: str) -> None:
    url = f"{sockets}/echo?pong=0&delay-ms=500"
    options = ["--send", "x", "-c", "2", "-n", "4", "--ping", "50ms"]
    result = as_json(jostle_command("hit", url, *options, "--json"))
    assert outcomes(result) == {"response_timeout": 4}
    (found,) = result["pings"]
    assert (found["answered"], found["unanswered"]) == (0, 4)
    said = " ".join(jostle_command("hit", url, *options).stdout.split())
    assert "the server did not answer a ping within 50ms" in said
    assert "Pings workload contestant pings answered unanswered" in said

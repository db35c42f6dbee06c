"""Raw bytes to servers whose responses are known: what jostle reports, and how exchanges fail."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.real import Jostle, as_json, reference_server


@pytest.fixture(scope="module")
def lines() -> Iterator[str]:
    with reference_server("lines", "--delay-ms", "20") as url:
        yield url.replace("http://", "tcp://")


def outcomes(result: dict[str, Any]) -> dict[str, int]:
    return dict(result["trials"][0]["outcomes"])


def test_a_response_comes_after_its_delay_and_its_connection_stays(
    jostle_command: Jostle, lines: str
) -> None:
    options = ["--send", r"PING\r\n", "--until", r"\r\n", "--expect", "PING", "-c", "4", "-n", "40"]
    result = as_json(jostle_command("hit", lines, *options, "--processes", "2", "--json"))
    assert outcomes(result) == {"ok": 40}
    summary = result["summaries"][0]
    assert summary["response"]["p50"]["value"] >= 0.020
    assert summary["parts"]["connect"]["p50"]["n"] == 4


def test_a_rate_is_kept_and_a_response_may_end_with_its_connection(
    jostle_command: Jostle, lines: str
) -> None:
    options = ["--send", r"bye\n", "--until", "close", "-r", "200/s", "-n", "20", "--json"]
    assert outcomes(as_json(jostle_command("hit", lines, *options))) == {"ok": 20}


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        ("close-after-accept", {"closed_early", "reset"}),
        ("never-reads", {"response_timeout"}),
    ],
)
def test_a_hostile_server_is_counted(jostle_command: Jostle, behaviour: str, outcome: set[str]) -> None:
    with reference_server("hostile", behaviour) as url:
        options = ["--send", r"GET / HTTP/1.1\r\n\r\n", "--until", "hex:ff00", "-c", "2", "-n", "4"]
        options += ["--timeout", "100ms", "--json"]
        result = as_json(jostle_command("hit", url.replace("http://", "tcp://"), *options))
    assert outcomes(result).keys() <= outcome
    assert sum(outcomes(result).values()) == 4


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Path]:
    """The unix socket of a Redis server that keeps nothing."""
    socket = tmp_path / "redis.sock"
    order = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", ""]
    process = subprocess.Popen(order, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert process.stdout is not None
        assert any("ready to accept connections" in line for line in process.stdout)
        yield socket
    finally:
        process.terminate()
        process.communicate(timeout=10)


def test_redis_answers_a_ping_over_its_unix_socket(jostle_command: Jostle, redis: Path) -> None:
    options = [
        "--send",
        r"PING\r\n",
        "--until",
        r"\r\n",
        "--expect",
        "+PONG",
        "-c",
        "2",
        "-n",
        "40",
        "--json",
    ]
    unix = ["--connect-to", f"unix:{redis}"]
    assert outcomes(as_json(jostle_command("hit", "tcp://localhost:6379", *unix, *options))) == {"ok": 40}

"""Datagrams to servers whose truth is known, and to a real DNS server: what jostle counts of them."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.real import Jostle, as_json, reference_server

QUERY = "hex:{id:u16} 0100 0001 0000 0000 0000 03 6f6e65 04 74657374 00 0001 0001"
"""The address of one.test."""


def free_port() -> int:
    with socket.socket(type=socket.SOCK_DGRAM) as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def hit(jostle_command: Jostle, url: str, *options: str) -> dict[str, Any]:
    url = url.replace("http://", "udp://")
    return dict(as_json(jostle_command("hit", url, *options, "--json"))["trials"][0])


def test_every_datagram_is_answered_after_its_delay(jostle_command: Jostle) -> None:
    with reference_server("datagrams", "--delay-ms", "20") as url:
        options = ["--send", "{id:u32}", "--match", "echo", "-c", "4", "-n", "40", "--processes", "2"]
        result = as_json(jostle_command("hit", url.replace("http://", "udp://"), *options, "--json"))
    (trial,) = result["trials"]
    assert trial["outcomes"] == {"ok": 40}
    assert trial["datagrams"] == {
        "sent": 40, "answered": 40, "lost": 0, "late": 0, "overtaken": 0, "duplicates": 0, "strays": 0,
    }  # fmt: skip
    assert result["summaries"][0]["response"]["p50"]["value"] >= 0.020


def test_what_is_lost_doubled_and_overtaken_is_counted_as_the_server_did_it(jostle_command: Jostle) -> None:
    """Of 98 datagrams the server loses 4, holds 2 back until the next one is answered, and doubles 6 others.

    Where a machine stalls for longer than the timeout, further responses are late, which are counted as such.
    """
    with reference_server("datagrams", "--lose", "20", "--hold", "33", "--double", "11") as url:
        options = [
            "--send",
            "ping {id:u16}",
            "--match",
            "bytes:5..7",
            "-c",
            "1",
            "-n",
            "98",
            "--timeout",
            "1s",
        ]
        trial = hit(jostle_command, url, *options)
    counts = trial["datagrams"]
    assert counts["sent"] == 98
    assert counts["lost"] - counts["late"] == 4
    assert counts["overtaken"] >= 2
    assert counts["answered"] + counts["late"] == 94
    assert counts["duplicates"] == 6
    assert counts["strays"] == 0
    assert trial["outcomes"] == {"ok": counts["answered"], "response_timeout": counts["lost"]}


def test_a_rate_is_kept_in_order(jostle_command: Jostle) -> None:
    with reference_server("datagrams") as url:
        trial = hit(jostle_command, url, "--send", "x", "--expect", "x", "-r", "200/s", "-n", "20")
    assert trial["outcomes"] == {"ok": 20}


def test_a_port_where_nobody_listens_is_told_in_words(jostle_command: Jostle) -> None:
    url = f"udp://127.0.0.1:{free_port()}"
    result = as_json(jostle_command("hit", url, "--send", "x", "-c", "1", "-n", "2", "--json"))
    assert result["trials"][0]["outcomes"] == {"connect_refused": 2}
    assert "refused (ICMP): nothing listens there" in str(result["trials"][0]["validity"])


@contextmanager
def dnsmasq(folder: Path, port: int) -> Iterator[bool]:
    """A DNS server that knows one.test and asks nobody else; whether it could start on this port."""
    order = ["/usr/sbin/dnsmasq", "--keep-in-foreground", "--no-resolv", "--no-hosts", "--no-daemon"]
    order += ["--address=/one.test/192.0.2.1", f"--port={port}", "--listen-address=127.0.0.1"]
    order += ["--bind-interfaces", "--conf-file=/dev/null", f"--pid-file={folder}/pid"]
    process = subprocess.Popen(order, stderr=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stderr is not None
        yield any("started" in line for line in process.stderr)
    finally:
        process.terminate()
        process.communicate(timeout=10)


@pytest.fixture
def dns(tmp_path: Path) -> Iterator[str]:
    """The URL of a DNS server. It cannot choose its port, and another test may take one that was free."""
    for _ in range(5):
        port = free_port()
        with dnsmasq(tmp_path, port) as started:
            if started:
                yield f"udp://127.0.0.1:{port}"
                return
    pytest.fail("dnsmasq did not start on any of five free ports")


def test_a_dns_server_answers_queries(jostle_command: Jostle, dns: str) -> None:
    options = ["--send", QUERY, "--match", "bytes:0..2", "-c", "5", "-n", "200"]
    trial = hit(jostle_command, dns, *options)
    assert trial["outcomes"] == {"ok": 200}
    assert trial["datagrams"]["answered"] == 200
    assert trial["datagrams"]["strays"] == 0

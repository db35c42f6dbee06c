"""Bytes over TCP and UDP: CPU per exchange beside redis-benchmark on Redis, and beside dnsperf on dnsmasq.

Both are C programs that do nothing else and record less, so there is no bar.
"""

import contextlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from rows import Effort, Row, Section, spread
from servers import free_port, wait_for
from watched import SERVER_CORE, watched
from whole_run import Counted, cpu_us

CLIENTS = 50
PINGS_PER_S = 40_000
"""redis-benchmark ends after a number of requests."""

PING = ["--send", r"PING\r\n", "--until", r"\r\n", "--expect", "+PONG"]
QUERY = "hex:{id:u16} 0100 0001 0000 0000 0000 07 6578616d706c65 03 636f6d 00 0001 0001"
LOOKUP = ["--send", QUERY, "--match", "bytes:0..2", "--timeout", "1s"]


def run(effort: Effort) -> Section:
    query = effort.folder / "queries.txt"
    query.write_text("example.com A\n")
    with _redis(effort.folder) as redis, _dnsmasq(effort.folder) as dns:
        pairs = {
            "PING over TCP": [_jostle(f"tcp://127.0.0.1:{redis}", PING), _redis_benchmark(redis)],
            "DNS query over UDP": [_jostle(f"udp://127.0.0.1:{dns}", LOOKUP), _dnsperf(dns, query)],
        }
        turns = [(what, tool) for what, tools in pairs.items() for tool in tools]
        found: dict[tuple[str, str], list[float]] = {(what, tool.name): [] for what, tool in turns}
        for number in range(effort.rounds):
            for what, tool in random.sample(turns, len(turns)):
                found[what, tool.name].append(cpu_us(tool, 2 * effort.seconds))
                print(f"  round {number + 1}: {what}: {tool.name}: {found[what, tool.name][-1]:.2f} µs")
    rows = []
    for what, (ours, peer) in pairs.items():
        ratios = [a / b for a, b in zip(found[what, ours.name], found[what, peer.name], strict=True)]
        rows.append(Row(f"CPU per {what} ÷ {peer.name}, {CLIENTS} clients", "", spread(ratios), None))
    lines = ["| exchange | tool | CPU µs |", "|---|---|---|"]
    lines += [f"| {what} | {tool} | {spread(each)} |" for (what, tool), each in found.items()]
    samples = [{"what": what, "tool": tool, "cpu_us": each} for (what, tool), each in found.items()]
    return Section(rows, "\n".join(lines), samples)


def _jostle(url: str, words: list[str]) -> Counted:
    hit = [sys.executable, "-m", "jostle", "hit", url, *words, "-c", str(CLIENTS), "--json"]
    return Counted("jostle", lambda seconds: [*hit, "-d", f"{seconds:g}s"], r'"ok": (\d+)')


def _redis_benchmark(port: int) -> Counted:
    def command(seconds: float) -> list[str]:
        number = f"{seconds * PINGS_PER_S:.0f}"
        return ["redis-benchmark", "-p", str(port), "-c", str(CLIENTS), "-t", "ping_inline", "-n", number]

    return Counted("redis-benchmark", command, r"(\d+) requests completed")


def _dnsperf(port: int, query: Path) -> Counted:
    def command(seconds: float) -> list[str]:
        crowd = ["-c", str(CLIENTS), "-q", str(CLIENTS), "-T", "1"]
        return ["dnsperf", "-s", "127.0.0.1", "-p", str(port), "-d", str(query), *crowd, "-l", f"{seconds:g}"]

    return Counted("dnsperf", command, r"Queries completed:\s+(\d+)")


@contextlib.contextmanager
def _redis(folder: Path) -> Iterator[int]:
    port, own = free_port(), folder / "redis"
    own.mkdir()
    command = ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(own)]
    with watched(command, own, SERVER_CORE) as server:
        wait_for(port, server.process)
        yield port


@contextlib.contextmanager
def _dnsmasq(folder: Path) -> Iterator[int]:
    """It answers from its own configuration, and asks nobody."""
    port, own = free_port(), folder / "dnsmasq"
    own.mkdir()
    command = [
        "/usr/sbin/dnsmasq",
        "--keep-in-foreground",
        "--conf-file=/dev/null",
        "--no-resolv",
        "--no-hosts",
    ]
    command += ["--user=root", f"--pid-file={own / 'pid'}", f"--port={port}", "--listen-address=127.0.0.1"]
    command += ["--bind-interfaces", "--address=/example.com/192.0.2.1"]
    with watched(command, own, SERVER_CORE) as server:
        wait_for(port, server.process)
        yield port

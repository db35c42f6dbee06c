"""jostle against its peers: CPU time per request with keep-alive, side by side in one run.

nginx is pinned to core 0, the tool to core 1; tools take turns in random order in every round, so that drift
of the machine meets all of them. Ratios are of pairs from the same round. Results go to bench/results/.

    python bench/run.py --connections 64,1000 --rounds 5 --seconds 6
"""

import argparse
import json
import os
import platform
import random
import socket
import statistics
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from servers import free_port, nginx
from tools import TOOLS, Tool

HERE = Path(__file__).parent
SERVER_CORE, TOOL_CORE = 0, 1


@dataclass(frozen=True)
class Sample:
    """One run of one tool. `inner_us` leaves out the start of the process and the making of its report."""

    tool: str
    connections: int
    round: int
    requests: int
    wall_s: float
    cpu_us: float
    inner_us: float | None
    peak_mb: float


def measure(tool: Tool, url: str, connections: int, seconds: int, round_number: int) -> Sample:
    """Run one tool pinned to its core; its CPU time is the kernel's account of the ended process."""
    started = time.monotonic()
    process = subprocess.Popen(
        tool.command(url, connections, seconds),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {TOOL_CORE}),
    )
    assert process.stdout is not None
    stdout = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    requests = tool.requests(stdout)
    inner = tool.inner_cpu_s(stdout)
    return Sample(
        tool.name,
        connections,
        round_number,
        requests,
        time.monotonic() - started,
        1e6 * (usage.ru_utime + usage.ru_stime) / requests,
        1e6 * inner / requests if inner is not None else None,
        usage.ru_maxrss / 1024,
    )


def first_request_s() -> float:
    """From starting the command to the first byte of its first request."""
    with socket.create_server(("127.0.0.1", free_port())) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        started = time.monotonic()
        process = subprocess.Popen(
            [*TOOLS[0].command(url, 1, 1)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        first = 0.0
        while not first:
            connection, _ = listener.accept()
            with connection:
                if connection.recv(1):
                    first = time.monotonic() - started
        process.kill()
        process.wait()
        return first


def table(samples: list[Sample], tools: list[Tool], sizes: list[int]) -> str:
    """Medians over rounds, and the ratio of jostle to each peer pair by pair (median, lowest, highest)."""
    lines = [
        "| connections | tool | CPU µs/request | load threads alone | requests/s | peak MB | jostle ÷ tool |",
        "|---|---|---|---|---|---|---|",
    ]
    for size in sizes:
        mine = {s.round: s for s in samples if s.tool == "jostle" and s.connections == size}
        for tool in tools:
            of_tool = [s for s in samples if s.tool == tool.name and s.connections == size]
            inner = [s.inner_us for s in of_tool if s.inner_us is not None]
            ratios = sorted((mine[s.round].inner_us or mine[s.round].cpu_us) / s.cpu_us for s in of_tool)
            compared = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            lines.append(
                f"| {size} | {tool.name} | {statistics.median(s.cpu_us for s in of_tool):.2f} "
                f"| {f'{statistics.median(inner):.2f}' if inner else ''} "
                f"| {statistics.median(s.requests / s.wall_s for s in of_tool):,.0f} "
                f"| {statistics.median(s.peak_mb for s in of_tool):.0f} "
                f"| {'' if tool.name == 'jostle' else compared} |"
            )
    lines.append("")
    lines.append("The ratio takes jostle's load threads against the peer's whole process.")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--connections", default="64,1000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--tools", default="jostle,wrk,oha")
    options = parser.parse_args()
    sizes = [int(size) for size in options.connections.split(",")]
    tools = [tool for tool in TOOLS if tool.name in options.tools.split(",")]
    peers = subprocess.run([HERE / "peers.sh"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    os.environ["PATH"] = f"{peers}:{os.environ['PATH']}"
    samples: list[Sample] = []
    with nginx(SERVER_CORE) as url:
        for round_number in range(options.rounds):
            pairs = [(tool, size) for tool in tools for size in sizes]
            random.shuffle(pairs)
            for tool, size in pairs:
                samples.append(measure(tool, url, size, options.seconds, round_number))
                print(f"round {round_number + 1}: {samples[-1]}", flush=True)
    starts = sorted(first_request_s() for _ in range(7))
    text = table(samples, tools, sizes)
    text += (
        f"\n\nFirst request {statistics.median(starts):.2f} s after the command "
        f"(of {len(starts)}: {starts[0]:.2f} to {starts[-1]:.2f} s)."
    )
    print("\n" + text)
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    (results / "cpu-per-request.md").write_text(text + "\n")
    (results / "cpu-per-request.json").write_text(
        json.dumps(
            {
                "kernel": platform.release(),
                "cores": os.cpu_count(),
                "rounds": options.rounds,
                "seconds": options.seconds,
                "first_request_s": starts,
                "samples": [asdict(s) for s in samples],
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()

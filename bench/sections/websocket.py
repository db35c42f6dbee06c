"""WebSocket: CPU per message beside k6, memory of a socket that is idle, and 100,000 of them on this machine.

Ours are the reference servers, which send every message back.
"""

import random
import statistics
import sys
import time
from pathlib import Path

from crowd import run_crowd
from rows import Effort, Row, Section, spread
from servers import reference, references
from watched import watched
from whole_run import Counted, cpu_us

SOCKETS = 64
FEW, MANY = 2_000, 18_000
CROWD, PROCESSES = 100_000, 6
"""The crowd has so many processes on both sides: each has room for 20,000 open files."""

BAR_BYTES = 2_000
THINK_S, RAMP_S, CONNECT_S = 10, 10, 60
IDLE = """
title = "idle"
contestants = ["server"]
rounds = 1
threads = 1
processes = 1

[workload.idle]
request = {{ ws = "/echo", send = "hello" }}
load = {{ clients = {sockets}, think = "10m", ramp-up = "{ramp}s", sustain = "10m" }}
connect-timeout = "60s"

[contestant.server]
url = "http://{address}"
"""
OK = r'"ok": (\d+)'
"""Where the JSON of jostle says how many responses came."""

K6_SCRIPT = Path(__file__).parents[1] / "k6_websocket.js"


def run(effort: Effort) -> Section:
    cpu = _cpu(effort)
    ratios = [ours / theirs for ours, theirs in zip(cpu["jostle"], cpu["k6"], strict=True)]
    slopes = []
    for number in range(effort.rounds):
        peaks = [_peak(sockets, effort) for sockets in (FEW, MANY)]
        slopes.append((peaks[1] - peaks[0]) / (MANY - FEW))
        print(f"  round {number + 1}: {slopes[-1]:,.0f} bytes a socket", flush=True)
    rows = [
        Row(
            f"CPU per message over WebSocket ÷ k6, {SOCKETS} sockets",
            "",
            spread(ratios, ".3f"),
            None,
        ),
        Row(
            "user memory per additional idle WebSocket, bytes",
            f"≤ {BAR_BYTES:,}",
            spread(slopes, ",.0f"),
            statistics.median(slopes) <= BAR_BYTES,
        ),
    ]
    crowd, told = _crowd(effort)
    costs = ", ".join(f"{name} {spread(each)}" for name, each in cpu.items())
    return Section(
        rows + crowd, f"CPU per message, µs: {costs}.\n\n{told}", [{"cpu_us": cpu, "bytes": slopes}]
    )


def _cpu(effort: Effort) -> dict[str, list[float]]:
    """CPU time of a message in µs, by tool, round by round."""
    cpu: dict[str, list[float]] = {"jostle": [], "k6": []}
    with reference("websocket") as address:
        url = f"ws://{address}/echo"
        ours = Counted("jostle", lambda seconds: _jostle(url, seconds), OK)
        tools = [ours, Counted("k6", lambda seconds: _k6(url, seconds), r"answers: (\d+)")]
        for number in range(effort.rounds):
            for tool in random.sample(tools, len(tools)):
                cpu[tool.name].append(cpu_us(tool, 2 * effort.seconds))
                print(f"  round {number + 1}: {tool.name}: {cpu[tool.name][-1]:.2f} µs", flush=True)
    return cpu


def _jostle(url: str, seconds: float) -> list[str]:
    hit = [sys.executable, "-m", "jostle", "hit", url, "--send", "hello", "-c", str(SOCKETS)]
    return [*hit, "-d", f"{seconds:g}s", "--json"]


def _k6(url: str, seconds: float) -> list[str]:
    settings = {"URL": url, "VUS": SOCKETS, "SECONDS": seconds}
    pairs = [word for name, value in settings.items() for word in ("-e", f"{name}={value}")]
    return ["k6", "run", "--quiet", "--no-usage-report", "--address", "", *pairs, str(K6_SCRIPT)]


def _peak(sockets: int, effort: Effort) -> int:
    """The most bytes of jostle until so many sockets are open, each of which has had a response.

    They open one after another: where all of them do so at once, twice as much is needed for a moment.
    """
    with reference("websocket") as address:
        plan = effort.folder / "idle.toml"
        plan.write_text(IDLE.format(address=address, sockets=sockets, ramp=RAMP_S))
        command = [sys.executable, "-m", "jostle", "run", str(plan), "--into", str(effort.folder / "runs")]
        with watched(command, effort.folder) as process:
            files = Path(f"/proc/{process.pid}/fd")
            give_up = time.monotonic() + CONNECT_S
            while len(list(files.iterdir())) < sockets:
                process.check()
                if time.monotonic() > give_up:
                    raise RuntimeError(f"{sockets:,} sockets did not open in {CONNECT_S} s: {process.said()}")
                time.sleep(0.2)
            time.sleep(2.0)  # the last responses come, and what is written each second is written
            return process.peak_bytes()


def _crowd(effort: Effort) -> tuple[list[Row], str]:
    sockets = CROWD // 10 if effort.quick else CROWD
    ramp = max(5, sockets // 4_000)
    hold = THINK_S + max(5, round(2 * effort.seconds))
    with references(PROCESSES, "websocket") as addresses:
        load = f'clients = {sockets}, think = "{THINK_S}s ± 10%", ramp-up = "{ramp}s", sustain = "{hold}s"'
        request = 'ws = "/echo", send = "hello"'
        found = run_crowd(f"{sockets:,} sockets", addresses, request, load, PROCESSES, effort.folder)
    print(f"  {found.most_clients:,} sockets, {found.outcomes}", flush=True)
    rows = [
        Row(
            f"{sockets:,} WebSockets on this machine: open",
            f"{sockets:,}",
            f"{found.most_clients:,}",
            found.most_clients == sockets,
        ),
        Row(f"{sockets:,} WebSockets: failed messages", "0", f"{found.failures:,}", found.failures == 0),
    ]
    rate = found.between("throughput_per_s", ramp + 1, ramp + hold - 1)
    response = found.trial["response"]
    quantiles = ", ".join(f"{p} {response[p]['value'] * 1e3:.3g} ms" for p in ("p50", "p99", "max"))
    return rows, (
        f"{sockets:,} sockets: {PROCESSES} generator processes on one core, {PROCESSES} reference servers on "
        f"the other, {rate:,.0f} messages/s once all were there, {quantiles}."
    )

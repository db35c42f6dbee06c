"""What each tool says of the same server: in a closed loop, and at a constant rate that the server can take.

Three servers: Express and asyncio from the roster, whose truth nobody knows, and a reference server whose
truth follows from its settings: every two seconds it stands still for 200 ms, and otherwise takes half a
millisecond for a request. A request that is due during the pause waits for its end and for those before it.

Tools take turns in random order in every round. wrk2 is built from its sources by whoever wants it, and has
its turn if it is on the PATH.
"""

import contextlib
import shutil
from collections.abc import Iterator
from statistics import median
from typing import Any

from reports import CLOSED, OPEN, Attack, command_of, report
from rows import Effort, Row, Section
from servers import reference
from turns import side_by_side
from watched import SERVER_CORE

from jostle.contestant import find

CLIENTS = {"node-express": 50, "python-asyncio": 50, "paused": 10}
TITLES = {
    "node-express": "Express (Node.js)",
    "python-asyncio": "asyncio on uvicorn (Python)",
    "paused": "a server that stands still for 200 ms every 2 s",
}
PAUSED_RATE = 250
SHARE_OF_CAPACITY = 0.5
"""The rate of an open loop is this share of what jostle's closed loop reached, but for the third server."""
WORK_MS, PAUSE_MS, PERIOD_MS = 0.5, 200.0, 2000.0


def true_quantile(part: float) -> float:
    """Milliseconds that the share `part` of the requests to the server with pauses takes at most."""
    gap, waits = 1000 / PAUSED_RATE, []
    free = 0.0
    for number in range(int(PERIOD_MS / gap)):
        due = number * gap
        free = max(free, due, PAUSE_MS) + WORK_MS
        waits.append(free - due)
    return sorted(waits)[min(int(part * len(waits)), len(waits) - 1)]


def run(effort: Effort) -> Section:
    samples: list[dict[str, Any]] = []
    for server, clients in CLIENTS.items():
        with _serving(server) as url:
            rate = float(PAUSED_RATE)
            if server != "paused":
                capacity = report("jostle", Attack(url, clients, effort.seconds))["rate"]
                rate = float(round(capacity * SHARE_OF_CAPACITY, -2))
            turns = [(tool, Attack(url, clients, effort.seconds)) for tool in CLOSED]
            paced = [(tool, Attack(url, clients, effort.seconds, rate)) for tool in OPEN if _available(tool)]
            for number in range(effort.rounds):
                for tool, attack in side_by_side([turns, paced]):
                    found = {"round": number, "server": server, "tool": tool, "asked": attack.rate}
                    found |= report(tool, attack) | {"command": _typed(tool, attack)}
                    samples.append(found)
                    print(f"  {found}", flush=True)
    rows = [
        Row(
            f"{tool}: p99 of a server with pauses at {PAUSED_RATE}/s, ms (true: {true_quantile(0.99):.0f})",
            "",
            f"{_middle(samples, 'paused', PAUSED_RATE, tool, 'p99') / 1e3:,.0f}",
            None,
        )
        for tool in OPEN
        if _available(tool)
    ]
    return Section(rows, _details(samples), samples)


def _available(tool: str) -> bool:
    return tool != "wrk2" or shutil.which("wrk2") is not None


def _typed(tool: str, attack: Attack) -> str:
    """The command as a user would type it."""
    words = ["jostle" if word == "jostle" else word for word in command_of(tool, attack)]
    if tool == "jostle":
        return " ".join(["jostle", *words[3:-1]])
    if tool == "vegeta":
        return f"echo GET {attack.url} | {words[-1]}"
    return " ".join(words)


@contextlib.contextmanager
def _serving(server: str) -> Iterator[str]:
    """The URL of the server, which has a core of its own."""
    if server == "paused":
        settings = ("workers", "--workers", "1", "--pause", f"{PERIOD_MS:g}ms:{PAUSE_MS:g}ms")
        with reference(*settings) as address:
            yield f"http://{address}/work?us={WORK_MS * 1000:g}"
    else:
        with find(server).start(cores=[SERVER_CORE]) as started:
            yield f"{started.url}/hello"


def _middle(samples: list[dict[str, Any]], server: str, rate: float, tool: str, figure: str) -> float:
    """The median over the rounds."""
    keys = (server, rate, tool)
    return median(s[figure] for s in samples if (s["server"], s["asked"], s["tool"]) == keys)


def _details(samples: list[dict[str, Any]]) -> str:
    lines: list[str] = []
    for server in CLIENTS:
        for rate in sorted({s["asked"] for s in samples if s["server"] == server}):
            load = f"{rate:,.0f}/s, evenly spaced" if rate else f"{CLIENTS[server]} clients, closed loop"
            lines += [f"**{TITLES[server]}, {load}** (medians of the rounds)", ""]
            lines += ["| tool | requests/s | p50 | p99 | longest |", "|---|---|---|---|---|"]
            for tool in OPEN if rate else CLOSED:
                if _available(tool):
                    values = [
                        _middle(samples, server, rate, tool, f) for f in ("rate", "p50", "p99", "longest")
                    ]
                    times = " | ".join(f"{value / 1e3:,.2f} ms" for value in values[1:])
                    lines.append(f"| {tool} | {values[0]:,.0f} | {times} |")
            lines.append("")
    commands = {
        s["tool"] + (" open" if s["asked"] else ""): s["command"] for s in samples if s["server"] == "paused"
    }
    return "\n".join(
        [*lines, "Commands, as typed for the last of these servers:", "", "```", *commands.values(), "```"]
    )

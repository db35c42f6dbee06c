"""A connection for every request, 64 clients: requests per second of jostle, ab and oha, in the same run."""

import statistics
from dataclasses import asdict, replace

from rows import Effort, Row, Section, spread
from servers import nginx
from tools import AB, JOSTLE, OHA, Tool
from turns import Turn, in_turns
from window import Sample

CLIENTS = 64
TOOLS = [JOSTLE, AB, OHA]


def run(effort: Effort) -> Section:
    with nginx() as server:
        turns = {tool.name: _turn(tool, server.url) for tool in TOOLS}
        found = in_turns(turns, server, replace(effort, rounds=2 * effort.rounds))
    ratios = [ours.rate / of_ab.rate for ours, of_ab in zip(found["jostle"], found["ab"], strict=True)]
    row = Row(
        "connect/close per request, 64 clients: requests/s ÷ ab",
        "≥ 1.00",
        spread(ratios, ".3f"),
        statistics.median(ratios) >= 1,
    )
    samples = [asdict(sample) for each in found.values() for sample in each]
    return Section([row], _details(found), samples)


def _turn(tool: Tool, url: str) -> Turn:
    assert tool.connecting is not None
    return Turn(tool, tool.connecting(url, CLIENTS), CLIENTS)


def _details(found: dict[str, list[Sample]]) -> str:
    lines = ["| tool | requests/s | CPU µs/request |", "|---|---|---|"]
    for name, samples in found.items():
        rate, cpu = spread([s.rate for s in samples], ",.0f"), spread([s.cpu_us for s in samples])
        lines.append(f"| {name} | {rate} | {cpu} |")
    return "\n".join(lines)

"""A connection for every request, 64 clients: requests per second of jostle, ab and oha, in the same run."""

import random
import statistics
from dataclasses import asdict

from rows import Effort, Row, Section, spread
from servers import nginx
from tools import AB, JOSTLE, OHA
from window import Sample, measure

CLIENTS = 64
TOOLS = [JOSTLE, AB, OHA]


def run(effort: Effort) -> Section:
    samples: list[Sample] = []
    with nginx() as server:
        for number in range(2 * effort.rounds):
            for tool in random.sample(TOOLS, len(TOOLS)):
                assert tool.connecting is not None
                command = tool.connecting(server.url, CLIENTS)
                sample = measure(tool, command, server, CLIENTS, effort.seconds, number, effort.folder)
                samples.append(sample)
                print(f"  round {number + 1}: {tool.name}: {sample.rate:,.0f}/s, {sample.cpu_us:.1f} µs")
    rate = {(s.tool, s.round): s.rate for s in samples}
    ratios = [rate["jostle", number] / of_ab for (tool, number), of_ab in rate.items() if tool == "ab"]
    row = Row(
        "connect/close per request, 64 clients: requests/s ÷ ab",
        "≥ 1.00",
        spread(ratios, ".3f"),
        statistics.median(ratios) >= 1,
    )
    return Section([row], _details(samples), [asdict(sample) for sample in samples])


def _details(samples: list[Sample]) -> str:
    lines = ["| tool | requests/s | CPU µs/request |", "|---|---|---|"]
    for tool in TOOLS:
        found = [s for s in samples if s.tool == tool.name]
        rate, cpu = spread([s.rate for s in found], ",.0f"), spread([s.cpu_us for s in found])
        lines.append(f"| {tool.name} | {rate} | {cpu} |")
    return "\n".join(lines)

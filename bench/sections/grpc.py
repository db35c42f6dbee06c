"""CPU time per call of gRPC without TLS, one message each way, closed loop: jostle beside ghz.

Ten connections with 1, 10 and 100 calls at a time each, against grpc-go. Tools take turns in random order in
every round; ratios are of pairs from the same round.
"""

import random
import statistics
from dataclasses import asdict

from rows import Effort, Row, Section, ratio_text, spread
from servers import grpc_go
from tools import GHZ, GRPC_CONNECTIONS, JOSTLE_GRPC
from window import Sample, measure

BAR = 1 / 3
AT_ONCE = [1, 10, 100]
TOOLS = [JOSTLE_GRPC, GHZ]


def run(effort: Effort) -> Section:
    samples: list[Sample] = []
    with grpc_go() as server:
        for number in range(effort.rounds):
            turns = [(tool, calls) for tool in TOOLS for calls in AT_ONCE]
            random.shuffle(turns)
            for tool, calls in turns:
                clients = GRPC_CONNECTIONS * calls
                command = tool.closed(server.address, clients)
                sample = measure(tool, command, server, clients, effort.seconds, number, effort.folder)
                samples.append(sample)
                cost = f"{sample.cpu_us:.2f} µs, {sample.rate:,.0f}/s"
                print(f"  round {number + 1}: {tool.name}, {calls}: {cost}")
    rows = [_row(samples, calls) for calls in AT_ONCE]
    return Section(rows, _details(samples), [asdict(sample) for sample in samples])


def _row(samples: list[Sample], calls: int) -> Row:
    found = [sample for sample in samples if sample.connections == GRPC_CONNECTIONS * calls]
    of = {(sample.tool, sample.round): sample.cpu_us for sample in found}
    ratios = [of["jostle", number] / cpu for (tool, number), cpu in of.items() if tool == "ghz"]
    return Row(
        f"CPU per call of gRPC ÷ ghz, {GRPC_CONNECTIONS} connections × {calls} calls at a time",
        ratio_text(BAR),
        spread(ratios, ".3f"),
        statistics.median(ratios) <= BAR,
    )


def _details(samples: list[Sample]) -> str:
    lines = [
        "| calls at a time | tool | CPU µs/call | load threads | calls/s | peak MB |",
        "|---|---|---|---|---|---|",
    ]
    for calls in AT_ONCE:
        for tool in TOOLS:
            found = [
                sample
                for sample in samples
                if (sample.tool, sample.connections) == (tool.name, GRPC_CONNECTIONS * calls)
            ]
            load = [sample.load_threads_us for sample in found if sample.load_threads_us is not None]
            lines.append(
                f"| {calls} | {tool.name} | {spread([s.cpu_us for s in found])} "
                f"| {spread(load) if load else ''} "
                f"| {spread([s.rate for s in found], ',.0f')} "
                f"| {statistics.median(s.peak_mb for s in found):,.0f} |"
            )
    return "\n".join(lines)

"""Closed loops of several tools at several numbers of clients: loop, ratios to a peer, table of costs."""

import random
import statistics
from collections.abc import Mapping, Sequence

from rows import Effort, spread
from servers import Counting
from tools import Tool
from window import Sample, measure

__all__ = ["cost_table", "in_turns", "ratios"]


def in_turns(
    tools: Mapping[Tool, str], clients: Sequence[int], server: Counting, effort: Effort
) -> list[Sample]:
    """Every tool, with the URL that it is given, at each number of clients; in random order in each round."""
    samples = []
    turns = [(tool, url, number) for tool, url in tools.items() for number in clients]
    for round_number in range(effort.rounds):
        for tool, url, number in random.sample(turns, len(turns)):
            command = tool.closed(url, number)
            sample = measure(tool, command, server, number, effort.seconds, round_number, effort.folder)
            samples.append(sample)
            cost = f"{sample.cpu_us:.2f} µs, {sample.rate:,.0f}/s"
            print(f"  round {round_number + 1}: {tool.name}, {number}: {cost}", flush=True)
    return samples


def ratios(samples: Sequence[Sample], peer: str, clients: int, *, start_up: bool = False) -> list[float]:
    """CPU time of jostle ÷ that of the peer, of pairs from the same round. `start_up`: included."""
    cost = {
        (sample.tool, sample.round): sample.whole_us if start_up else sample.cpu_us
        for sample in samples
        if sample.connections == clients
    }
    return [cost["jostle", number] / of_peer for (tool, number), of_peer in cost.items() if tool == peer]


def cost_table(
    samples: Sequence[Sample],
    tools: Sequence[Tool],
    levels: Mapping[int, int],
    head: str,
    unit: str = "request",
) -> str:
    """In Markdown. `levels`: numbers of clients by what stands for them below `head`."""
    lines = [
        f"| {head} | tool | CPU µs/{unit} | load threads | with start-up | {unit}s/s | peak MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for level, clients in levels.items():
        for tool in tools:
            found = [s for s in samples if (s.tool, s.connections) == (tool.name, clients)]
            load = [s.load_threads_us for s in found if s.load_threads_us is not None]
            lines.append(
                f"| {level:,} | {tool.name} | {spread([s.cpu_us for s in found])} "
                f"| {spread(load) if load else ''} | {spread([s.whole_us for s in found])} "
                f"| {spread([s.rate for s in found], ',.0f')} "
                f"| {statistics.median(s.peak_mb for s in found):,.0f} |"
            )
    return "\n".join(lines)

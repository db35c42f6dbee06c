"""Closed loops of several tools at several numbers of clients: in turns, ratios to a peer, table of costs."""

import statistics
from collections.abc import Mapping, Sequence

from rows import Effort, spread
from servers import Counting
from tools import Tool
from turns import Turn, in_turns
from window import Sample

__all__ = ["closed_loops", "cost_table", "ratios"]


def closed_loops(
    tools: Mapping[Tool, str], clients: Sequence[int], server: Counting, effort: Effort
) -> list[Sample]:
    """Every tool, with the URL that it is given, at each number of clients."""
    turns = {
        f"{tool.name}, {number}": Turn(tool, tool.closed(url, number), number)
        for tool, url in tools.items()
        for number in clients
    }
    return [sample for samples in in_turns(turns, server, effort).values() for sample in samples]


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

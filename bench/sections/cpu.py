"""CPU time per request with keep-alive, 1 kB, closed loop: jostle beside wrk, oha and k6.

jostle records what it always does: connect, headers and body apart, service and response times, outcomes.
Tools take turns in random order in every round; ratios are of pairs from the same round.
"""

import random
import statistics
from dataclasses import asdict

from rows import Effort, Row, Section, ratio_text, spread
from servers import nginx
from tools import JOSTLE, K6, OHA, WRK
from window import Sample, measure

BARS = {
    "wrk": {64: 0.95, 1_000: 0.90, 10_000: 0.80},
    "oha": {64: 0.85, 1_000: 0.70, 10_000: 0.60},
    "k6": {64: 1 / 5, 1_000: 1 / 9, 10_000: 1 / 18},
}
TOOLS = [JOSTLE, WRK, OHA, K6]
SIZES = [64, 1_000, 10_000]


def run(effort: Effort) -> Section:
    samples: list[Sample] = []
    with nginx() as server:
        for number in range(effort.rounds):
            turns = [(tool, size) for tool in TOOLS for size in SIZES]
            random.shuffle(turns)
            for tool, size in turns:
                command = tool.closed(server.url, size)
                sample = measure(tool, command, server, size, effort.seconds, number, effort.folder)
                samples.append(sample)
                print(
                    f"  round {number + 1}: {tool.name} {size}: {sample.cpu_us:.2f} µs, {sample.rate:,.0f}/s"
                )
    rows = [_row(samples, peer, size, bar) for peer, bars in BARS.items() for size, bar in bars.items()]
    return Section(rows, _details(samples), [asdict(sample) for sample in samples])


def _row(samples: list[Sample], peer: str, size: int, bar: float) -> Row:
    ratios, whole = _ratios(samples, peer, size), _ratios(samples, peer, size, whole=True)
    return Row(
        f"CPU per request ÷ {peer}, {size:,} connections",
        ratio_text(bar),
        f"{spread(ratios, '.3f')}; start-up included {statistics.median(whole):.3f}",
        statistics.median(ratios) <= bar,
    )


def _ratios(samples: list[Sample], peer: str, size: int, *, whole: bool = False) -> list[float]:
    of = {(s.tool, s.round): s.whole_us if whole else s.cpu_us for s in samples if s.connections == size}
    return [of["jostle", number] / cpu for (tool, number), cpu in of.items() if tool == peer]


def _details(samples: list[Sample]) -> str:
    lines = [
        "| connections | tool | CPU µs/request | load threads | with start-up | requests/s | peak MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for size in SIZES:
        for tool in TOOLS:
            found = [s for s in samples if (s.tool, s.connections) == (tool.name, size)]
            load = [s.load_threads_us for s in found if s.load_threads_us is not None]
            lines.append(
                f"| {size:,} | {tool.name} | {spread([s.cpu_us for s in found])} "
                f"| {spread(load) if load else ''} | {spread([s.whole_us for s in found])} "
                f"| {spread([s.rate for s in found], ',.0f')} "
                f"| {statistics.median(s.peak_mb for s in found):,.0f} |"
            )
    return "\n".join(lines)

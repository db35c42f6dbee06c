"""CPU time per request with keep-alive, 1 kB, closed loop: jostle beside wrk, oha and k6.

jostle records what it always does: connect, headers and body apart, service and response times, outcomes.
Tools take turns in random order in every round; ratios are of pairs from the same round.
"""

import statistics
from dataclasses import asdict

from closed_loops import closed_loops, cost_table, ratios
from rows import Effort, Row, Section, ratio_text, spread
from servers import nginx
from tools import JOSTLE, K6, OHA, WRK
from window import Sample

BARS = {
    "wrk": {64: 0.95, 1_000: 0.90, 10_000: 0.80},
    "oha": {64: 0.85, 1_000: 0.70, 10_000: 0.60},
    "k6": {64: 1 / 5, 1_000: 1 / 9, 10_000: 1 / 18},
}
TOOLS = [JOSTLE, WRK, OHA, K6]
SIZES = [64, 1_000, 10_000]


def run(effort: Effort) -> Section:
    with nginx() as server:
        samples = closed_loops(dict.fromkeys(TOOLS, server.url), SIZES, server, effort)
    rows = [_row(samples, peer, size, bar) for peer, bars in BARS.items() for size, bar in bars.items()]
    table = cost_table(samples, TOOLS, {size: size for size in SIZES}, "connections")
    return Section(rows, table, [asdict(sample) for sample in samples])


def _row(samples: list[Sample], peer: str, size: int, bar: float) -> Row:
    running = ratios(samples, peer, size)
    whole = statistics.median(ratios(samples, peer, size, start_up=True))
    return Row(
        f"CPU per request ÷ {peer}, {size:,} connections",
        ratio_text(bar),
        f"{spread(running, '.3f')}; start-up included {whole:.3f}",
        statistics.median(running) <= bar,
    )

"""Real servers: the same one against itself, and against one that needs 3 % or 10 % more service time.

The reference server's responses follow from its discipline and the demands, so the true difference is known
exactly; what varies is the machine, the generator, and what jostle makes of it. Run it on an idle machine.
"""

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jostle
from jostle.analysis.results import Difference
from jostle.contestant.tools import REFERENCE

RUNS = 40
SLOWER = (0.0, 3.0, 10.0)
METRICS = ("throughput", "p50", "p90", "p99")

PLAN = """
title = "A server, and one that needs {slower:g} % more service time"
contestants = ["first", "second"]
rounds = 5

[contestant.first]
command = "{reference} run-to-completion --port {{port}}"

[contestant.second]
command = "{reference} run-to-completion --slower {slower:g} --port {{port}}"

[workload.closed]
request = {{ get = "/work?us=500" }}
load = {{ clients = 4, for = "1s" }}
"""


@dataclass(frozen=True)
class Contrast:
    """One metric over all runs of a pair."""

    slower: float  # percent
    metric: str
    runs: int
    told: int  # "less" or "more"
    held: int  # intervals that hold the true ratio
    shown: int


def measure(runs: int) -> list[Contrast]:
    """`runs` runs of each pair, each in a random order of its own."""
    found: dict[tuple[float, str], list[Difference]] = {}
    with tempfile.TemporaryDirectory(prefix="jostle-truth-") as folder:
        for number in range(runs):
            for slower in SLOWER:
                plan = Path(folder) / "plan.toml"
                plan.write_text(PLAN.format(slower=slower, reference=REFERENCE), encoding="utf-8")
                run = jostle.run(plan, into=Path(folder) / "runs", seed=number)
                (comparison,) = run.result.comparisons
                for d in comparison.differences:
                    found.setdefault((slower, d.metric), []).append(d)
                print(f"  run {number + 1} of {runs}, {slower:g} % slower: {comparison.sentence}", flush=True)
    return [_compared(slower, q, found[slower, q]) for slower in SLOWER for q in METRICS]


def _compared(slower: float, metric: str, found: Sequence[Difference]) -> Contrast:
    true = (1 + slower / 100) ** (-1 if metric == "throughput" else 1)
    ends = [(d.ratio.low, d.ratio.high) for d in found]
    shown = [(low, high) for low, high in ends if low is not None and high is not None]
    told = sum(d.finding in ("less", "more") for d in found)
    return Contrast(slower, metric, len(found), told, sum(lo <= true <= hi for lo, hi in shown), len(shown))


def markdown(found: Sequence[Contrast], runs: int) -> str:
    """A row for each pair and metric."""
    lines = [
        f"{runs} runs of two real servers, five rounds of a second each: how often a difference is said (at "
        "0 % a false alarm), and how often the interval misses the true ratio:",
        "",
        "| more service time | metric | said | missed |",
        "|---|---|---|---|",
    ]
    for c in found:
        missed = math.nan if not c.shown else 1 - c.held / c.shown
        row = f"| {c.slower:g} % | {c.metric} | {c.told} of {c.runs} | {missed:.0%} of {c.shown} |"
        lines.append(row.replace("0%", "0 %").replace("% of", " % of").replace("  %", " %"))
    return "\n".join(lines)

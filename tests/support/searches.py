"""Searches for a capacity that take no time: blocks are calculated, and no run is recorded."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from jostle.analysis.stats.crossing import Crossing
from jostle.analysis.stats.sample import Floats
from jostle.capacity.block import BATCHES, SETTLING, Block, SloTally
from jostle.capacity.block_length import block_s
from jostle.capacity.levels import by_level
from jostle.capacity.run import AROUND_S, FIRST
from jostle.capacity.search import Search, estimate_of
from jostle.capacity.slo import Slo, read_slo
from jostle.generator.bursts import simulated_answers
from support.simulated import question

__all__ = ["SERVERS", "Known", "found_in", "true_capacity"]

ALONE_S = 6.5
"""What a search spends before its first level."""

REQUESTS, HALVINGS, STARTING = 500_000, 12, 10_000


@dataclass(frozen=True)
class Known:
    """`discipline`: a `DisciplineSpec`. `service`: "exponential", "constant", or "two kinds", one request in
    ten 11 times as long as the others. `true`: requests per second up to which `slo` holds, by Erlang C where
    that applies and otherwise as `true_capacity` says.
    """

    discipline: Any
    mean_s: float
    capacity: float
    slo: str
    true: float
    service: str = "exponential"


def _workers(count: int) -> Any:
    return {"workers": {"workers": count}}


SERVERS = {
    "1 worker": Known(_workers(1), 0.010, 100, "p99 < 100 ms", 53.948),
    "1 fast worker": Known(_workers(1), 0.002, 500, "p99 < 100 ms", 453.948),
    "4 workers": Known(_workers(4), 0.010, 400, "p99 < 100 ms", 350.09),
    "8 workers, p90": Known(_workers(8), 0.010, 800, "p90 < 50 ms", 742.6),
    "2 workers, constant": Known(_workers(2), 0.010, 200, "p99 < 50 ms", 150.8, "constant"),
    "2 workers, two kinds": Known(_workers(2), 0.010, 200, "p99 < 200 ms", 117.6, "two kinds"),
    "1 worker, last come": Known({"lifo": {"workers": 1}}, 0.010, 100, "p99 < 100 ms", 40.1),
    "2 cores shared": Known({"processor-sharing": {"cores": 2}}, 0.010, 200, "p99 < 150 ms", 149.4),
}


def found_in(known: Known, seed: int, *, budget_s: float = 240.0) -> Crossing | None:
    """What a whole search says, as `jostle capacity` with its defaults goes on."""
    slo, rng = read_slo(known.slo), np.random.default_rng(seed)
    asked = question({}, [known.slo], budget_s=budget_s)
    search = Search(asked.slos, FIRST / known.mean_s, math.inf, False, asked.precision, seed)
    blocks: list[Block] = []
    left, batch = budget_s - ALONE_S, 0
    while (step := search.next(blocks, batch)).levels:
        for level in step.levels:
            seconds = block_s(asked, level, step, model=level in step.model)
            left -= seconds + AROUND_S
            if left < 0:
                return estimate_of(by_level(blocks, asked.slos))
            blocks.append(_block(known, level, seconds, slo, len(blocks), rng))
        batch += 1
    return estimate_of(by_level(blocks, asked.slos))


def true_capacity(known: Known, seed: int = 1) -> float:
    """By bisection, with half a million requests at each step."""
    slo, rng = read_slo(known.slo), np.random.default_rng(seed)
    low, high = 1.0, known.capacity
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        at, ends = _responses(known, middle, REQUESTS / middle, rng)
        share = float(np.mean((ends - at)[STARTING:] > (slo.limit_s or 0.0)))
        low, high = (low, middle) if share > slo.share else (middle, high)
    return (low + high) / 2


def _responses(known: Known, rate: float, seconds: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """When requests of a Poisson stream arrive at an idle server, and are answered, in seconds."""
    n = int(rng.poisson(rate * seconds))
    at = np.sort(rng.uniform(0, seconds, n))
    demands = (
        known.mean_s
        * {
            "exponential": lambda: rng.exponential(1, n),
            "constant": lambda: np.ones(n),
            "two kinds": lambda: rng.exponential(1, n) * np.where(rng.random(n) < 0.1, 5.5, 0.5),
        }[known.service]()
    )
    requests = [
        (round(a * 1e9), max(1, round(d * 1e9)), i) for i, (a, d) in enumerate(zip(at, demands, strict=True))
    ]
    ends = simulated_answers(known.discipline, [requests])[0]
    return at, np.array([end or 0 for end in ends]) / 1e9


def _block(
    known: Known, level: float, seconds: float, slo: Slo, number: int, rng: np.random.Generator
) -> Block:
    """Cut off at its end as a real one is: who has waited for longer than the limit by then is late."""
    limit_s = slo.limit_s or 0.0
    at, ends = _responses(known, level, seconds, rng)
    late, edges = ends - at > limit_s, np.linspace(SETTLING * seconds, seconds, BATCHES + 1)
    masks = [(ends >= low) & (ends < high) for low, high in pairwise(edges)]
    parts = [(int(mask.sum()), int(late[mask].sum())) for mask in masks]
    waiting = int(((ends >= seconds) & (seconds - at > limit_s)).sum())
    parts[-1] = parts[-1][0] + waiting, parts[-1][1] + waiting
    tally = SloTally(sum(n for n, _ in parts), sum(k for _, k in parts), tuple(parts))
    return Block(level, number, (tally,), level)

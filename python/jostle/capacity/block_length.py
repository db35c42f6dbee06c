"""How long a block lasts: long enough for the quantile, and for the queue to forget its initial state."""

from jostle.capacity.question import CapacityQuestion
from jostle.capacity.search import DOUBLING, SearchStep

__all__ = ["block_s"]

MIN_S, MAX_S = 3.0, 20.0
QUICK_LEAST_S = 2.0
PER_SHARE = 5.0
"""A block is long enough that about this many requests break the SLO when it is just kept."""

PER_LIMIT = 20.0
"""A block lasts at least this many times the SLO's time limit."""

MODEL_S = 8.0
"""The least length of a block that a model is fitted to or judged at: means vary more than shares."""

FORGETS = 4.0
"""A block lasts this many times λt², with arrival rate λ and time limit t.

The relaxation time of a queue is 1/(√μ - √λ)², nearly 4λ/(μ - λ)². If 1 % take longer than t, that is about
0.2 λt². A block of 4 λt² lasts 20 relaxation times; the fifth of it that is discarded at the start lasts 4,
after which a queue that began empty nearly has its stationary tail."""

PARTS = 12
"""A block takes at most the budget divided by this."""


def block_s(
    question: CapacityQuestion, rate: float, step: SearchStep | None, *, model: bool = False
) -> float:
    """The length of a block in seconds, at `rate` requests per second. `step`: None if the block is not a
    level of the search. `model`: whether a model is fitted to it or judged at it.
    """
    shortest_s = QUICK_LEAST_S if question.quick else MIN_S
    smallest = min(slo.share for slo in question.slos)
    longest = max((slo.limit_s or 0.0 for slo in question.slos), default=0.0)
    wanted = max(PER_SHARE / (smallest * rate), PER_LIMIT * longest)
    if step is not None and step.why != DOUBLING:
        wanted = max(wanted, FORGETS * rate * longest**2)
    max_s = max(shortest_s, min(MAX_S, question.budget_s / PARTS))
    min_s = MODEL_S if model else shortest_s
    return float(f"{min(max(wanted, min_s), max(min_s, max_s)):.2g}")

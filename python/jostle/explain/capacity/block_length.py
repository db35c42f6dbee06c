"""How long a block lasts: long enough for the quantile, and for the queue to forget what it was before."""

from jostle.explain.capacity.question import Question
from jostle.explain.capacity.search import DOUBLING, Step

__all__ = ["block_s"]

LEAST_S, MOST_S = 3.0, 20.0
QUICK_LEAST_S = 2.0
PER_SHARE = 5.0
"""A block is so long that this many requests may break the SLO at the limit."""

PER_LIMIT = 20.0
"""And this many times as long as the limit."""

MODEL_S = 8.0
"""A block that a model is fitted to, or judged at: means vary more than shares."""

FORGETS = 4.0
"""Relaxation of a queue: 1/(√μ - √λ)², nearly 4λ/(μ - λ)². Where 1 % take longer than t it is some 0.2 λt². A
block is 4 λt², 20 of these; the fifth of it that is left to the start is 4, after which a queue that began
empty has nearly its stationary tail."""

PARTS = 12
"""A block takes at most this part of the budget."""


def block_s(question: Question, rate: float, step: Step | None, *, model: bool = False) -> float:
    """Seconds, at so many requests per second. `step`: None of what is no level of the search. `model`: for a
    model.
    """
    least_s = QUICK_LEAST_S if question.quick else LEAST_S
    smallest = min(slo.share for slo in question.slos)
    longest = max((slo.limit_s or 0.0 for slo in question.slos), default=0.0)
    wanted = max(PER_SHARE / (smallest * rate), PER_LIMIT * longest)
    if step is not None and step.why != DOUBLING:
        wanted = max(wanted, FORGETS * rate * longest**2)
    most = max(least_s, min(MOST_S, question.budget_s / PARTS))
    least = MODEL_S if model else least_s
    return float(f"{min(max(wanted, least), max(least, most)):.2g}")

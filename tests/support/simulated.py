"""A capacity question about a server that is calculated."""

from collections.abc import Sequence
from typing import Any

from jostle.capacity.question import CapacityQuestion
from jostle.capacity.slo import read_slos
from jostle.plan import Plan
from jostle.plan.criteria.conditions import SLO_PARAMETER

__all__ = ["question"]


def question(
    simulate: dict[str, Any],
    slos: Sequence[str],
    *,
    closed: bool = False,
    think: str = "0s",
    budget_s: float = 120.0,
    most: float = float("inf"),
    quick: bool = False,
) -> CapacityQuestion:
    read = read_slos(slos)
    load = {"clients": 1, "for": "3s", "think": think}
    data = {
        "title": "What does it carry?",
        "contestants": ["made"],
        "rounds": 1,
        "repeats": False,
        "parameters": {SLO_PARAMETER: "; ".join(slo.text for slo in read)},
        "contestant": {"made": {"simulate": simulate}},
        "workload": {"alone": {"request": {"get": "/"}, "load": load}},
    }
    return CapacityQuestion("made", Plan.of(data, "test"), read, closed, most, 0.03, budget_s, quick)

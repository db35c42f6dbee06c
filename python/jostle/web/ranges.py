"""The checks of a range of a trial, made from its record as if the load had been sent in that range alone."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jostle.errors import NotARun
from jostle.live.followed import FollowedRun
from jostle.live.span import Span
from jostle.web.drawn import drawn_validity

__all__ = ["checks_within", "span_of"]

ROUNDING_NS = 1_000
"""Pages know the ends of intervals in microseconds."""


def span_of(start_s: float, end_s: float) -> Span:
    """Raises ValueError."""
    if not 0 <= start_s < end_s < math.inf:
        raise ValueError("it has no length")
    return Span(max(0, round(start_s * 1e9) - ROUNDING_NS), round(end_s * 1e9) + ROUNDING_NS)


def checks_within(folder: Path, number: int, span: Span) -> Mapping[str, Any]:
    """The verdict on a range, and its checks. Raises NotARun."""
    trial = FollowedRun(folder).trial(number, span)
    if trial is None:
        raise NotARun(f"there is no trial {number} in {folder.name}")
    while trial.read():
        pass
    state = trial.running.state()
    if state is None:
        raise NotARun(f"trial {number} has no interval between these times", "choose a longer range")
    return drawn_validity(state.validity)

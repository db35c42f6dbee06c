"""What must hold: "p99 < 100 ms", "errors < 1 %". Each is a share of requests that may break it."""

from collections.abc import Sequence
from dataclasses import dataclass

from jostle.errors import BadValue
from jostle.plan.criteria.conditions import requirement
from jostle.quantiles import NAMED

__all__ = ["Slo", "read_slo", "read_slos"]

QUANTILES = {name: p for name, p in NAMED.items() if p >= 0.5}

EXAMPLE = 'write for example "p99 < 100 ms" or "errors < 1 %"'


@dataclass(frozen=True)
class Slo:
    """At most `share` of the requests may fail or take longer than `limit_s`; None: only failures count."""

    text: str
    metric: str
    share: float
    limit_s: float | None


def read_slo(text: str) -> Slo:
    """Raises `BadValue`, which says what can be asked."""
    condition = requirement(text)
    if not condition.below:
        raise BadValue(f'"{text}" asks for more, not for less', EXAMPLE)
    if condition.metric in QUANTILES:
        if condition.limit <= 0:
            raise BadValue(f'"{text}" leaves no time for a response', EXAMPLE)
        share = round(1 - QUANTILES[condition.metric], 9)
        return Slo(text, condition.metric, share, condition.limit)
    if condition.metric == "errors":
        if not 0 < condition.limit < 1:
            raise BadValue(
                f'"{text}" cannot be tested: no number of requests proves a share of none', EXAMPLE
            )
        return Slo(text, "errors", condition.limit, None)
    raise BadValue(
        f'"{text}": a capacity is about {", ".join(QUANTILES)} and errors, not {condition.metric}', EXAMPLE
    )


def read_slos(texts: Sequence[str]) -> tuple[Slo, ...]:
    """All SLOs, of which there must be at least one."""
    if not texts:
        raise BadValue("what must hold?", f"give --slo: {EXAMPLE}")
    return tuple(read_slo(text) for text in texts)

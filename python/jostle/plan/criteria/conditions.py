"""Conditions as people write them: "p99 < 250 ms", "errors < 0.1 %"; for changes: "p99 > +5 %", "slower".

A condition names a metric, a direction, and a limit in the metric's own unit. One on a change as a whole
names only the direction.
"""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator

from jostle import units
from jostle.errors import BadValue, nearest
from jostle.plan.criteria.metrics import INDICES, METRICS

__all__ = [
    "INDICES",
    "SLO_PARAMETER",
    "Condition",
    "Conditions",
    "Direction",
    "OverallChange",
    "change",
    "limited_change",
    "not_changed",
    "of_one_trial",
    "requirement",
]

CHANGES = [name for name in METRICS if name not in INDICES]
"""Metrics whose change a condition may be about: an index is itself a comparison."""

Direction = Literal["slower", "faster", "changed"]
"""Which way a side differs from another as a whole."""

SLO_PARAMETER = "capacity-slo"
"""The parameter of a plan that contains the SLOs of a search for a capacity, by which it is recognised."""

BELOW, TOUCHING = ("<", "<=", "≤"), ("<=", "≤", ">=", "≥")

_OVERALL = re.compile(rf"\s*({'|'.join(get_args(Direction))})(?:\s+by\s+(.+?))?\s*")

_FORM = re.compile(r"\s*([a-z][a-z0-9. ]*?)\s*(<=|>=|<|>|≤|≥)\s*(.+?)\s*")


@dataclass(frozen=True)
class Condition:
    """`metric` is below or above `limit`, or equal to it if `touching`.

    A change from a to b is b / a - 1 if `relative`, else b - a.
    """

    text: str
    metric: str
    below: bool
    limit: float
    unit: str
    touching: bool = False
    relative: bool = False


@dataclass(frozen=True)
class OverallChange:
    """The other side is slower, faster, or either, in any of what users and operators notice.

    By more than `by`, a share: 0.03 is 3 %.
    """

    text: str
    direction: Direction
    by: float = 0.0


def requirement(text: str) -> Condition:
    """A condition on a figure. Raises BadValue with a similar metric or an example of what is allowed."""
    example = 'write for example "p99 < 250 ms" or "errors < 0.1 %"'
    metric, sign, value = _parts(text, METRICS, example)
    unit = METRICS[metric]
    return Condition(text, metric, sign in BELOW, _amount(value, unit), unit, sign in TOUCHING)


def of_one_trial(text: str) -> Condition:
    """A condition on a figure that every trial has. Raises BadValue, as `requirement` does."""
    condition = requirement(text)
    if condition.metric in INDICES:
        raise BadValue(
            f"the {condition.metric} is no figure of one trial", 'write for example "errors > 5 %"'
        )
    return condition


def _readable(value: Any) -> Any:
    if isinstance(value, str):
        raise BadValue(f'"{value}" is not a list', f'write it in brackets: ["{value}"]')
    for text in value if isinstance(value, list) else []:
        of_one_trial(str(text))
    return value


Conditions = Annotated[list[str], BeforeValidator(_readable)]
"""Conditions on figures of single trials, as they are written."""


def change(text: str) -> Condition | OverallChange:
    """A condition on the change from one side to another. Raises BadValue, as `requirement` does."""
    if overall := _OVERALL.fullmatch(text):
        direction: Direction = overall[1]  # type: ignore[assignment]
        return OverallChange(text, direction, size_of_change(overall[2]) if overall[2] else 0.0)
    return limited_change(text)


def not_changed(text: str) -> Direction | None:
    """The change that "not slower" excludes; None for anything else."""
    words = text.split()
    return next((word for word in get_args(Direction) if words == ["not", word]), None)


def limited_change(text: str) -> Condition:
    """A condition on the change of one metric. Raises BadValue, as `requirement` does."""
    example = 'write for example "slower", "slower by 3 %", "p99 > +5 %" or "p50 > +2 ms"'
    metric, sign, value = _parts(text, CHANGES, example)
    unit = METRICS[metric]
    factor = -1.0 if value[0] in "-−" else 1.0
    size = value.lstrip("+-−").strip()
    relative = size.endswith("%") and unit != "share"
    limit = factor * (_share(size) if relative else _amount(size, unit))
    return Condition(text, metric, sign in BELOW, limit, unit, sign in TOUCHING, relative)


def size_of_change(text: str) -> float:
    """The smallest change that matters, as a share. Raises BadValue."""
    size = _share(text) if text.endswith("%") else -1.0
    if not 0 < size < 1:
        raise BadValue(f"{text!r} is not the size of a change", 'write a percentage: "3 %"')
    return size


def _parts(text: str, known: Collection[str], example: str) -> tuple[str, str, str]:
    """Metric, sign, value."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise BadValue(f'"{text}" is not a condition', example)
    metric = " ".join(found[1].split())
    if metric not in known:
        raise BadValue(f"jostle does not measure {metric!r}", nearest(metric, known))
    return metric, found[2], found[3]


def _amount(value: str, unit: str) -> float:
    match unit:
        case "s":
            return units.duration(value)
        case "/s":
            return units.rate(value)
        case "bytes":
            return float(units.size(value))
        case "ratio" if value.endswith("%"):
            return _share(value)
        case "ratio" | "cores" | "clients":
            return _number(value)
        case _:
            return units.share(value)


def _number(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadValue(f"{value!r} is not a number", 'write for example "1.5"')
    return number


def _share(value: str) -> float:
    """A percentage that may exceed 100 %."""
    try:
        return _number(value.removesuffix("%").replace(",", "")) / 100
    except BadValue:
        raise BadValue(f"{value!r} is not a percentage", 'write for example "+5 %"') from None

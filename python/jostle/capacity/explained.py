"""What a change would do to the limits that `jostle explain` found: a route of which w are served at a time,
each for a time S, answers at most w/S a second.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jostle.analysis.results import Estimate
from jostle.analysis.results.capacity import FittedModel, WhatIf, WhatIfFigure
from jostle.capacity.changes import HARDLY, WhatIfChanges
from jostle.errors import JostleError, PlanError
from jostle.formatting import percent, plural, with_range
from jostle.units import format_rate

__all__ = ["what_if_explained"]

KIND, CPU = "jostle explanation", "CPU or waiting"
"""What the record calls itself, and the topic that says whether a route computes."""


@dataclass(frozen=True)
class _Limit:
    """A route of which so many are served at a time. `service`: what one takes by itself. `computes`: for
    which share of that it computes, and `cores`: on how many cores at most; None if not known.
    """

    route: str
    slots: Estimate
    service: Estimate
    computes: float | None
    cores: int | None


def what_if_explained(file: Path, changes: WhatIfChanges) -> WhatIf:
    """Predicts from an explanation as JSON (`jostle explain -o FILE.json`). Raises `PlanError` if it is none
    or does not fit the changes, `JostleError` if no limit was found.
    """
    try:
        explanation = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        hint = "give the folder of a run, or explanation.json"
        raise PlanError(f"{file} cannot be read: {error}", hint) from None
    if not isinstance(explanation, dict) or explanation.get("kind") != KIND:
        raise PlanError(f"{file} is no explanation", "write one: jostle explain URL -o explanation.json")
    if changes.clients is not None or changes.rate_factor is not None:
        raise PlanError("an explanation knows no load", "say how much: rate=400/s")
    limits = list(_limits(explanation))
    if not limits:
        raise JostleError(
            f"{file} found no route of which only so many are served at a time",
            "there is nothing to predict from",
        )
    figures, sentences = [], []
    for limit in limits:
        figure, said = _changed(limit, changes)
        figures.append(figure)
        sentences.append(said)
    sentences.append(
        "Predicted, not measured: as if what stands behind it were as quick with so many at a time, and each "
        "request took as long as by itself."
    )
    number, service_s = round(limits[0].slots.value or 1), limits[0].service.value or 0.0
    model = FittedModel("workers", number, (number, number), service_s, 0.0, [], True, "", [])
    return WhatIf(str(file), list(changes.text), model, figures, sentences)


def _limits(explanation: Mapping[str, Any]) -> Iterator[_Limit]:
    """The routes with a limit."""
    for finding in explanation["findings"]:
        figures = {one["name"]: one["figure"] for one in finding["figures"]}
        if "slots" in figures and "wait" in figures and not figures["slots"]["bound"]:
            slots, wait = (_estimate(figures[name]) for name in ("slots", "wait"))
            if slots.value and wait.value:
                route = finding["says"].partition(":")[0]
                yield _Limit(route, slots, wait, _computes(explanation, route), explanation.get("cores"))


def _computes(explanation: Mapping[str, Any], route: str) -> float | None:
    """The share of its time for which a route computes; None if that was not found out of this one."""
    for finding in explanation["findings"]:
        if finding["topic"] == CPU and f" {route} " in f" {finding['says']} ":
            figures = {one["name"]: one["figure"] for one in finding["figures"]}
            return figures["share"]["value"] if "share" in figures else None
    return None


def _estimate(figure: Mapping[str, Any]) -> Estimate:
    return Estimate(figure["value"], figure["low"], figure["high"], figure["unit"])


def _changed(limit: _Limit, changes: WhatIfChanges) -> tuple[WhatIfFigure, str]:
    route, slots, service = limit.route, limit.slots, limit.service
    if changes.cpu is not None and limit.computes is None:
        raise PlanError(
            f"cpu=: whether {route} computes or waits is not known",
            "explain the server with --pid, and with this route as the longest one",
        )
    factor = changes.factor or 1.0
    if changes.cpu is not None and limit.computes is not None:
        factor *= 1 - limit.computes + limit.computes / changes.cpu
    after = Estimate(changes.service_s) if changes.service_s is not None else _times(service, factor)
    many = slots if changes.workers is None else Estimate(float(changes.workers))
    now, then = _max_throughput(slots, service), _max_throughput(many, after)
    cores = _max_on_cores(limit, after) if changes.workers is not None else None
    if bounded := cores is not None and cores.value is not None and cores.value < (then.value or 0.0):
        then = cores
    text = (
        f"With {' and '.join(changes.text)}, {route} would answer at most {with_range(then)}, instead of "
        f"{with_range(now)}."
    )
    if changes.rate is not None and then.value:
        busy = changes.rate / then.value
        text += (
            f" At {format_rate(changes.rate)} it is busy for {percent(busy)} of the time."
            if busy < 1
            else f" At {format_rate(changes.rate)} requests would pile up: that is {percent(busy)} of it."
        )
    if limit.computes is not None and limit.computes > HARDLY and changes.workers is not None:
        text += f" It computes for {percent(limit.computes)} of its time, "
        text += f"and has {plural(limit.cores or 0, 'core')}." if bounded else "which takes as many cores."
    return WhatIfFigure(f"{route}, at most", now, then), text


def _max_on_cores(limit: _Limit, service: Estimate) -> Estimate | None:
    """How many a second its cores can compute; None if that is not known, or they need not."""
    if limit.computes is None or limit.cores is None or limit.computes <= HARDLY:
        return None
    return _max_throughput(Estimate(float(limit.cores)), _times(service, limit.computes))


def _times(service: Estimate, factor: float) -> Estimate:
    assert service.value is not None
    low, high = (None if end is None else end * factor for end in (service.low, service.high))
    return Estimate(service.value * factor, low, high)


def _max_throughput(slots: Estimate, service: Estimate) -> Estimate:
    assert slots.value is not None
    assert service.value is not None
    low = (slots.low or slots.value) / (service.high or service.value)
    high = (slots.high or slots.value) / (service.low or service.value)
    return Estimate(slots.value / service.value, low, high, "/s")

"""What `jostle what-if` is asked to change, as it is typed: "workers=8", "cpu=2x", "rate=+50%"."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jostle import units
from jostle.capacity import model as models
from jostle.errors import BadValue
from jostle.formatting import listed

__all__ = ["HARDLY", "KEYS", "WhatIfChanges", "read_changes"]

HARDLY = 0.1
"""What computes for less of its time than this needs no cores for more at a time."""

KEYS = ("workers", "pool", "cpu", "service", "rate", "clients")

EXAMPLE = (
    "write for example workers=8, pool=8, cpu=2x, service=-20%, service=8ms, rate=400/s, rate=+50% or "
    "clients=50"
)


@dataclass(frozen=True)
class WhatIfChanges:
    """What is to be changed; None: nothing."""

    text: tuple[str, ...]
    """As they were typed: "workers=8"."""

    workers: int | None = None
    """How many requests are served at a time: workers, or the slots of a pool."""

    rate: float | None = None
    rate_factor: float | None = None
    """What the highest measured rate is multiplied by."""

    clients: int | None = None
    service_s: float | None = None
    """The new service time, in seconds."""

    factor: float | None = None
    """What the service time is multiplied by."""

    cpu: float | None = None
    """How many times as fast the processor is."""

    def model(self, model: models.Model, computes: float = 1.0) -> models.Model:
        """The model with the changes to the server applied. `computes`: the share of the service time in
        which it computes.
        """
        factor = model.factor * (self.factor or 1.0)
        if self.service_s is not None:
            factor = model.factor * self.service_s / model.service_s
        if self.cpu is not None:
            factor *= 1 - computes + computes / self.cpu
        return replace(model, factor=factor, workers=self.workers or model.workers)

    @property
    def of_the_server(self) -> bool:
        return bool(self.workers or self.service_s or self.factor or self.cpu)

    def level(self, highest: float) -> float | None:
        """The load that is asked about; `highest`: the highest that was measured. None if none is."""
        if self.rate_factor is not None:
            return highest * self.rate_factor
        return self.rate if self.rate is not None else self.clients


def read_changes(texts: Sequence[str]) -> WhatIfChanges:
    """Reads texts such as "workers=8" and "service=-20%". Raises `BadValue`."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value:
            raise BadValue(f"{text!r} is not NAME=VALUE", EXAMPLE)
        if key not in KEYS:
            raise BadValue(f"{key!r} cannot be changed", f"what can be: {listed(KEYS)}")
        if key in found:
            raise BadValue(f"{key} is given twice", EXAMPLE)
        found[key] = value
    if not found:
        raise BadValue("what is to be changed?", EXAMPLE)
    for one, other, why in TOGETHER:
        if one in found and other in found:
            raise BadValue(f"{one} and {other} together: {why}", "give one of them")
    return WhatIfChanges(tuple(texts), **_values(found))


TOGETHER = (
    ("rate", "clients", "a load is open or closed"),
    ("workers", "pool", "either is how many requests are served at a time"),
    ("cpu", "service", "either is how long a request takes"),
)


def _values(found: dict[str, str]) -> dict[str, Any]:
    service, rate = found.get("service", ""), found.get("rate", "")
    slots = next((name for name in ("workers", "pool") if name in found), "workers")
    return {
        "workers": _count(found.get(slots), slots),
        "rate": _positive(units.rate(rate, bare="s"), "rate") if rate and "%" not in rate else None,
        "rate_factor": _factor(rate, "rate") if "%" in rate else None,
        "clients": _count(found.get("clients"), "clients"),
        "service_s": _positive(units.duration(service), "service")
        if service and "%" not in service
        else None,
        "factor": _factor(service, "service") if "%" in service else None,
        "cpu": _times(found["cpu"]) if "cpu" in found else None,
    }


def _count(text: str | None, name: str) -> int | None:
    return None if text is None else int(_positive(units.count(text), name))


def _positive(value: float, name: str) -> float:
    if value <= 0:
        raise BadValue(f"{name} must be more than nothing", EXAMPLE)
    return value


def _times(text: str) -> float:
    """ "2x" → 2.0."""
    try:
        return _positive(float(text.lower().removesuffix("x")), "cpu")
    except ValueError:
        raise BadValue(f"cpu={text} is not how many times as fast", "write for example cpu=2x") from None


def _factor(text: str, name: str) -> float:
    """ "-20%" → 0.8, "+50%" → 1.5."""
    number = text.replace("−", "-").removesuffix("%").strip()
    try:
        factor = 1 + float(number) / 100
    except ValueError:
        raise BadValue(f"{text!r} is not a change of the {name}", EXAMPLE) from None
    if number[:1] not in "+-":
        raise BadValue(f"{text!r} does not say whether it is more or less", f"write {name}=-20% or +20%")
    return _positive(factor, name)

"""Changes of a load while it runs, as users write them: "rate=500/s", "clients=50", "x2", "hold", "next"."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from jostle import units
from jostle.errors import BadValue
from jostle.units import exact_number

__all__ = ["Change", "read_change"]

FORMS = "write rate=500/s, clients=50, x2 (twice as much), hold, or next (the next phase)"

NO_LOAD = "end the run instead: jostle steer RUN stop"


@dataclass(frozen=True)
class Change:
    """What is to become of a load."""

    kind: Literal["rate", "clients", "scale", "hold", "next"]
    value: float = 0
    """Requests per second, clients, or how many times what it is; 0 where there is none."""

    def __str__(self) -> str:
        """As users write it."""
        match self.kind:
            case "rate":
                return f"rate={exact_number(self.value)}/s"
            case "clients":
                return f"clients={self.value:.0f}"
            case "scale":
                return f"x{exact_number(self.value)}"
        return self.kind

    def spec(self) -> Any:
        """The engine's `Change` (crates/engine/src/spec/steer.rs)."""
        match self.kind:
            case "rate" | "scale":
                return {self.kind: float(self.value)}
            case "clients":
                return {"clients": int(self.value)}
            case "hold":
                return "hold"
        return "next-phase"


def read_change(text: str) -> Change:
    """The change that a text means. Raises `BadValue`."""
    text = text.strip()
    key, equals, value = (part.strip() for part in text.partition("="))
    if text in ("hold", "next"):
        return Change("hold" if text == "hold" else "next")
    if equals and key == "rate":
        return Change("rate", _positive(text, units.rate(value), NO_LOAD))
    if equals and key == "clients":
        return Change("clients", _positive(text, units.count(value), NO_LOAD))
    if text.startswith("x"):
        try:
            factor = float(text[1:])
        except ValueError:
            factor = math.nan
        if math.isfinite(factor):
            return Change("scale", _positive(text, factor, FORMS))
    raise BadValue(f"{text!r} is no change of a load", FORMS)


def _positive(text: str, value: float, hint: str) -> float:
    if value <= 0:
        raise BadValue(f"{text!r} leaves no load", hint)
    return value

"""What other thresholds would have made of the same runs: a row for each value that is tried."""

import contextlib
import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from truth.verdict.again import judged_again
from truth.verdict.rates import Row, shares

__all__ = ["TRIED", "Tried", "markdown", "tried"]

VALIDITY = "jostle.analysis.validity."
TRIED: Mapping[str, Sequence[float]] = {
    "machine.SUSPECT_ABOVE": (0.05, 0.2, 0.4),
    "machine.ALL": (0.2, 0.5),
    "generator_core.SUSPECT_ABOVE": (0.1, 0.25),
}
"""Each in turn, with all others as they are. The names are those of the modules and constants."""


@dataclass(frozen=True)
class Tried:
    """A value of a threshold, and what follows: of those called good, the wrong ones; of the good, those that
    were thrown away.
    """

    name: str
    value: float
    in_use: bool
    wrong_called_good: float
    good_thrown_away: float


def tried(folder: Path, rows: Sequence[Row]) -> list[Tried]:
    """All of `TRIED`. `rows`: the runs as they are judged with the values in use."""
    found = []
    for name, values in TRIED.items():
        for value in values:
            in_use = _value_of(name) == value
            with _with(name, value):
                found.append(Tried(name, value, in_use, *shares(rows if in_use else judged_again(folder))))
    return found


def _value_of(name: str) -> float:
    module, constant = name.split(".")
    return float(getattr(importlib.import_module(VALIDITY + module), constant))


@contextlib.contextmanager
def _with(name: str, value: float) -> Iterator[None]:
    module, constant = name.split(".")
    before = _value_of(name)
    setattr(importlib.import_module(VALIDITY + module), constant, value)
    try:
        yield
    finally:
        setattr(importlib.import_module(VALIDITY + module), constant, before)


def markdown(found: Sequence[Tried]) -> str:
    """A row for each value; those in use are bold."""
    lines = [
        "The same runs, judged with other thresholds, each changed alone; bold: in use.",
        "",
        "| threshold | value | wrong, but called good | good, but thrown away |",
        "|---|---|---|---|",
    ]
    for one in found:
        value = f"{100 * one.value:.0f} %"
        rates = f"{100 * one.wrong_called_good:.1f} % | {100 * one.good_thrown_away:.1f} %"
        lines.append(f"| {one.name} | {f'**{value}**' if one.in_use else value} | {rates} |")
    return "\n".join(lines)

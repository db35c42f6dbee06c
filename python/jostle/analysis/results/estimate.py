"""A figure with its interval, the shape of a set of times, and what an interval decides."""

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Decision", "DifferenceFinding", "Distribution", "Estimate"]


Decision = Literal["pass", "fail", "undecided"]

DifferenceFinding = Literal["less", "more", "same", "may be chance", "undecided"]


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval, of 95 % unless stated otherwise.

    `bound` is "≥" if the sample can only bound the value from below (`high` is then None). `value` is None if
    nothing can be said; `note` then says why (for example how many samples it would need).
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    unit: str = "s"
    bound: Literal["", "≥"] = ""
    n: int = 0
    note: str = ""
    this_run_only: bool = False  # of a single round: it says what happened, but must not decide anything
    rounds: tuple[float, ...] = ()  # the values of the rounds, if it is computed from these


@dataclass(frozen=True)
class Distribution:
    """The shape of a set of times, ready to draw. All lists may be empty when there is nothing to show."""

    n: int
    mean_s: float | None
    min_s: float | None
    max_s: float | None
    density_x_s: list[float] = field(default_factory=list)  # ascending, log-spaced
    density: list[float] = field(default_factory=list)  # per e-fold; empty when n < 50
    quantile_p: list[float] = field(default_factory=list)  # 0 … 1 − 1/n, denser towards 1
    quantile_s: list[float] = field(default_factory=list)
    letter_depth: list[int] = field(default_factory=list)  # 1 = median, 2 = fourths, …
    letter_low_s: list[float] = field(default_factory=list)
    letter_high_s: list[float] = field(default_factory=list)
    values_s: list[float] = field(default_factory=list)  # every value, only when n < 50 (rug)

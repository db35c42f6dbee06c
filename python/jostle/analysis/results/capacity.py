"""What a capacity run says: the answer with its interval, the curve, and the model that was fitted to it."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from jostle.analysis.results.estimate import Estimate
from jostle.analysis.results.version import FORMAT

__all__ = [
    "Answer",
    "CapacityResult",
    "Decided",
    "FittedModel",
    "Hysteresis",
    "LevelResult",
    "Prediction",
    "Scalability",
    "Sized",
    "Sizing",
    "SloResult",
    "WhatIf",
    "WhatIfFigure",
]

Answer = Literal["found", "generator", "at least", "none", "cannot tell"]
"""found: an interval. generator: the generator was the limit. at least: all levels held, and the budget was
spent. none: missed at the lowest level. cannot tell: too little was measured."""

Decided = Literal["holds", "misses", "open", "generator", "spoiled"]
"""Of a level. open: too near to the limit, or too few requests. generator: it, not the server, was the limit.
spoiled: other programs or virtual machines disturbed all of its blocks."""


@dataclass(frozen=True)
class SloResult:
    """At most `share` of the requests take longer than `limit_s`; None: at most so many fail."""

    text: str
    share: float
    limit_s: float | None
    capacity: Estimate


@dataclass(frozen=True)
class LevelResult:
    """One rate, or number of clients. `exceeded_share`: of the requests that break the SLO that decides."""

    level: float
    decided: Decided
    why: str
    trials: list[int]
    requests: int
    exceeded_share: float
    response: dict[str, Estimate]  # mean, p50, p90, p99
    error_share: float
    offered_per_s: float | None
    achieved_per_s: float
    in_flight: float
    generator_cpu: float
    lateness_p99_s: float | None
    server_cores: float | None
    held_out: bool = False


@dataclass(frozen=True)
class Prediction:
    """`error`: predicted / measured - 1. `bar`: the most that is accepted; None: it is not judged. `low_s`,
    `high_s`: where nine of ten trials as short as the measured one would lie: chance explains what is within.
    """

    level: float
    quantity: str
    predicted_s: float
    low_s: float
    high_s: float
    measured_s: float
    error: float
    bar: float | None
    accepted: bool


@dataclass(frozen=True)
class FittedModel:
    """`discipline`: "workers" (first come, first served), "processor-sharing", or "no limit". `workers`: 0
    where there is no limit. `band`: the fewest and the most workers that fit as well.
    """

    discipline: str
    workers: int
    band: tuple[int, int]
    service_mean_s: float
    service_cv: float
    fitted_on: list[float]
    accepted: bool
    why: str
    predictions: list[Prediction]


@dataclass(frozen=True)
class Scalability:
    """The universal scalability law. `peak`: concurrency of the highest throughput; None: it has none."""

    gamma_per_s: float
    alpha: float
    beta: float
    peak: float | None
    note: str


@dataclass(frozen=True)
class Hysteresis:
    """After an overload at `above`, does `level` hold as before? None: it could not be told."""

    above: float
    level: float
    holds: bool | None
    message: str


@dataclass(frozen=True)
class CapacityResult:
    """`unit`: "/s", or "clients" of a closed crowd. `capacity`: over all SLOs, of the one that decides."""

    title: str
    folder: str
    started: str
    target: str
    unit: str
    answer: Answer
    capacity: Estimate
    decides: str
    sentences: list[str]
    slos: list[SloResult]
    levels: list[LevelResult]
    hysteresis: Hysteresis | None
    model: FittedModel | None
    model_note: str
    scalability: Scalability | None
    notes: list[str]
    took_s: float | None
    rerun: str
    seed: int
    simulated: bool
    format: int = field(default=FORMAT)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class WhatIfFigure:
    """`now`: as measured, where it was. `predicted`: with a band over all models that fit as well."""

    quantity: str
    now: Estimate | None
    predicted: Estimate


@dataclass(frozen=True)
class WhatIf:
    """A prediction, never a measurement. `changes`: as they were given."""

    folder: str
    changes: list[str]
    model: FittedModel
    figures: list[WhatIfFigure]
    sentences: list[str]
    format: int = field(default=FORMAT)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Sized:
    """A number of workers. `broken_share`: of the requests that break the SLO."""

    workers: int
    utilisation: float
    broken_share: float


@dataclass(frozen=True)
class Sizing:
    """How many workers a load needs; `workers` None: no number is enough."""

    title: str
    slo: str
    workers: int | None
    sentences: list[str]
    assumptions: list[str]
    rows: list[Sized]
    format: int = field(default=FORMAT)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

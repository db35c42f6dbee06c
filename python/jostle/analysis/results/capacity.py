"""What a capacity run says: the answer with its interval, the curve, and the model that was fitted to it."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from jostle.analysis.results.estimate import Estimate
from jostle.analysis.results.plain_data import plain_data
from jostle.analysis.results.version import FORMAT

__all__ = [
    "CapacityAnswer",
    "CapacityResult",
    "FittedModel",
    "Hysteresis",
    "LevelDecision",
    "LevelResult",
    "Prediction",
    "Scalability",
    "Sized",
    "Sizing",
    "SloResult",
    "WhatIf",
    "WhatIfFigure",
]

CapacityAnswer = Literal["found", "generator", "at least", "none", "undecided"]
"""found: an interval. generator: the generator was the limit. at least: all levels held, and the budget was
spent. none: missed at the lowest level. undecided: too little was measured."""

LevelDecision = Literal["holds", "misses", "undecided", "generator", "spoiled", "away"]
"""What was decided about a level. undecided: too near to the limit, or too few requests. generator: it, not
the server, was the limit. spoiled: other programs or virtual machines disturbed all of its blocks. away: the
server was not there."""


@dataclass(frozen=True)
class SloResult:
    """At most `share` of the requests take longer than `limit_s`, or, if that is None, fail."""

    text: str
    share: float
    limit_s: float | None
    capacity: Estimate


@dataclass(frozen=True)
class LevelResult:
    """One rate, or number of clients. `exceeded_share`: share of requests that break the deciding SLO."""

    level: float
    decided: LevelDecision
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
    statuses: dict[str, int] = field(default_factory=dict)  # of right responses; {} where there are none


@dataclass(frozen=True)
class Prediction:
    """What the model predicts of one metric at one level."""

    level: float
    metric: str
    predicted_s: float
    low_s: float
    """From here to `high_s` nine of ten trials as short as the measured one would lie, by chance alone."""
    high_s: float
    """The other end of it."""
    measured_s: float
    error: float
    """Predicted ÷ measured − 1."""
    bar: float | None
    """The largest error that is accepted; None: it is not judged."""
    accepted: bool
    measured_low_s: float | None = None
    """From here to `measured_high_s` is the interval of the measured figure; None if it has none."""
    measured_high_s: float | None = None
    """The other end of it."""

    @property
    def overlaps(self) -> bool:
        """Whether what was predicted and what was measured may be the same."""
        low = self.measured_s if self.measured_low_s is None else self.measured_low_s
        high = self.measured_s if self.measured_high_s is None else self.measured_high_s
        return low <= self.high_s and self.low_s <= high


@dataclass(frozen=True)
class FittedModel:
    """The queueing model that was fitted to some levels."""

    discipline: str
    """Either "workers" (first come, first served), "processor-sharing", or "no limit"."""
    workers: int
    """0 if there is no limit."""
    band: tuple[int, int]
    """The fewest and the most workers that fit equally well."""
    service_mean_s: float
    service_cv: float
    fitted_on: list[float]
    accepted: bool
    why: str
    predictions: list[Prediction]

    @property
    def worst(self) -> Prediction | None:
        """The prediction that was the furthest off, of those that were judged and did not hold; None if all
        did.
        """
        wrong = [one for one in self.predictions if one.bar is not None and not one.accepted]
        return max(wrong, key=lambda one: abs(math.log1p(one.error)), default=None)

    @property
    def usable(self) -> bool:
        """Whether predictions may be made, with the error that was measured if it was not accepted: what it
        predicted of levels that it had not seen overlaps with what was measured.
        """
        wrong = [one for one in self.predictions if one.bar is not None and not one.accepted]
        return self.accepted or (bool(self.predictions) and all(one.overlaps for one in wrong))


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
    """Whether `level` holds as before after an overload at `above`; None if that is not known."""

    above: float
    level: float
    holds: bool | None
    message: str


@dataclass(frozen=True)
class CapacityResult:
    """Up to which load a server keeps its SLOs."""

    title: str
    folder: str
    started: str
    target: str
    unit: str
    """Either "/s" or, in a closed loop, "clients"."""
    answer: CapacityAnswer
    capacity: Estimate
    """Over all SLOs, that of the deciding one."""
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
        """All of it for `json.dumps`; docs/result.schema.json describes it."""
        return plain_data("jostle capacity", self)


@dataclass(frozen=True)
class WhatIfFigure:
    """A figure before and after the change."""

    metric: str
    now: Estimate | None
    """As measured, if it was."""
    predicted: Estimate
    """With a band over all models that fit equally well."""


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
        """All of it for `json.dumps`; docs/result.schema.json describes it."""
        return plain_data("jostle what-if", self)


@dataclass(frozen=True)
class Sized:
    """A number of workers. `broken_share`: share of requests that break the SLO."""

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
        """All of it for `json.dumps`; docs/result.schema.json describes it."""
        return plain_data("jostle sizing", self)

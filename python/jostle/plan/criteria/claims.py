"""What was published, and what is claimed: figures with their source, claims with the rules that decide them.

The rules are fixed in the plan, before anything is measured. A part has a rule (`above`, `below`, `between`)
for what the article says in words. If the article gives a number, the part names it (`published`), and its
size is judged too. `same_size` is the only rule for that, so that no claim gets a tolerance of its own.
"""

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from jostle import units
from jostle.errors import BadValue, nearest
from jostle.plan.base import Table, is_lenient
from jostle.plan.criteria.metrics import INDICES, METRICS, base_unit_of
from jostle.plan.values import PositiveCount, Share

__all__ = [
    "Claim",
    "Drawn",
    "Needs",
    "Opponent",
    "Part",
    "PlannedFigure",
    "Published",
    "Ratio",
    "in_base_unit",
    "same_size",
]

SAME = 1.5
"""A value within this factor of the published one is of the same size."""


def same_size(published: float, *, ratio: bool) -> tuple[float, float]:
    """Lowest and highest value of the same size as a published one, which must be above 0.

    They are within a factor of `SAME`. A ratio must also show an effect of about the same strength: between
    half and twice the published one on a logarithmic scale: 15 % more covers 7 % to 32 %, but not 50 %.
    """
    low, high = published / SAME, published * SAME
    if not ratio or published == 1:
        return low, high
    weak, strong = sorted((math.sqrt(published), published**2))
    return max(low, weak), min(high, strong)


def _known(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, str) and value not in METRICS and not is_lenient(info):
        raise BadValue(f"jostle does not measure {value!r}", nearest(value, METRICS))
    return value


Metric = Annotated[str, BeforeValidator(_known)]


class PlannedFigure(Table):
    """A figure as published."""

    contestant: str = Field(description="whose figure it is, as this plan names it")
    workload: str = Field(description="the workload of this plan that corresponds to it")
    metric: Metric = Field(description='what was published: "throughput", "p50", "mean", …')
    value: float = Field(description="the figure")
    unit: str = Field(description='its unit as published: "requests/5 s", "s"')
    note: str = Field(default="", description="a note for the reader")

    @model_validator(mode="after")
    def _in_a_unit_of_its_quantity(self, info: ValidationInfo) -> "PlannedFigure":
        if is_lenient(info):
            return self
        try:
            unit, _ = units.base_unit(self.unit)
        except BadValue as error:
            raise BadValue(f"unit: {error.message}", error.hint) from None
        measured = base_unit_of(self.metric)
        if measured is not None and unit != measured:
            raise BadValue(
                f"unit: {self.metric} is not measured in {self.unit!r}",
                f'write for example "{_EXAMPLE[measured]}"',
            )
        return self

    @property
    def amount(self) -> float | None:
        """The figure in the base unit of its metric, to compare and draw it: per second for "requests/5 s".

        None if the plan was written by another version and the unit does not fit.
        """
        return in_base_unit(self.value, self.unit, self.metric)


def in_base_unit(value: float, unit: str, metric: str) -> float | None:
    """Convert `value` from `unit` to the base unit of `metric`; None if the unit does not fit."""
    try:
        base, factor = units.base_unit(unit)
    except BadValue:
        return None
    return value * factor if base == base_unit_of(metric) else None


_EXAMPLE = {"s": "ms", "/s": "requests/5 s", "bytes": "MB", "": "%"}


class Drawn(Table):
    """A published picture; the report draws the measured figures in the same form."""

    form: Literal["boxes", "density", "ranks"] = Field(
        description="how the picture is drawn: `boxes`, box plots of five published numbers; `density`, "
        "densities from such numbers; `ranks`, response times by rank"
    )
    workload: str = Field(description="the workload that corresponds to the picture")


class Published(Table):
    """Published figures, which reports show beside the measured ones."""

    source: str = Field(default="", description="author, title, publisher, date")
    url: str = Field(default="", description="where they can be read: http:// or https://")
    setup: str = Field(default="", description="the set-up they were measured on: one fact per line")
    figures: list[PlannedFigure] = Field(default=[], description="the figures")
    pictures: list[Drawn] = Field(default=[], description="published pictures, by their form")

    @model_validator(mode="after")
    def _with_source(self) -> "Published":
        if not self.source.strip():
            raise BadValue(
                "figures without a source" if self.figures else "no source is named",
                'say who published them: source = "Author, Title, publisher, date"',
            )
        if self.url and not self.url.startswith(("http://", "https://")):
            raise BadValue(f"url = {self.url!r} is not a web address", 'write one: url = "https://…"')
        return self


class Opponent(Table):
    """What the metric is divided by. Give only what differs; other keys are taken from the part."""

    contestant: str = Field(default="", description="another server")
    workload: str = Field(default="", description="another workload")
    metric: Metric | None = Field(default=None, description="another metric of the same unit")


class Ratio(Table):
    """The ratio of a metric under two workloads, for each contestant, as a table and a picture."""

    title: str = Field(min_length=1, description="title in reports")
    metric: Metric = Field(description='"throughput", "mean", …')
    workload: str = Field(description="the workload whose metric is divided")
    against: str = Field(description="the workload by whose metric it is divided")

    @model_validator(mode="after")
    def _of_two(self) -> "Ratio":
        if self.metric in INDICES:
            raise BadValue(f"{self.metric} is a ratio already", "write a [[starvation]]")
        if self.workload == self.against:
            raise BadValue("against itself", "name two workloads")
        return self


class Part(Table):
    """One thing that must hold. Exactly one of `above`, `below` and `between` is its rule."""

    metric: Metric = Field(description='"p99", "throughput", "spread", "starvation index", …')
    contestant: str = Field(
        description="for this server; a name alone (go) stands for all of its variants, unless it was itself "
        "measured"
    )
    workload: str = Field(description="under this workload")
    against: Opponent | None = Field(
        default=None,
        description="if given, the rule is about a ratio: the metric divided by that of another "
        "contestant or workload, or by another metric, in the same round",
    )
    above: float | None = Field(
        default=None, description="the whole interval must lie above this, and not touch it"
    )
    below: float | None = Field(
        default=None, description="the whole interval must lie below this, and not touch it"
    )
    between: list[float] | None = Field(
        default=None, description="the whole interval must lie within these, which it may touch"
    )
    published: float | None = Field(
        default=None,
        description="the published value (in seconds, bytes, or per second) or the published ratio; with "
        "`above` or `below`, its size is checked too",
    )

    @property
    def limits(self) -> tuple[float, float]:
        """Lowest and highest value that satisfies the rule; infinite on the open side."""
        low, high = self.between or (-math.inf, math.inf)
        return (low if self.above is None else self.above), (high if self.below is None else self.below)

    @property
    def sides(self) -> list[tuple[str, str, str]]:
        """Contestant, workload and metric of the measured side and, for a ratio, of the divisor."""
        others = [Opponent(), *([self.against] if self.against else [])]
        return [
            (o.contestant or self.contestant, o.workload or self.workload, o.metric or self.metric)
            for o in others
        ]

    @property
    def size(self) -> tuple[float, float] | None:
        """Lowest and highest value of the published size; None if the size is not judged.

        With `between` it is not: that rule has two sides already.
        """
        if self.published is None or self.between is not None:
            return None
        return same_size(self.published, ratio=self.against is not None)

    @model_validator(mode="after")
    def _consistent(self) -> "Part":
        rules = [key for key in ("above", "below", "between") if getattr(self, key) is not None]
        if len(rules) != 1:
            raise BadValue(
                "a rule is missing" if not rules else f"{' and '.join(rules)} together",
                "write exactly one of above = 1.5, below = 0.1 and between = [0.7, 1.0]",
            )
        if self.between is not None and not (len(self.between) == 2 and self.between[0] < self.between[1]):
            raise BadValue(
                f"between = {self.between} is not an interval", "write two ascending numbers: [0.7, 1.0]"
            )
        if self.against is not None:
            self._check_ratio(self.against)
        self._check_published()
        return self

    def _check_published(self) -> None:
        """Check that the published value satisfies the rule; otherwise the rule is not the article's."""
        low, high = self.limits
        if self.published is None:
            return
        if self.published <= 0:
            raise BadValue(f"published = {self.published:g} has no size", "leave published out")
        if not low <= self.published <= high:
            raise BadValue(
                f"published = {self.published:g} does not satisfy the rule beside it",
                "a rule that the published value breaks is not the article's: change one of them",
            )

    def _check_ratio(self, against: Opponent) -> None:
        other = against.metric or self.metric
        if METRICS.get(other) != METRICS.get(self.metric):
            raise BadValue(f"{self.metric} against {other}: their units differ", "compare like with like")
        if {self.metric, other} & {*INDICES}:
            raise BadValue(
                f"{self.metric} against another: an index is a ratio already",
                "write a rule for each of the two indices",
            )
        ours, theirs = self.sides
        if ours == theirs:
            raise BadValue("against itself", 'say what differs, for example against = { contestant = "go" }')


class Needs(Table):
    """What a machine must have for a claim to mean the same as in the article."""

    server_cores: PositiveCount | None = Field(
        default=None,
        description="the server has at least so many cores; with fewer, the result is *undecided*",
    )
    server_cores_at_most: PositiveCount | None = Field(
        default=None,
        description="the server has at most so many cores; with more, the result is *undecided*",
    )
    settled: Share | None = Field(
        default=None,
        description="how far the throughputs of the last two of several `runs` may differ (the whole "
        'interval): "3 %". If they may differ by more, the claim is decided only if it would be '
        "decided in the same way after a further run whose throughput changed by as much again",
    )
    memory_limit: bool = Field(
        default=False,
        description="true: *undecided* if the `memory` limit of a workload of this claim could not be set",
    )
    network: bool = Field(
        default=False,
        description="true: *undecided* unless all generators ran on other machines (`--cluster`)",
    )
    parameters: dict[str, int | float | str] = Field(
        default={},
        description="parameters of the plan must have these values, written in the same way: "
        "{ think = '900ms' }; otherwise the result is *undecided*",
    )


class Claim(Table):
    """What an article says, with the rule that decides whether it reproduces; or another check."""

    says: str = Field(min_length=1, description="the claim in the article's own terms")
    published: str = Field(default="", description="the figures it was based on")
    ours: bool = Field(
        default=False,
        description="a check that the article does not make: it holds or does not hold",
    )
    needs: Needs = Field(
        default=Needs(), description="what the claim needs to be decided: { server-cores = 8 }"
    )
    holds: Annotated[list[Part], Field(min_length=1)] = Field(
        description="the parts of the claim; all of them must hold"
    )

    @model_validator(mode="after")
    def _whose(self) -> "Claim":
        if self.ours and self.published:
            raise BadValue(
                "ours and published together", "leave out one of them: what is ours was not published"
            )
        return self

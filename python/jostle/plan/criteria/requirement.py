"""What a plan requires: `[[require]]`."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from jostle import units
from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.criteria.conditions import Condition, OverallChange, limited_change, not_changed, requirement
from jostle.plan.values import Share, shown
from jostle.quantiles import NAMED

__all__ = ["Requirement"]

REQUEST_METRICS = (*NAMED, "errors", "throughput")
"""The metrics that a single request of several has, or a step."""


def _confidence(value: Any) -> Any:
    share = units.share(value) if isinstance(value, str) else value
    if not isinstance(share, float) or not 0.5 <= share <= 0.999:
        raise BadValue(f"{shown(value)} is not a confidence from 50 % to 99.9 %", 'write for example "95 %"')
    return share


class Requirement(Table):
    """What must hold: it passes, fails, or is undecided (exit codes 0, 1 and 4)."""

    that: str = Field(
        description='"p99 < 250 ms", "errors < 0.1 %", "throughput > 1000/s", "memory < 1 GB": a metric '
        "([above](#metrics)), one of < <= > >=, and a limit in its unit. Or about the difference to "
        '`against`: "not slower", "not faster", "not changed"'
    )
    against: str = Field(
        default="",
        description="the contestant with which the others are compared, round by round (default: the plan's "
        'first); with it, a limit may be a change, too: that = "p99 < +10 %"',
    )
    by: Share | None = Field(
        default=None,
        description='of "not slower": the smallest change that matters ("3 %"). A smaller one is no failure',
    )
    workload: str = Field(default="", description="for this workload only")
    request: str = Field(
        default="",
        description="of this request of a workload that sends several, by its name in the results: "
        '"search", "/hello", "POST /orders"; `that` is then about a quantile, `errors` or `throughput`',
    )
    step: str = Field(
        default="",
        description="of this step of a journey, by its name in the results; of a workload with several "
        'journeys that is "buy: order"',
    )
    contestant: str = Field(
        default="",
        description="for this contestant only; a name alone (go) means all of its variants, unless the plan "
        "also lists the name alone",
    )
    confidence: Annotated[
        float, BeforeValidator(_confidence), WithJsonSchema({"type": ["string", "number"]})
    ] = Field(default=0.95, description='confidence of the interval that decides ("95 %")')

    @property
    def part(self) -> str:
        """The name of the request or the step that it is about; "" if it is about a whole workload."""
        return self.request or self.step

    @property
    def of_difference(self) -> bool:
        """Whether it is about a difference between contestants, and not about a figure of one."""
        return bool(self.against) or not_changed(self.that) is not None

    @property
    def condition(self) -> Condition:
        """What must hold of a figure, or, if it is about a difference, of the change of one."""
        return limited_change(self.that) if self.of_difference else requirement(self.that)

    @property
    def text(self) -> str:
        """What must hold, with the smallest change that matters."""
        return self.that if self.by is None else f"{self.that} by {units.format_share(self.by)}"

    @property
    def unwanted(self) -> OverallChange | None:
        """The change as a whole that must not be; None if it is about one metric."""
        direction = not_changed(self.that)
        return direction and OverallChange(self.text, direction, self.by or 0.0)

    @model_validator(mode="after")
    def _readable(self) -> "Requirement":
        if self.unwanted is None:
            self.condition  # noqa: B018 (it says what is wrong)
        if self.part:
            self._is_of_a_request()
        if self.by is not None and self.unwanted is None:
            raise BadValue("by: only a change as a whole has a smallest size", 'write that = "not slower"')
        if self.by is not None and not 0 < self.by < 1:
            raise BadValue(f"by = {self.by:g} is not the size of a change", 'write for example by = "3 %"')
        return self

    def _is_of_a_request(self) -> None:
        if self.request and self.step:
            raise BadValue("request and step together", "write a [[require]] for each")
        if self.of_difference:
            raise BadValue(
                "contestants are compared by whole workloads, and not by single requests",
                "leave out request and step, or make the request a workload of its own",
            )
        if self.condition.metric not in REQUEST_METRICS:
            raise BadValue(
                f"a single request has no {self.condition.metric!r} of its own",
                f"it has {', '.join(REQUEST_METRICS)}",
            )

"""A parameter that is calibrated once per machine: so that a request takes a given time, or as a
multiple of what a request takes.
"""

from pydantic import Field, model_validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.values import PositiveDuration
from jostle.units import format_duration

__all__ = ["Tune"]


class Tune(Table):
    """A parameter that is scaled, starting from its value in the plan, until a request takes a given time; or
    that becomes a multiple of a request's time.
    """

    on: str = Field(description="the server to calibrate on")
    get: str = Field(
        description="path, beside `takes` with {value} for the parameter; its work must grow with the value"
    )
    takes: PositiveDuration | None = Field(
        default=None, description='how long the request should take: "200ms"'
    )
    times: float | None = Field(
        default=None,
        gt=0,
        description="in place of `takes`: the parameter is a time, this many times what the request takes",
    )

    @property
    def goal(self) -> str:
        """For the user: "until node takes 100 ms for /count/{value}"."""
        if self.takes is None:
            return f"{self.times:g} times as long as {self.on} takes for {self.get}"
        return f"until {self.on} takes {format_duration(self.takes)} for {self.get}"

    @model_validator(mode="after")
    def _one_of_two(self) -> "Tune":
        if (self.takes is None) == (self.times is None):
            raise BadValue("takes or times, one of them", 'write takes = "200ms", or times = 1.25')
        if self.takes is not None and "{value}" not in self.get:
            raise BadValue("get: {value} is missing", 'write for example "/count/{value}"')
        return self

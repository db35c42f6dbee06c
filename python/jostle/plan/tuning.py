"""A parameter that is calibrated once per machine, so that a request takes a given time."""

from pydantic import Field

from jostle.plan.base import Table
from jostle.plan.values import PositiveDuration

__all__ = ["Tune"]


class Tune(Table):
    """A parameter that is scaled, starting from its value in the plan, until a request takes a given time."""

    on: str = Field(description="the server to calibrate on")
    get: str = Field(description="path, with {value} for the parameter; its work must grow with the value")
    takes: PositiveDuration = Field(description='how long the request should take: "200ms"')

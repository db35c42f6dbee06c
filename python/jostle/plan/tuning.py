"""A parameter that is found out once per machine: how large a request is that takes so long here."""

from pydantic import Field

from jostle.plan.base import Table
from jostle.plan.values import PositiveDuration

__all__ = ["Tune"]


class Tune(Table):
    """A parameter that is scaled until a request takes a given time, beginning with its value in the plan."""

    on: str = Field(description="the server that is asked")
    get: str = Field(description="path, with {value} in the parameter's place; its work grows with the value")
    takes: PositiveDuration = Field(description='how long the request shall take: "200ms"')

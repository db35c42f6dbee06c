"""A parameter that is calibrated once per machine: until a request takes a given time, as a multiple of a
request's time, or as a share of a server's capacity.
"""

from pydantic import Field, model_validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.values import PositiveCount, PositiveDuration
from jostle.units import format_duration

__all__ = ["Tune"]


class Tune(Table):
    """A parameter that is calibrated on this machine.

    It is scaled, starting from its value in the plan, until a request takes a given time; or it becomes a
    multiple of a request's time, or a share of what a server answers per second to clients without a pause.
    """

    on: str = Field(description="the server to calibrate on")
    get: str = Field(
        description="path of the request; with `takes`, it contains {value} in the place of the parameter, "
        "and a larger value must mean more work"
    )
    takes: PositiveDuration | None = Field(
        default=None, description='how long the request should take: "200ms"'
    )
    times: float | None = Field(
        default=None,
        gt=0,
        description="instead of `takes`: a factor; the parameter is the request's duration times this",
    )

    share: float | None = Field(
        default=None,
        gt=0,
        description="instead of `takes`: the parameter is a rate, this share of the server's capacity for "
        "the request; with `among`, a pause: the time between two requests of one client",
    )
    among: PositiveCount | None = Field(
        default=None,
        description="with `share`: the number of clients that together send at this rate; the parameter is "
        "then a pause, the time between two requests of one client",
    )
    clients: PositiveCount = Field(
        default=50,
        description="with `share`: the number of clients without think time that measure the capacity",
    )
    keep_alive: bool = Field(
        default=True, description="with `share`: false if these clients open a connection for every request"
    )

    @property
    def goal(self) -> str:
        """What is aimed at, for the user: "until /count/{value} takes 100 ms on node"."""
        if self.share is not None:
            who = f", spread over {self.among} clients" if self.among else ""
            return f"{self.share:g} times the capacity of {self.on} for {self.get}{who}"
        if self.takes is None:
            return f"{self.times:g} times as long as {self.get} takes on {self.on}"
        return f"until {self.get} takes {format_duration(self.takes)} on {self.on}"

    @model_validator(mode="after")
    def _one_of_two(self) -> "Tune":
        if [self.takes, self.times, self.share].count(None) != 2:
            raise BadValue(
                "takes, times or share, one of them", 'write takes = "200ms", times = 1.25 or share = 0.8'
            )
        if self.among is not None and self.share is None:
            raise BadValue("among belongs to share", "write share = 4 too, or leave among out")
        if self.takes is not None and "{value}" not in self.get:
            raise BadValue("get: {value} is missing", 'write for example "/count/{value}"')
        return self

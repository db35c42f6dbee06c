"""A contestant's `simulate` table: a server that is calculated instead of run."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.values import PositiveCount, PositiveDuration, Think, ThinkTime

__all__ = ["Simulated"]

SHARED = ("processor-sharing", "round-robin")
"""Disciplines under which requests share cores; under the others each keeps a worker until it is done."""


def _takes_time(service: Think) -> Think:
    if not service.mean_s:
        raise BadValue(
            "a request that takes no time is answered for ever in one moment", "write a positive time"
        )
    return service


ServiceTime = Annotated[ThinkTime, AfterValidator(_takes_time)]


class Simulated(Table):
    """A server that `jostle simulate` calculates: a discipline, and how long each request takes."""

    discipline: Literal[
        "workers", "processor-sharing", "round-robin", "lifo", "random-order", "gated-lifo"
    ] = Field(
        default="workers",
        description="how requests are served: `workers` first come, first served, each to its end; "
        "`processor-sharing` all at once; `round-robin` in slices; `lifo` last come, first served; "
        "`random-order`; `gated-lifo` a batch at a time, in reverse order of arrival",
    )
    workers: PositiveCount | None = Field(
        default=None, description="requests that are served at once; default 1"
    )
    cores: PositiveCount | None = Field(
        default=None,
        description="cores that requests share, with `processor-sharing` and `round-robin`; default 1",
    )
    slice: PositiveDuration | None = Field(
        default=None, description="how long a request runs before the next, with `round-robin`; default 10 ms"
    )
    service: ServiceTime = Field(
        default=Think("1ms", "constant", 0.001),
        description='time that a request takes on an idle server: "10ms", "10ms ± 10%", "exponential 10ms", '
        "or a list of measured times, drawn at random",
    )
    services: dict[str, ServiceTime] = Field(
        default={},
        description="service times of requests that differ from `service`, by the request's name (the path, "
        'if it has no other): { "/report" = "2s" }',
    )
    waits: list[str] = Field(
        default=[],
        description="names of requests that only wait, for example for a database, and occupy no worker and "
        "no core meanwhile",
    )

    @model_validator(mode="after")
    def _fits_the_discipline(self) -> "Simulated":
        shares = self.discipline in SHARED
        if self.workers is not None and (shares or self.discipline == "gated-lifo"):
            raise BadValue(
                f"{self.discipline} has no workers", "write cores" if shares else "leave workers out"
            )
        if self.cores is not None and not shares:
            raise BadValue(f"{self.discipline} shares no cores", "write workers")
        if self.slice is not None and self.discipline != "round-robin":
            raise BadValue(f"{self.discipline} has no slices", 'they belong to discipline = "round-robin"')
        return self

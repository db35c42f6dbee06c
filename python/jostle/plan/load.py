"""How requests are sent: by clients that wait for their responses (closed), or at given times (open)."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.values import (
    Count,
    File,
    PositiveCount,
    PositiveDuration,
    PositiveRate,
    Rate,
    Think,
    ThinkTime,
)

__all__ = ["ClosedLoad", "Load", "OpenLoad", "Phase", "RateStep", "Trace"]


_ONLY_OPEN = ["rate", "rates", "arrivals", "max-connections"]


class _Connections(Table):
    """Keys of both kinds of load."""

    for_: PositiveDuration | None = Field(default=None, description='how long: "5s", "20m"')
    requests: PositiveCount | None = Field(default=None, description="the total number of requests")
    iterations: PositiveCount | None = Field(default=None, description="the total number of journeys")
    keep_alive: bool = Field(default=True, description="false: a connection for every request")
    requests_per_connection: PositiveCount | None = Field(
        default=None, description="requests on a connection before it is closed; unlimited when not given"
    )

    def _check_connections(self) -> None:
        if not self.keep_alive and (self.requests_per_connection or 1) > 1:
            raise BadValue(
                f"keep-alive = false and requests-per-connection = {self.requests_per_connection}",
                "give one of them",
            )

    @property
    def most(self) -> int | None:
        """The most requests or journeys of all clients together; None: unlimited."""
        return self.requests or self.iterations

    @property
    def connection_limit(self) -> int | None:
        """The most requests on one connection; None: unlimited."""
        return self.requests_per_connection if self.keep_alive else 1


class Phase(Table):
    """A period in which the number of clients is constant, or changes from one number to another."""

    name: str = Field(default="", description="its name in the results")
    for_: PositiveDuration = Field(description="how long")
    clients: PositiveCount | None = Field(default=None, description="constant number of clients")
    from_: Count | None = Field(default=None, description="clients at the beginning")
    to: Count | None = Field(default=None, description="clients at the end")
    steps: PositiveCount | None = Field(
        default=None, description="number of equal steps; linear when not given"
    )

    @model_validator(mode="after")
    def _consistent(self) -> "Phase":
        ends = (self.from_ is None) + (self.to is None)
        if ends == 1 or (self.clients is None) == (ends == 2):
            raise BadValue("how many clients?", "write clients = 100, or from = 0 and to = 100")
        if self.steps and self.clients is not None:
            raise BadValue("steps without a change of clients", "write from, to and steps")
        return self

    @property
    def ends(self) -> tuple[int, int]:
        """Clients at the beginning and at the end."""
        if self.clients is not None:
            return self.clients, self.clients
        assert self.from_ is not None
        assert self.to is not None
        return self.from_, self.to


class ClosedLoad(_Connections):
    """N clients; each sends, waits for the response, thinks, and sends again."""

    clients: PositiveCount | None = Field(default=None, description="how many clients at once")
    think: ThinkTime = Field(
        default=Think(), description='pause between response and next request: "900ms ± 10%"'
    )
    requests_per_client: PositiveCount | None = Field(
        default=None, description="a client leaves after this many requests"
    )
    iterations_per_client: PositiveCount | None = Field(
        default=None, description="a client leaves after this many journeys"
    )
    renew: bool = Field(default=False, description="a client that has left is replaced by a new one")
    ramp_up: PositiveDuration | None = Field(default=None, description="time from no client to all of them")
    sustain: PositiveDuration | None = Field(
        default=None, description="time with all clients, after the ramp"
    )
    ramp_down: PositiveDuration | None = Field(default=None, description="time from all clients to none")
    steps: PositiveCount | None = Field(
        default=None, description="number of equal steps in each ramp; linear when not given"
    )
    phases: list[Phase] = Field(default=[], description="any other sequence of client counts")

    @classmethod
    def near(cls) -> list[str]:
        return [*cls.keys(), *_ONLY_OPEN]

    @model_validator(mode="after")
    def _consistent(self) -> "ClosedLoad":
        self._check_connections()
        self._check_course()
        if self.renew and self.most_per_client is None:
            raise BadValue(
                "renew = true, but no client ever ends", "say after how many: requests-per-client = 100"
            )
        return self

    @property
    def most_per_client(self) -> int | None:
        """The most requests or journeys of one client; None: unlimited."""
        return self.requests_per_client or self.iterations_per_client

    def _check_course(self) -> None:
        ramps = self.ramp_up or self.sustain or self.ramp_down
        if self.phases and (ramps or self.clients is not None):
            raise BadValue(
                "phases say how many clients there are, and when", "leave out clients and the ramps"
            )
        if not self.phases and self.clients is None:
            raise BadValue(
                "how many clients, or which rate?", 'write for example clients = 50, or rate = "1000/s"'
            )
        if self.for_ is not None and (ramps or self.phases):
            raise BadValue("for and a course of phases both say how long", "write sustain in place of for")
        if self.steps and not (self.ramp_up or self.ramp_down):
            raise BadValue("steps without a ramp", 'write ramp-up = "1m" too')
        names = [phase.name for phase in self.course()]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise BadValue(f"two phases have the name {min(repeated)!r}", "give each its own name")

    def course(self) -> list[Phase]:
        """The phases in their order, all named; empty if the number of clients does not change."""
        if self.phases:
            return [
                phase if phase.name else phase.model_copy(update={"name": f"phase {number}"})
                for number, phase in enumerate(self.phases, 1)
            ]
        legs = [
            ("ramp-up", self.ramp_up, 0, self.clients, self.steps),
            ("sustain", self.sustain, self.clients, self.clients, None),
            ("ramp-down", self.ramp_down, self.clients, 0, self.steps),
        ]
        return [
            Phase.model_construct(name=name, for_=seconds, from_=begin, to=end, steps=steps)
            for name, seconds, begin, end, steps in legs
            if seconds
        ]

    @property
    def most_clients(self) -> int:
        """The most clients at any time."""
        return self.clients or max(max(phase.ends) for phase in self.phases)

    @property
    def min_connections(self) -> int:
        """The number of connections it opens however fast the server is: one for each client."""
        return self.most_clients

    def seconds(self) -> float | None:
        """How long it lasts; None where the number of requests decides."""
        course = self.course()
        return sum(phase.for_ for phase in course) if course else self.for_

    def ends(self) -> bool:
        """Whether it ends by itself."""
        by_clients = self.most_per_client is not None and not self.renew
        return self.seconds() is not None or self.most is not None or by_clients

    def with_duration(self, seconds: float) -> "ClosedLoad":
        """A copy that lasts `seconds`; phases are scaled in proportion."""
        whole = self.seconds()
        if whole is None:
            return self
        factor = seconds / whole
        ramps = {key: getattr(self, key) for key in ("ramp_up", "sustain", "ramp_down")}
        changes: dict[str, Any] = {key: length * factor for key, length in ramps.items() if length}
        if self.for_:
            changes["for_"] = seconds
        changes["phases"] = [phase.model_copy(update={"for_": phase.for_ * factor}) for phase in self.phases]
        return self.model_copy(update=changes)


class RateStep(Table):
    """A period in which requests come at one rate, or at a rate that changes linearly."""

    name: str = Field(default="", description="its name in the results")
    for_: PositiveDuration | None = Field(
        default=None,
        description="how long; the last one may leave it out, and then lasts until the load ends",
    )
    rate: PositiveRate | None = Field(default=None, description='the rate: "100/s"')
    from_: Rate | None = Field(default=None, description="rate at the beginning")
    to: Rate | None = Field(default=None, description="rate at the end")

    @model_validator(mode="after")
    def _consistent(self) -> "RateStep":
        ends = (self.from_ is None) + (self.to is None)
        if ends == 1 or (self.rate is None) == (ends == 2):
            raise BadValue("at which rate?", 'write rate = "100/s", or from = "0/s" and to = "100/s"')
        if self.from_ == self.to == 0:
            raise BadValue("from zero to zero sends nothing", 'write for example to = "100/s"')
        if self.rate is None and self.for_ is None:
            raise BadValue("a rate that changes needs its time", 'write for = "10s"')
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """Rate per second at the beginning and at the end."""
        if self.rate is not None:
            return self.rate, self.rate
        assert self.from_ is not None
        assert self.to is not None
        return self.from_, self.to


class Trace(Table):
    """Start times that were recorded elsewhere."""

    trace: File = Field(description='a file with one start per line, ascending: seconds ("1.25") or "1250ms"')


def _arrivals(value: Any) -> Any:
    if isinstance(value, str) and value not in ("poisson", "constant"):
        raise BadValue(
            f'"{value}" is not an arrival process', 'write "poisson", "constant" or { trace = "file" }'
        )
    return value


class OpenLoad(_Connections):
    """Requests are due at times that do not depend on the responses."""

    rate: PositiveRate | None = Field(
        default=None, description='requests per time, with `journeys` journeys: "1000/s"'
    )
    rates: list[RateStep] = Field(default=[], description="rates that follow one another")
    arrivals: Annotated[Literal["poisson", "constant"] | Trace, BeforeValidator(_arrivals)] = Field(
        default="poisson", description='"poisson", "constant" (equal gaps) or { trace = "file" }'
    )
    max_connections: PositiveCount = Field(
        default=10_000,
        description="the pool of connections grows up to this; a request that finds none free waits its turn",
    )

    @model_validator(mode="before")
    @classmethod
    def _either(cls, data: Any) -> Any:
        if isinstance(data, dict) and (
            closed := data.keys() & {"clients", "think", "phases", "ramp-up", "sustain"}
        ):
            open_ = min(data.keys() & _ONLY_OPEN, key=_ONLY_OPEN.index)
            raise BadValue(
                f"{min(closed)} and {open_} together: clients wait for their responses, a rate does not",
                f"choose: a closed load ({min(closed)}) or an open one ({open_})",
            )
        return data

    @model_validator(mode="after")
    def _consistent(self) -> "OpenLoad":
        self._check_connections()
        given = [key for key in ("rate", "rates") if getattr(self, key)]
        if isinstance(self.arrivals, Trace):
            if given:
                raise BadValue(f"a trace and {given[0]} both say when requests are due", "give one of them")
        elif len(given) != 1:
            raise BadValue("rate and rates together" if given else "at which rate?", 'write rate = "1000/s"')
        self._check_rates()
        return self

    def _check_rates(self) -> None:
        if any(step.for_ is None for step in self.rates[:-1]):
            raise BadValue(
                "only the last of the rates may go on to the end", 'write for = "10s" to the others'
            )
        listed = round(sum(step.for_ or 0.0 for step in self.rates), 9)
        if self.for_ is not None and listed > self.for_:
            raise BadValue("the rates last longer than for", "leave out for: the rates say how long")

    @property
    def min_connections(self) -> int:
        """Zero: the pool grows to `max_connections` only if the server makes requests wait."""
        return 0

    def seconds(self) -> float | None:
        """How long it lasts; None where the number of requests decides."""
        if self.for_ is not None or not self.rates or self.rates[-1].for_ is None:
            return self.for_
        return sum(step.for_ or 0.0 for step in self.rates)

    def ends(self) -> bool:
        """Whether it ends by itself."""
        return self.seconds() is not None or self.most is not None or isinstance(self.arrivals, Trace)

    def with_duration(self, seconds: float) -> "OpenLoad":
        """A copy that lasts `seconds`; rate steps are scaled in proportion. A trace is cut, not stretched."""
        whole = self.seconds()
        if whole is None:
            return self
        factor = seconds / whole
        rates = [step.model_copy(update={"for_": step.for_ and step.for_ * factor}) for step in self.rates]
        return self.model_copy(update={"rates": rates, "for_": self.for_ and seconds})


def _kind(value: Any) -> str:
    if isinstance(value, Table):
        return "(open)" if isinstance(value, OpenLoad) else "(closed)"
    is_open = isinstance(value, dict) and value.keys() & set(_ONLY_OPEN)
    return "(open)" if is_open else "(closed)"


Load = Annotated[
    Annotated[ClosedLoad, Tag("(closed)")] | Annotated[OpenLoad, Tag("(open)")], Discriminator(_kind)
]

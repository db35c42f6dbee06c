"""A workload: which requests, under which load, beside what, and how long an answer may take."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic import model_validator as validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.connection import Connection
from jostle.plan.database import DatabaseChange
from jostle.plan.labels import meant
from jostle.plan.load import ClosedLoad, Load, OpenLoad
from jostle.plan.request import PEER, Request
from jostle.plan.values import Duration, PositiveCount, PositiveDuration, Share, Size

__all__ = ["SAME", "Background", "Workload"]

SAME = "same"
"""As a workload's peer: another server of the measured kind."""

LOAD = "(load)"
"""Stands for the load inside the one table of a background; not a key that can be written."""


class Background(Request):
    """A request and its load in one table. It ends with the workload, and its results stand apart."""

    load: Load = Field(alias="(load)")

    @classmethod
    def keys(cls) -> list[str]:
        return list(dict.fromkeys([*Request.keys(), *ClosedLoad.keys(), *OpenLoad.keys()]))

    @validator(mode="before")
    @classmethod
    def _apart(cls, data: Any) -> Any:
        """Put the keys of the load into a table of their own."""
        if not isinstance(data, dict) or LOAD in data:
            return data
        own = Request.keys()
        if data.keys() - set(cls.keys()):
            return data  # refused by name in `Table`
        if "for" in data:
            raise BadValue("a background has no time of its own", "leave out for: it ends with the workload")
        apart = {key: value for key, value in data.items() if key in own}
        return {**apart, LOAD: {key: value for key, value in data.items() if key not in own}}

    def _shaped(self, table: dict[str, Any]) -> dict[str, Any]:
        load = table.pop(LOAD)
        return {**table, **load}


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


def _weights(value: Any) -> Any:
    names = [value] if isinstance(value, str) else value
    return dict.fromkeys(names, 1) if isinstance(names, list) else value


class Workload(Table):
    """What is measured."""

    title: str = Field(default="", description="title in reports")
    request: Annotated[list[Request], BeforeValidator(_listed)] = Field(
        default=[], description="one, or a list"
    )
    journeys: Annotated[dict[str, PositiveCount], BeforeValidator(_weights)] = Field(
        default={},
        description="in place of requests: journeys of the plan and how often each is begun, relative to the "
        'others: { buy = 3, browse = 7 }, or "buy"',
    )
    order: Literal["weighted", "sequence"] = Field(
        default="weighted", description="how the next request is chosen: at random by weight, or in turn"
    )
    load: Load = Field(description="how they are sent: closed (clients) or open (rate)")
    background: Background | None = Field(default=None, description="another load at the same time")
    timeout: PositiveDuration = Field(default=10.0, description="from the send to the last byte")
    connect_timeout: PositiveDuration = Field(default=3.0, description="for name, TCP and TLS together")
    first_byte_timeout: PositiveDuration | None = Field(default=None, description="from send to first byte")
    body_limit: Size | None = Field(default=None, description='a longer answer is an error: "10MB"')
    redirects: PositiveCount | None = Field(
        default=None,
        description="follow redirects as `curl -L` does, at most this many for one request; each leads to a "
        "request that counts by itself. Another host must be in `allow-targets` of [cluster]. Without it a "
        "redirect is an answer like any other",
    )
    warm_up: Duration | None = Field(default=None, description="overrides the plan's warm-up")
    warm_up_clients: PositiveCount | None = Field(
        default=None,
        description="this many clients without think time send the warm-up instead of the measured load, "
        "so that an overload does not leave the server busy with abandoned requests",
    )
    rows: bool = Field(default=False, description="record a row for every request, not only histograms")
    connection: Connection = Field(default=Connection(), description="how connections are made")
    contestants: list[str] = Field(
        default=[],
        description="of these only (of the variants of a name, where the plan has only those); "
        "all of the plan's when not given",
    )
    runs: PositiveCount = Field(
        default=1,
        description="repeats the load this many times on one server instance; the last run is "
        "measured, the earlier ones are recorded beside it",
    )
    settle: Share | None = Field(
        default=None,
        description="with `runs`: as soon as two in a row differ by no more than this in throughput, the "
        'next one is the last, and measured: "3 %"',
    )
    garbage: bool = Field(
        default=False,
        description="ask the server before and after each run how long it has collected garbage",
    )
    peer: str = Field(
        default="",
        description='a second server, which the measured one asks: a contestant, or "same" for another one '
        "of the measured; `{peer}` in a path is its address",
    )
    database: DatabaseChange | None = Field(
        default=None, description='overrides of the plan\'s [database]: { delay = "3ms" }'
    )
    memory: Size | None = Field(
        default=None,
        description="the most memory that the measured server's processes may hold together, without swap, "
        'as in a container: "512MB"; where it cannot be set, the server runs without, and the run says so',
    )

    def measured_on(self, contestants: Sequence[str]) -> list[str]:
        """Those of a run's contestants, by label, that it is driven on."""
        named = {label for name in self.contestants for label in meant(name, contestants)}
        return [label for label in contestants if label in named or not self.contestants]

    @property
    def warming(self) -> "Workload":
        """What is sent in the warm-up."""
        if self.warm_up_clients is None:
            return self
        few = ClosedLoad.model_construct(clients=self.warm_up_clients, keep_alive=self.load.keep_alive)
        return self.model_copy(update={"load": few})

    @property
    def min_connections(self) -> int:
        """Connections that it opens at once however fast the server is, those of the background included."""
        background = self.background.load.min_connections if self.background is not None else 0
        return self.load.min_connections + background

    def seconds(self) -> float | None:
        """How long the measured load lasts; None where the number of requests decides."""
        return self.load.seconds()

    def _counts_what_it_sends(self) -> None:
        journeys, requests = ("iterations", "iterations_per_client"), ("requests", "requests_per_client")
        for wrong, right in zip(
            *((requests, journeys) if self.journeys else (journeys, requests)), strict=True
        ):
            if getattr(self.load, wrong, None) is not None:
                what = "journeys" if self.journeys else "requests"
                key = right.replace("_", "-")
                raise BadValue(
                    f"{wrong.replace('_', '-')} where {what} are sent", f"count {what}: {key} = 100"
                )
        if self.journeys and self.order == "sequence":
            raise BadValue(
                'order = "sequence" is for requests', "journeys are chosen by weight; leave out order"
            )

    @validator(mode="after")
    def _consistent(self) -> "Workload":
        if self.request and self.journeys:
            raise BadValue("request and journeys both say what is sent", "give one of them")
        if not self.request and not self.journeys:
            raise BadValue("request: nothing to send", 'write for example { get = "/hello" }')
        labels = Counter(request.label for request in self.request)
        label, times = max(labels.items(), key=lambda item: item[1], default=("", 0))
        if times > 1:
            raise BadValue(f"{times} requests have the name {label!r}", "give each its own: name = …")
        self._counts_what_it_sends()
        if not self.load.ends():
            raise BadValue("the load has no end", 'write for = "10s" or requests = 10_000')
        asked = [*self.request, *([self.background] if self.background else [])]
        if (self.peer != "") != any(PEER in request.path for request in asked):
            raise BadValue(
                f"peer and {PEER} in a path belong together",
                'write for example get = "/pair/30/31?where=remote&peer={peer}" and peer = "same"',
            )
        return self

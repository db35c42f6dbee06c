"""A workload: which requests, under which load, beside what, and how long a response may take."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo
from pydantic import model_validator as validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.connection import Connection, Protocol
from jostle.plan.criteria.conditions import Conditions
from jostle.plan.journeys.journey import Journey
from jostle.plan.labels import resolve_label
from jostle.plan.load import ClosedLoad, Load, OpenLoad
from jostle.plan.requests.request import BODIES, METHODS, PEER, Request, asking
from jostle.plan.requests.url_list import UrlLine, read_url_list
from jostle.plan.servers.database import DatabaseChange
from jostle.plan.values import Duration, PositiveCount, PositiveDuration, Share, Size, file_named
from jostle.units import format_count
from jostle.url import sent_path, shown

__all__ = ["SAME", "Background", "Workload"]

SAME = "same"
"""The value of `peer` that stands for another instance of the measured server."""

LOAD = "(load)"
"""The internal key of a background's load. It cannot be written: a plan has all keys in one table."""


class Background(Request):
    """A request and its load in one table. It ends with the workload; its results are kept apart."""

    load: Load = Field(alias="(load)")

    @classmethod
    def keys(cls) -> list[str]:
        return list(dict.fromkeys([*Request.keys(), *ClosedLoad.keys(), *OpenLoad.keys()]))

    @validator(mode="before")
    @classmethod
    def _apart(cls, data: Any) -> Any:
        """Move the keys of the load into a table of their own."""
        if not isinstance(data, dict) or LOAD in data:
            return data
        own = Request.keys()
        if data.keys() - set(cls.keys()):
            return data  # refused by name in `Table`
        if "urls" in data:
            raise BadValue("urls is for the requests that are measured", 'write for example get = "/hello"')
        if "for" in data:
            raise BadValue("a background has no time of its own", "leave out for: it ends with the workload")
        apart = {key: value for key, value in data.items() if key in own}
        return {**apart, LOAD: {key: value for key, value in data.items() if key not in own}}

    def _shaped(self, table: dict[str, Any]) -> dict[str, Any]:
        load = table.pop(LOAD)
        return {**table, **load}


def _listed(value: Any, info: ValidationInfo) -> Any:
    """The requests as a list, in which those of a file of URLs stand one by one."""
    listed = [value] if isinstance(value, dict) else value
    if not isinstance(listed, list):
        return listed
    return [table for item in listed for table in (_of_file(item, info) if _has_urls(item) else [item])]


def _has_urls(item: Any) -> bool:
    return isinstance(item, dict) and "urls" in item


def _of_file(table: dict[str, Any], info: ValidationInfo) -> list[dict[str, Any]]:
    for key in (*METHODS, "grpc", "ws", "tcp", "udp", "method", "path", "weight", "name", "params"):
        if key in table:
            raise BadValue(f"urls and {key}: each line of the file says it", f"leave out {key}")
    shared = {key: value for key, value in table.items() if key != "urls"}
    method = "POST" if any(key.replace("_", "-") in table for key in BODIES) else "GET"
    file = file_named(table["urls"], info)
    return [shared | _of_line(file, line) for line in read_url_list(file, method)]


def _of_line(file: Path, line: UrlLine) -> dict[str, Any]:
    if not line.url.startswith("/"):
        raise BadValue(
            f"{file}, line {line.number}: {shown(line.url)!r} is not a path",
            "write the path only, for example /fast/44: the server is the contestant",
        )
    return {**asking(line.method, sent_path(line.url)), "weight": line.weight}


def _weights(value: Any) -> Any:
    names = [value] if isinstance(value, str) else value
    return dict.fromkeys(names, 1) if isinstance(names, list) else value


class Workload(Table):
    """What is measured."""

    title: str = Field(default="", description="title in reports")
    request: Annotated[list[Request], BeforeValidator(_listed)] = Field(
        default=[], description="a request, or a list of requests"
    )
    journeys: Annotated[dict[str, PositiveCount], BeforeValidator(_weights)] = Field(
        default={},
        description="instead of requests: journeys of the plan, with how often each is begun relative to the "
        'others: { buy = 3, browse = 7 }, or "buy"',
    )
    order: Literal["weighted", "sequence"] = Field(
        default="weighted",
        description="how the next request is chosen: weighted (at random by weight) or sequence (in turn)",
    )
    load: Load = Field(description="how the requests are sent: closed (clients) or open (rate)")
    background: Background | None = Field(default=None, description="another load at the same time")
    timeout: PositiveDuration = Field(default=10.0, description="from the send to the last byte")
    connect_timeout: PositiveDuration = Field(
        default=3.0, description="for name lookup, TCP and TLS together"
    )
    first_byte_timeout: PositiveDuration | None = Field(default=None, description="from send to first byte")
    body_limit: Size | None = Field(default=None, description='a longer response is an error: "10MB"')
    redirects: PositiveCount | None = Field(
        default=None,
        description="follow redirects (301, 302, 303, 307, 308), at most this many for one request; each "
        "request on the way is counted separately. A redirect to another host is followed only if "
        "`allow-targets` of [cluster] names that host, also where the load comes from this machine. If "
        "`redirects` is not given, a redirect is a response like any other",
    )
    invalid_if: Conditions | None = Field(default=None, description="overrides the plan's invalid-if")
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
        description="measure only these (default: all of the plan's); a name alone (go) means all of its "
        "variants, unless the plan also lists the name alone",
    )
    runs: PositiveCount = Field(
        default=1,
        description="repeat the load this many times within each trial, on one server instance; the last of "
        "these runs is measured, the earlier ones are recorded beside it",
    )
    settle: Share | None = Field(
        default=None,
        description="with `runs`: once the throughputs of two runs in a row differ by no more than this, the "
        'next run is the last and is measured: "3 %"',
    )
    garbage: bool = Field(
        default=False,
        description="before and after each run, ask the server how much time it has spent collecting garbage",
    )
    peer: str = Field(
        default="",
        description='a second server, to which the measured one sends requests: a contestant, or "same" for '
        "another instance of the measured one; `{peer}` in a path is its address",
    )
    share_cores: bool = Field(
        default=False,
        description="server and generator may run on the same cores under this workload, whatever the plan "
        "says of the others",
    )
    database: DatabaseChange | None = Field(
        default=None, description='overrides of the plan\'s [database]: { delay = "3ms" }'
    )
    memory: Size | None = Field(
        default=None,
        description="the most memory that the measured server's processes may hold together, without swap, "
        'as in a container: "512MB"; if no limit can be set, the server runs without one, and the '
        "report says so",
    )

    def has_calls(self, journeys: Mapping[str, Journey]) -> bool:
        """Whether any of its requests is a gRPC call. `journeys`: those of the plan."""
        steps = (step for name in self.journeys for step in journeys[name].requests)
        background = [self.background] if self.background is not None else []
        return any(request.grpc is not None for request in (*self.request, *background, *steps))

    @property
    def names(self) -> list[str]:
        """The names of its requests in the results; empty if it sends journeys."""
        return [request.label for request in self.request]

    def steps(self, journeys: Mapping[str, Journey]) -> list[str]:
        """The names of the steps of its journeys in the results, without those of scripts."""
        alone = len(self.journeys) == 1
        return [
            step.name_in(None if alone else name)
            for name in self.journeys
            for step in journeys[name].requests
        ]

    def protocol(self, journeys: Mapping[str, Journey]) -> Protocol | None:
        """The protocol its server must speak; None for raw bytes and datagrams. `journeys`: the plan's."""
        if any(request.tcp is not None or request.udp is not None for request in self.request):
            return None
        if self.has_calls(journeys):
            return "gRPC"
        return "HTTP/2" if self.connection.http2 is not None else "HTTP/1.1"

    def measured_on(self, contestants: Sequence[str]) -> list[str]:
        """The labels among `contestants` on which it is measured."""
        named = {label for name in self.contestants for label in resolve_label(name, contestants)}
        return [label for label in contestants if label in named or not self.contestants]

    @property
    def warming(self) -> "Workload":
        """The workload that is sent in the warm-up."""
        if self.warm_up_clients is None:
            return self
        few = ClosedLoad.model_construct(clients=self.warm_up_clients, keep_alive=self.load.keep_alive)
        return self.model_copy(update={"load": few})

    def connections_of_a_client(self, journeys: Mapping[str, Journey]) -> int:
        """The most connections that one client has at a time. `journeys`: those of the plan."""
        if self.protocol(journeys) != "HTTP/1.1":
            return 1
        return max((journeys[name].most_connections for name in self.journeys), default=1)

    def min_connections(self, journeys: Mapping[str, Journey]) -> int:
        """The number of connections it opens however fast the server is, including the background's.

        `journeys`: those of the plan.
        """
        each = self.connections_of_a_client(journeys)
        background = self.background.load.min_connections if self.background is not None else 0
        own = self.connection.connections_of(self.load.min_connections) * each
        return own + self.connection.connections_of(background)

    def seconds(self) -> float | None:
        """How long the measured load lasts; None if the number of requests decides."""
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

    def _has_one_socket(self) -> None:
        """Check that all requests are messages of one WebSocket, or none is: a client has one connection."""
        sockets = {(r.ws, r.ping, repr(sorted(r.headers.items()))) for r in self.request}
        if len(sockets) > 1 and any(request.ws is not None for request in self.request):
            raise BadValue(
                "requests of a workload go over one WebSocket, or none of them does",
                "give all of them the same ws, headers and ping, or make another workload",
            )
        if self.redirects is not None and any(request.ws is not None for request in self.request):
            raise BadValue("redirects are not followed by a WebSocket", "leave out redirects")
        if self.connection.http2 is not None and any(request.ws is not None for request in self.request):
            raise BadValue("a WebSocket is opened over HTTP/1.1 only", "leave out http2")

    def _is_raw_or_not(self) -> None:
        """Check that all requests are raw, or none is: a client's one connection speaks HTTP or not."""
        protocols = ["tcp" if r.tcp is not None else "udp" if r.udp is not None else "" for r in self.request]
        if not any(protocols):
            return
        if len(set(protocols)) > 1:
            raise BadValue(
                "requests of a workload are all of raw bytes (tcp), all datagrams (udp), or none is",
                "make another workload",
            )
        for key, given in (("redirects", self.redirects), ("http2", self.connection.http2)):
            if given is not None:
                raise BadValue(f"{key} has no meaning for raw bytes", f"leave out {key}")
        if protocols[0] == "udp":
            self._has_one_kind_of_datagrams()
        for request in self.request:
            length = request.until.length if request.until is not None else None
            if length is not None and self.body_limit is not None and length > self.body_limit:
                raise BadValue(
                    f"until: a response of {length} bytes is longer than body-limit, and never ends",
                    "raise body-limit, or leave it out",
                )

    def _has_one_kind_of_datagrams(self) -> None:
        if len({request.match for request in self.request}) > 1:
            raise BadValue(
                "responses of a workload are known in one way", "give all of its requests the same match"
            )
        if self.connection.tls is not None:
            raise BadValue("connection.tls: datagrams go without TLS", "leave it out")
        if any(place.startswith("unix:") for place in self.connection.connect_to):
            raise BadValue("connection.connect-to: datagrams go over UDP", "write IP:PORT")

    def _shares_connections(self) -> None:
        shared = self.connection.shared
        if shared is None:
            return
        if self.load.connection_limit is not None:
            key = "requests-per-connection" if self.load.keep_alive else "keep-alive = false"
            raise BadValue(
                f"{key} is for connections of one client each, and http2.connections are shared",
                "leave out one of them",
            )
        clients = self.load.most_clients if isinstance(self.load, ClosedLoad) else self.load.max_connections
        if shared > clients:
            raise BadValue(
                f"{format_count(shared)} connections for {format_count(clients)} clients",
                f"a client has one at most: connections = {clients}",
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
        self._is_raw_or_not()
        self._has_one_socket()
        self._shares_connections()
        if not self.load.ends():
            raise BadValue("the load has no end", 'write for = "10s" or requests = 10_000')
        requests = [*self.request, *([self.background] if self.background else [])]
        if (self.peer != "") != any(PEER in request.path for request in requests):
            raise BadValue(
                f"peer and {PEER} in a path belong together",
                'write for example get = "/pair/30/31?where=remote&peer={peer}" and peer = "same"',
            )
        return self

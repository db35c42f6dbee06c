"""The plan's `[cluster]`: generators on many machines."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.values import PositiveDuration
from jostle.url import canonical_host

__all__ = ["Cluster", "head_at"]


def head_at(address: str) -> tuple[str, int]:
    """Host and port of a cluster's head. Raises `BadValue`."""
    host, _, port = address.rpartition(":")
    example = "for example 10.0.0.1:6379"
    if not (host and port.isdecimal() and 0 < int(port) < 65536):
        raise BadValue(f"{address!r} is not ADDRESS:PORT of a head", example)
    try:
        return canonical_host(host), int(port)
    except BadValue as error:
        raise BadValue(f"{address!r} is not ADDRESS:PORT of a head: {error.message}", example) from None


def _address(value: Any) -> Any:
    if isinstance(value, str):
        head_at(value)
    return value


def _hosts(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(host, str) for host in value):
        return [canonical_host(host) for host in value]
    return value


class Cluster(Table):
    """Load from every node of a cluster (docs/CLUSTER.md) instead of from this machine."""

    address: Annotated[str, BeforeValidator(_address)] = Field(
        default="",
        description='the head node of the Ray cluster, "ADDRESS:PORT"; without it the load comes from this '
        "machine",
    )
    lost: Literal["is missing", "moves"] = Field(
        default="is missing",
        description='what happens to the load of a generator that is lost: it "is missing" from then on, and '
        'the result says so; or it "moves" to another generator once the lost one has certainly stopped',
    )
    lease: PositiveDuration = Field(
        default=4.0,
        ge=2.0,  # it is renewed twice a second, and a response may take one
        description="a generator stops when it has not heard from the driver for this long, at least 2 s; "
        "the driver treats a generator as lost if it has not answered for 1.25 times this long",
    )
    allow_targets: Annotated[list[str], BeforeValidator(_hosts)] = Field(
        default=[],
        description="hosts that the cluster may load, in addition to loopback and the driver's address; with "
        "or without a cluster, hosts to which `redirects` and the URLs of steps may lead",
    )

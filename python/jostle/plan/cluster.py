"""The plan's `[cluster]`: generators on many machines."""

from typing import Literal

from pydantic import Field

from jostle.plan.base import Table
from jostle.plan.values import PositiveDuration

__all__ = ["Cluster"]


class Cluster(Table):
    """Load from every node of a cluster (docs/CLUSTER.md) instead of from this machine."""

    address: str = Field(
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
        ge=2.0,  # it is renewed twice a second, and an answer may take one
        description="a generator stops when it has not heard from the driver for this long, at least 2 s; "
        "the driver treats a generator as lost if it has not answered for 1.25 times this long",
    )
    allow_targets: list[str] = Field(
        default=[],
        description="hosts that the cluster may load, in addition to loopback and the driver's address; with "
        "or without a cluster, hosts to which `redirects` and the URLs of steps may lead",
    )

"""Where a workload is sent."""

from dataclasses import dataclass, field
from typing import Self

from jostle.url import read_url

__all__ = ["Address"]


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a workload is sent."""

    host: str
    port: int
    tls: bool = False
    """The server speaks HTTPS, whether or not the workload says so."""
    authorization: str = field(default="", repr=False)
    """Goes with every request that has no Authorization header of its own; "" for none."""
    peer: str = ""
    """The URL of the workload's peer; "" if it has none."""

    @classmethod
    def of(cls, url: str) -> Self:
        """The address in the URL of a server."""
        read = read_url(url)
        return cls(host=read.host, port=read.port, tls=read.tls, authorization=read.authorization)

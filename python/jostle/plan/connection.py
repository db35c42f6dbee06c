"""Connections: where they go, where they come from, TLS."""

import re
from ipaddress import ip_address
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.values import File, PositiveCount, shown
from jostle.url import address_of, canonical_host

__all__ = ["Connection", "Http2", "Protocol", "Tls"]

Protocol = Literal["HTTP/1.1", "HTTP/2", "gRPC"]
"""The protocol of a workload. A WebSocket begins in HTTP/1.1; gRPC calls go over HTTP/2."""


def _addresses(value: Any) -> Any:
    for address in value if isinstance(value, list) else []:
        try:
            ip_address(address)
        except ValueError:
            raise BadValue(
                f"{shown(address)} is not an IP address", 'write for example ["127.0.0.2"]'
            ) from None
    return value


def _places(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    places = []
    for place in value:
        if (read := _place(str(place))) is None:
            raise BadValue(
                f"{shown(place)} is not an address to connect to",
                'write "127.0.0.1:8080", "[::1]:8080", "unix:/run/app.sock" or "unix:@app"',
            )
        places.append(read)
    return places


def _place(text: str) -> str | None:
    """A place to connect to, with an IPv6 address in its shortest form; None if it is none."""
    if text.startswith("unix:"):
        return text if text not in ("unix:", "unix:@") else None
    host, _, port = text.rpartition(":")
    try:
        canonical = canonical_host(host)
        ip_address(canonical)
    except ValueError:
        return None
    if not (re.fullmatch("[0-9]{1,5}", port) and 0 < int(port) < 65536) or (":" in host) != host.startswith(
        "["
    ):
        return None
    return address_of(canonical, port)


class Tls(Table):
    """HTTPS: which authorities to trust, and the client's certificate. Files are PEM."""

    verify: bool = Field(default=True, description="false: accept any certificate")
    ca: File | None = Field(
        default=None, description="certificate authorities to trust instead of the built-in ones"
    )
    cert: File | None = Field(default=None, description="the client's certificate chain")
    key: File | None = Field(default=None, description="the client's private key")
    server_name: str = Field(default="", description="name for SNI and verification, if not the host")
    alpn: list[str] = Field(default=[], description='protocols to offer: ["http/1.1"]')
    version: Literal["1.2", "1.3"] | None = Field(default=None, description="only this version")
    resume: bool = Field(
        default=False,
        description="clients resume their TLS sessions; otherwise every handshake is full",
    )

    @model_validator(mode="after")
    def _consistent(self) -> "Tls":
        if (self.cert is None) != (self.key is None):
            raise BadValue("a client's certificate goes with its key", "give both, cert and key")
        return self


class Http2(Table):
    """HTTP/2: over TLS it is chosen by ALPN; without TLS it is spoken from the first byte on (h2c).

    A client uses one stream at a time, or one for each step within `parallel`.
    """

    connections: PositiveCount | None = Field(
        default=None,
        description="connections that the clients share; if not given, each client has its own",
    )


class Connection(Table):
    """Where connections go and where they come from."""

    http2: Http2 | None = Field(
        default=None, description="HTTP/2 in place of HTTP/1.1; {}: each client has its own connection"
    )
    tls: Tls | None = Field(default=None, description="HTTPS; {} for the default checks")
    connect_to: Annotated[list[str], BeforeValidator(_places)] = Field(
        default=[],
        description='"IP:PORT", "unix:/path" or "unix:@name" (of Linux\'s abstract namespace) to connect to '
        "instead of the host; the addresses of a list are used alternately. "
        '"[fe80::1%eth0]:8080" names a network interface',
    )
    source_addresses: Annotated[list[str], BeforeValidator(_addresses)] = Field(
        default=[],
        description="local addresses to connect from, used alternately; each has its own range of ports",
    )
    resolve_each: bool = Field(default=False, description="resolve the host for every connection")
    nodelay: bool = Field(default=True, description="TCP_NODELAY")

    @model_validator(mode="after")
    def _consistent(self) -> "Connection":
        offered = self.tls.alpn if self.tls is not None else []
        if self.http2 is not None and offered and "h2" not in offered:
            raise BadValue("alpn does not offer h2, and http2 asks for it", 'leave out alpn, or add "h2"')
        if self.resolve_each and self.connect_to:
            raise BadValue("resolve-each: connect-to leaves no host to resolve", "give one of them")
        return self

    @property
    def shared(self) -> int | None:
        """The number of connections that the clients share; None if each has its own."""
        return self.http2.connections if self.http2 is not None else None

    def connections_of(self, clients: int) -> int:
        """The number of connections that `clients` have together."""
        return clients if self.shared is None else min(self.shared, clients)

    def threads(self, max_threads: int) -> int:
        """The most generator threads, up to `max_threads`, among which the shared connections divide
        evenly."""
        return next(n for n in range(max_threads, 0, -1) if self.shared is None or self.shared % n == 0)

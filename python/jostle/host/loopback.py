"""Which names and addresses are this machine itself."""

import ipaddress

__all__ = ["LOOPBACK", "host_of", "is_loopback"]

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""What a server on this machine may call itself."""


def host_of(place: str) -> str:
    """The host of HOST:PORT, an IPv6 address without its brackets."""
    return place.rpartition(":")[0].removeprefix("[").removesuffix("]")


def is_loopback(host: str) -> bool:
    """Whether the host, a name or an address without brackets, is this machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

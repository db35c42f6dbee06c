"""Connection attempts that the kernel dropped because a server's backlog was full."""

import contextlib

from jostle.host.resource_usage import read_some

__all__ = ["backlog_overflows"]


def backlog_overflows() -> int | None:
    """How often that has happened on this machine so far, retries included; None if the kernel does not tell.

    Source: TcpExt ListenOverflows in Documentation/networking/snmp_counter.rst of the kernel.
    """
    with contextlib.suppress(OSError, ValueError, KeyError):
        names, values = (
            line.split()
            for line in read_some("/proc/net/netstat").splitlines()
            if line.startswith(b"TcpExt:")
        )
        return int(dict(zip(names, values, strict=True))[b"ListenOverflows"])
    return None

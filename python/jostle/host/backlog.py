"""Connection attempts that the kernel dropped because the backlog of one server was full.

The kernel counts them for each listening socket, and tells by sock_diag(7), as `ss -ltm` shows it ("d" in
skmem). Its counters for the whole machine would blame a server for what another one drops.
"""

import contextlib
import socket
import struct
from collections.abc import Iterator

__all__ = ["backlog_drops"]

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
NLM_F_REQUEST, NLM_F_DUMP, NLMSG_ERROR, NLMSG_DONE = 1, 0x300, 2, 3
TCP_LISTEN = 10
INET_DIAG_SKMEMINFO, DROPS = 7, 8
"""The attribute with the memory of a socket, and the place of its drops in it (linux/sock_diag.h)."""

HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port
REQUEST = struct.Struct("=BBBxI48x")  # family, protocol, attributes, states, and any socket
RESPONSE_BYTES = 72  # inet_diag_msg: family at 0, source port (big-endian) at 4
ATTRIBUTE = struct.Struct("=HH")  # length, type

BUFFER = 1 << 16


def backlog_drops(port: int) -> int | None:
    """How many the sockets that listen on this port have dropped so far, retries included; None if there are
    none on this machine, or the kernel does not tell.
    """
    found: list[int] = []
    with contextlib.suppress(OSError, struct.error):
        for family in (socket.AF_INET, socket.AF_INET6):
            found += _drops(family, port)
    return sum(found) if found else None


def _drops(family: int, port: int) -> Iterator[int]:
    request = REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (INET_DIAG_SKMEMINFO - 1), 1 << TCP_LISTEN)
    flags = NLM_F_REQUEST | NLM_F_DUMP
    header = HEADER.pack(HEADER.size + len(request), SOCK_DIAG_BY_FAMILY, flags, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)
        kernel.send(header + request)
        while True:
            for kind, body in _messages(kernel.recv(BUFFER)):
                if kind in (NLMSG_DONE, NLMSG_ERROR):
                    return
                if int.from_bytes(body[4:6], "big") == port:
                    yield from _attribute(body[RESPONSE_BYTES:])


def _messages(received: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + HEADER.size <= len(received):
        length, kind, *_ = HEADER.unpack_from(received, at)
        yield kind, received[at + HEADER.size : at + length]
        at += max(HEADER.size, _aligned(length))


def _attribute(attributes: bytes) -> Iterator[int]:
    """The drops, if they are among the attributes of a socket."""
    at = 0
    while at + ATTRIBUTE.size <= len(attributes):
        length, kind = ATTRIBUTE.unpack_from(attributes, at)
        if kind == INET_DIAG_SKMEMINFO:
            yield struct.unpack_from("=I", attributes, at + ATTRIBUTE.size + 4 * DROPS)[0]
        at += max(ATTRIBUTE.size, _aligned(length))


def _aligned(length: int) -> int:
    return (length + 3) & ~3

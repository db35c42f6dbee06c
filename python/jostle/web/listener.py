"""Where the page listens: a socket that is bound before all else, with TLS where others connect."""

import contextlib
import errno
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jostle.errors import UserError
from jostle.text import reason

__all__ = ["PORT", "Listener", "listen"]

PORT = 5678
"""J, O, S, T on the keys of a telephone."""

LOOPBACK = "127.0.0.1"
MAX_PORT = 65_535
BACKLOG = 64

SELF_SIGNED = (
    "make one: openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=$(hostname) "
    "-keyout key.pem -out cert.pem\n"
    "or leave --listen out, and reach the page through ssh: ssh -L {port}:localhost:{port} THIS-MACHINE"
)


@dataclass(frozen=True)
class Listener:
    """A socket on which the page is served. `cert`, `key`: PEM files, of those that others can connect to."""

    socket: socket.socket
    host: str
    cert: Path | None = None
    key: Path | None = None

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    @property
    def open_to_others(self) -> bool:
        return self.cert is not None

    def url(self, token: str, path: str = "") -> str:
        """What to open; the token is behind the #, which no browser sends."""
        scheme = "https" if self.open_to_others else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}/{path}#token={token}"


@contextlib.contextmanager
def listen(
    port: int | None = None, host: str | None = None, cert: Path | None = None, key: Path | None = None
) -> Iterator[Listener]:
    """Listen on `host`, on loopback if there is none; on any free port if `PORT` is taken and none is given.

    Raises `UserError`.
    """
    if host is None and (cert or key):
        raise UserError("--cert and --key are for --listen", "on loopback the page needs no TLS")
    if host is not None and not (cert and key):
        wanted = "needs a certificate: --cert PEM --key PEM"
        raise UserError(f"--listen {host}: others can connect, so it {wanted}", _self_signed(port))
    if cert is not None and key is not None:
        _check(cert, key)
    with _bound(host or LOOPBACK, port) as bound:
        yield Listener(bound, host or LOOPBACK, cert, key)


def _self_signed(port: int | None) -> str:
    return SELF_SIGNED.format(port=port or PORT)


def _check(cert: Path, key: Path) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key)
    except OSError as error:
        why = (
            "they do not belong together, or are no PEM" if isinstance(error, ssl.SSLError) else reason(error)
        )
        raise UserError(f"--cert {cert} --key {key}: {why}") from None


def _bound(host: str, port: int | None) -> socket.socket:
    if port is not None and not 0 <= port <= MAX_PORT:
        raise UserError(f"there is no port {port}", f"choose one from 1024 to {MAX_PORT}")
    try:
        return _on(host, PORT if port is None else port)
    except TypeError:  # it cannot be encoded
        raise UserError(
            f"{host!r} is no name of a machine", "ip address lists the addresses of this one"
        ) from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE and port is None:
            return _on(host, 0)
        if error.errno == errno.EADDRINUSE:
            message, hint = f"port {port} is taken", "choose another one, or leave --port out for a free one"
        elif error.errno == errno.EACCES:
            message, hint = f"port {port} is only for root", "choose one from 1024 on"
        else:
            message = f"{host} is no address of this machine: {reason(error)}"
            hint = "ip address lists them"
        raise UserError(message, hint) from None


def _on(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if _is_ipv6(host) else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


def _is_ipv6(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).version == 6
    return False

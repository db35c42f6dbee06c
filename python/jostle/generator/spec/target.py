"""The server of a workload for the engine: its address, TLS, and where redirects may lead."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jostle.errors import PlanError
from jostle.generator.spec.address import Address
from jostle.generator.spec.values import bytes_of
from jostle.host.loopback import LOOPBACK, is_loopback
from jostle.plan.connection import Connection, Tls

__all__ = ["redirects_spec", "target_spec"]


def target_spec(connection: Connection, address: Address) -> dict[str, Any]:
    tls = connection.tls or (Tls() if address.tls else None)
    return {
        "host": address.host,
        "port": address.port,
        "connect_to": connection.connect_to,
        "resolve_each": connection.resolve_each,
        "source_addresses": connection.source_addresses,
        "tls": _tls(tls) if tls else None,
        "http2": {"connections": connection.http2.connections} if connection.http2 else None,
        "nodelay": connection.nodelay,
    }


def redirects_spec(max_redirects: int | None, host: str, allowed: Sequence[str]) -> dict[str, Any]:
    """The engine's `RedirectSpec`. A server on loopback may redirect to loopback under any name."""
    return {"most": max_redirects or 0, "hosts": [*allowed, *(LOOPBACK if is_loopback(host) else ())]}


def _tls(tls: Tls) -> dict[str, Any]:
    return {
        "insecure": not tls.verify,
        "ca_pem": _pem("tls.ca (--cacert)", tls.ca, "CERTIFICATE") if tls.ca else None,
        "client_cert_pem": _pem("tls.cert (--cert)", tls.cert, "CERTIFICATE") if tls.cert else None,
        "client_key_pem": _pem("tls.key (--key)", tls.key, "PRIVATE KEY") if tls.key else None,
        "server_name": tls.server_name or None,
        "alpn": tls.alpn,
        "version": tls.version,
        "resume": tls.resume,
    }


def _pem(option: str, path: Path, kind: str) -> str:
    """The text of a file that holds a `kind` ("CERTIFICATE", "PRIVATE KEY") in PEM form."""
    text = bytes_of(path).decode("utf-8", "replace")
    begun, ended = (
        len(re.findall(f"-----{mark} (?:[A-Z]+ )?{kind}-----", text)) for mark in ("BEGIN", "END")
    )
    if not begun or ended < begun:
        raise PlanError(
            f"{option}: {path} holds no {'whole ' if begun else ''}{kind.lower()} in PEM form",
            f"from -----BEGIN {kind}----- to -----END {kind}-----",
        )
    return text

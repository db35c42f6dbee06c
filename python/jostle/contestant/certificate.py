"""Whether a server's certificate can be verified, asked once before the load begins.

What the load would refuse in every handshake is refused here in words. In doubt nothing is said: the load has
the last word, with the authorities that are built into it.
"""

import socket
import ssl
from collections.abc import Mapping
from typing import Any

from jostle.errors import PlanError
from jostle.url import socket_path

__all__ = ["check_certificate"]

PATIENCE_S = 5.0

SELF_SIGNED = 18
UNKNOWN_ISSUER = (2, 19, 20, 21)
"""OpenSSL's codes (x509_vfy.h), which depend on the authorities that are known."""

WRONG_NAME = (62, 64)

PROBLEMS = {
    SELF_SIGNED: "is self-signed",
    **dict.fromkeys(UNKNOWN_ISSUER, "is from an authority that is not trusted"),
    9: "is not valid yet",
    10: "has expired",
    62: "is for another name than {name}",
    64: "is for another address than {name}",
}

REMEDY = (
    "-k (tls.verify = false in a plan) does not verify it; --cacert FILE (tls.ca) trusts the authority that "
    "signed it"
)
ANOTHER_NAME = "load it by a name that it is for, or do not verify it: -k (tls.verify = false in a plan)"


def check_certificate(target: Mapping[str, Any]) -> None:
    """Make a handshake with the first place that a `TargetSpec` names, unless it is not to be verified.

    Raises `PlanError` for a certificate that is surely refused. Anything else that goes wrong, such as a
    server that does not speak TLS, is left to the load, which counts it.
    """
    tls = target["tls"]
    if tls is None or tls["insecure"]:
        return
    name = tls["server_name"] or target["host"].removeprefix("[").removesuffix("]")
    try:
        with _connection(target) as plain, _trusting(tls["ca_pem"]).wrap_socket(plain, server_hostname=name):
            return
    except ssl.SSLCertVerificationError as error:
        code = error.verify_code
    except (OSError, ValueError):
        return
    unsure = code in UNKNOWN_ISSUER and not tls["ca_pem"] and not _knows_authorities()
    if code not in PROBLEMS or unsure:
        return
    problem = PROBLEMS[code].format(name=name)
    remedy = ANOTHER_NAME if code in WRONG_NAME else REMEDY
    raise PlanError(f"the certificate of {_place(target)} {problem}", remedy)


def _place(target: Mapping[str, Any]) -> str:
    return next(iter(target["connect_to"]), f"{target['host']}:{target['port']}")


def _connection(target: Mapping[str, Any]) -> socket.socket:
    place = _place(target)
    if place.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE_S)
        connection.connect(socket_path(place.removeprefix("unix:")))
        return connection
    host, _, port = place.rpartition(":")
    return socket.create_connection((host.removeprefix("[").removesuffix("]"), int(port)), PATIENCE_S)


def _trusting(ca_pem: str | None) -> ssl.SSLContext:
    """A context that trusts these authorities, or those of the system if there are none."""
    context = ssl.create_default_context(cadata=ca_pem) if ca_pem else ssl.create_default_context()
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _knows_authorities() -> bool:
    """Whether the system has a store of authorities; minimal containers have none."""
    return bool(ssl.create_default_context().get_ca_certs())

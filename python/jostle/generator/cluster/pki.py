"""Creates what a closed cluster needs: an authority, a certificate and key for each node, and a token."""

import datetime
import ipaddress
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jostle.errors import ClusterRefused
from jostle.extras import require
from jostle.text import reason

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, ExtensionType

__all__ = ["write_credentials"]

DAYS = 365

AUTHORITY_FILES = ("ca.key", "ca.crt", "token")
"""They are in one folder with the folders of the nodes."""


def write_credentials(folder: Path, nodes: Mapping[str, str]) -> list[Path]:
    """Write `folder`/NAME/{ca.crt,node.crt,node.key,token} for each of `nodes` (name → IP address).

    An authority and token that already exist in `folder` are used again, so that nodes can be added; the
    authority's key stays in `folder` and must not be copied to a node. Only their owner can read keys and
    tokens. Raises `ClusterRefused` for a wrong address or name, or if a node already has its files;
    `MissingExtra` without the extra.
    """
    require("cluster", "making the certificates of a cluster")
    addresses = {name: _address(name, text) for name, text in nodes.items()}
    for name in nodes:
        if (folder / name).exists():
            raise ClusterRefused(f"{folder / name} is there already", "remove it to create that node's again")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ClusterRefused(f"cannot make the folder {folder}: {reason(error)}", "name another") from None
    key, certificate = _authority(folder)
    token = folder / "token"
    if not token.exists():
        _write(token, secrets.token_hex(32).encode(), secret=True)
    for name, address in addresses.items():
        _node(folder / name, name, address, key, certificate)
        _write(folder / name / "token", token.read_bytes(), secret=True)
    return [folder / name for name in nodes]


def _address(name: str, text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}", name):
        raise ClusterRefused(
            f"{name!r} is not a valid node name", "use up to 63 letters, digits, dots and dashes"
        )
    if name in AUTHORITY_FILES:
        raise ClusterRefused(f"a node cannot be called {name}: a file beside its folder is", "choose another")
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        raise ClusterRefused(f"{name}={text}: {text!r} is not an IP address", "write NAME=IP") from None


def _authority(folder: Path) -> "tuple[EllipticCurvePrivateKey, Certificate]":
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if (folder / "ca.key").exists():
        try:
            key = load_pem_private_key((folder / "ca.key").read_bytes(), None)
            certificate = x509.load_pem_x509_certificate((folder / "ca.crt").read_bytes())
        except (OSError, ValueError):
            raise ClusterRefused(
                f"{folder}/ca.key and ca.crt are not the authority that was written there",
                "restore them, or begin with an empty folder and give every node its new files",
            ) from None
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        return key, certificate
    key = ec.generate_private_key(ec.SECP256R1())
    usage = x509.KeyUsage(
        digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    extensions: list[tuple[ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=True, path_length=0), True),
        (usage, True),
    ]
    certificate = _signed("jostle cluster", key, key, None, extensions)
    _write(folder / "ca.key", _pem(key), secret=True)
    _write(folder / "ca.crt", _text(certificate))
    return key, certificate


def _node(
    folder: Path,
    name: str,
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
    authority_key: "EllipticCurvePrivateKey",
    authority: "Certificate",
) -> None:
    """Write a node's files. Each node is server and client of every other, and of itself on loopback."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID

    names = [
        x509.DNSName(name),
        x509.IPAddress(address),
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    extensions: list[tuple[ExtensionType, bool]] = [
        (x509.SubjectAlternativeName(names), False),
        (x509.ExtendedKeyUsage(both), False),
    ]
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _signed(name, key, authority_key, authority, extensions)
    folder.mkdir(mode=0o700)
    _write(folder / "node.key", _pem(key), secret=True)
    _write(folder / "node.crt", _text(certificate))
    _write(folder / "ca.crt", _text(authority))


def _signed(
    name: str,
    key: "EllipticCurvePrivateKey",
    signer: "EllipticCurvePrivateKey",
    issuer: "Certificate | None",
    extensions: "list[tuple[ExtensionType, bool]]",
) -> "Certificate":
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import NameOID

    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer is not None else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))  # clocks of nodes differ
        .not_valid_after(now + datetime.timedelta(days=DAYS))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(signer, hashes.SHA256())


def _pem(key: "EllipticCurvePrivateKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _text(certificate: "Certificate") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _write(path: Path, data: bytes, *, secret: bool = False) -> None:
    """Write a new file. A secret is created with its final mode, so that others can never read it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)

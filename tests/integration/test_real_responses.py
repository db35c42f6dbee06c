"""Responses and certificates as servers really give them: coded unasked, of old kinds, with cookies for
TLS."""

import contextlib
import gzip
import ssl
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from support.handlers import Handler, serving
from support.real import Jostle, as_json

TEXT = b'{"id": 17, "say": "hello"}'


class Coded(Handler):
    """Answers in the coding that the path names, whatever the request says."""

    def do_GET(self) -> None:
        raw = zlib.compressobj(wbits=-15)
        bodies = {
            "gzip": gzip.compress(TEXT),
            "x-gzip": gzip.compress(TEXT),
            "deflate": zlib.compress(TEXT),
            "deflate?raw": raw.compress(TEXT) + raw.flush(),
            "utf-8": TEXT,
            "compress": b"\x1f\x9d\x90",
            "gzip?zeros": gzip.compress(TEXT) + bytes(16),
        }
        coding = self.path.removeprefix("/")
        body = bodies[coding]
        self.send_response(200)
        self.send_header("Content-Encoding", coding.partition("?")[0])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def coded() -> Iterator[str]:
    with serving(Coded) as url:
        yield url


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "deflate?raw", "utf-8"])
def test_a_response_is_decoded_though_nobody_asked_for_its_coding(
    jostle_command: Jostle, coded: str, coding: str
) -> None:
    result = as_json(
        jostle_command("hit", f"{coded}/{coding}", "--expect", '"say": "hello"', "-n", "4", "--json")
    )
    assert result["trials"][0]["outcomes"] == {"ok": 4}


@pytest.mark.parametrize(
    ("coding", "why"),
    [
        ("compress", "Content-Encoding compress: jostle cannot decode it"),
        ("gzip?zeros", "bytes after the gzip stream"),
    ],
)
def test_what_cannot_be_decoded_is_named(jostle_command: Jostle, coded: str, coding: str, why: str) -> None:
    result = as_json(jostle_command("hit", f"{coded}/{coding}", "--expect", "hello", "-n", "4", "--json"))
    assert result["trials"][0]["outcomes"] == {"wrong_body": 4}
    assert why in str(result)


class Login(Handler):
    """Sets cookies as applications do that expect TLS, and knows who comes back with one."""

    def do_GET(self) -> None:
        if self.path == "/me":
            known = "sid=1" in (self.headers["Cookie"] or "")
            return self.response(200 if known else 302, "", {} if known else {"Location": "/login"})
        self.send_response(200)
        for cookie in (
            "sid=1; Secure; HttpOnly; SameSite=None; Path=/",
            "far=1; Domain=example.com",
            "__Host-a=1; Path=/",
            f"long={'x' * 5000}",
            "near=1; Path=/admin",
        ):
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", "0")
        self.end_headers()
        return None


def test_cookies_on_loopback_are_kept_and_refusals_told(jostle_command: Jostle, tmp_path: Path) -> None:
    journey = tmp_path / "visit.toml"
    journey.write_text(
        "[journey.visit]\ncookies = true\n"
        'steps = [{ get = "/login" }, { get = "/me", expect = { status = 200 } }]\n'
    )
    with serving(Login) as url:
        shown = jostle_command("hit", url, "--journey", journey, "--once")
    assert "completed" in shown.stdout
    told = [line.strip() for line in shown.stdout.splitlines() if line.startswith("  ! ")]
    assert told == [
        "! cookie far is not kept: Domain=example.com is not the host (127.0.0.1)",
        "! cookie __Host-a is not kept: __Host- asks for Secure, Path=/ and no Domain",
        "! cookie long is not kept: its name and value have 5004 bytes together; 4096 are the most",
        "! cookie near is sent only to /admin and below",
    ]


class Hello(Handler):
    def do_GET(self) -> None:
        self.response(200, "hello")


class Certificates:
    """Makes certificates of kinds that servers in test have, each with its key, in a folder of its own."""

    KINDS: ClassVar[dict[str, list[str]]] = {
        "v1": ["rsa:2048"],
        "rsa1024": ["rsa:1024"],
        "p521": ["ec", "-pkeyopt", "ec_paramgen_curve:P-521"],
    }

    @classmethod
    def make(cls, kind: str, folder: Path) -> tuple[Path, Path]:
        certificate, key, request = (folder / f"{kind}.{end}" for end in ("pem", "key", "csr"))
        wanted = ["-newkey", *cls.KINDS[kind], "-nodes", "-keyout", str(key), "-subj", "/CN=localhost"]
        if kind == "v1":
            cls._openssl("req", *wanted, "-out", str(request))
            signed = ["-signkey", str(key), "-days", "2", "-out", str(certificate)]
            cls._openssl("x509", "-req", "-in", str(request), *signed)
        else:
            name = ["-addext", "subjectAltName=DNS:localhost", "-days", "2", "-out", str(certificate)]
            cls._openssl("req", "-x509", *wanted, *name)
        return certificate, key

    @staticmethod
    def _openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@contextlib.contextmanager
def secured(certificate: Path, key: Path, **settings: Any) -> Iterator[str]:
    """A server of Python's own with this certificate, on whose context `settings` are set."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers(settings.pop("ciphers", "DEFAULT:@SECLEVEL=0"))
    context.load_cert_chain(certificate, key)
    for name, value in settings.items():
        setattr(context, name, value)
    with serving(Hello, context=context) as url:
        yield url.replace("127.0.0.1", "localhost")


OLD, NEW = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


# In TLS 1.2 a server also looks at the curves of the key exchange, among which P-521 is not.
@pytest.mark.parametrize(
    ("kind", "version"), [("v1", OLD), ("v1", NEW), ("rsa1024", OLD), ("rsa1024", NEW), ("p521", NEW)]
)
def test_without_verification_any_certificate_will_do(
    jostle_command: Jostle, tmp_path: Path, kind: str, version: ssl.TLSVersion
) -> None:
    with secured(*Certificates.make(kind, tmp_path), maximum_version=version) as url:
        result = as_json(jostle_command("hit", url, "-k", "-n", "4", "--json"))
    assert result["trials"][0]["outcomes"] == {"ok": 4}


def failure(jostle_command: Jostle, url: str, *options: str | Path) -> str:
    """Why TLS failed, in one line."""
    result = as_json(jostle_command("hit", url, "-n", "2", *options, "--json"))
    assert result["trials"][0]["outcomes"] == {"tls_failed": 2}
    return str(result)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("v1", "is of X.509 version 1, in which jostle can verify no name"),
        ("rsa1024", "an RSA key of 1024 bits, which jostle cannot verify"),
        ("p521", "takes keys on P-521 only with -k"),
    ],
)
def test_a_certificate_that_cannot_be_verified_says_why(
    jostle_command: Jostle, tmp_path: Path, kind: str, why: str
) -> None:
    certificate, key = Certificates.make(kind, tmp_path)
    with secured(certificate, key) as url:
        assert why in failure(jostle_command, url, "--cacert", certificate)


def test_old_versions_and_ciphers_are_told(jostle_command: Jostle, tmp_path: Path) -> None:
    both = Certificates.make("v1", tmp_path)
    old = {"minimum_version": ssl.TLSVersion.TLSv1_1, "maximum_version": ssl.TLSVersion.TLSv1_1}
    with secured(*both, **old) as url:
        assert "perhaps only 1.1 or older" in failure(jostle_command, url, "-k")
    tls12 = {"maximum_version": ssl.TLSVersion.TLSv1_2, "ciphers": "AES128-GCM-SHA256:@SECLEVEL=0"}
    with secured(*both, **tls12) as url:
        assert "only ciphers with forward secrecy" in failure(jostle_command, url, "-k")


def test_a_clients_certificate_may_be_of_version_1(jostle_command: Jostle, tmp_path: Path) -> None:
    certificate, key = Certificates.make("v1", tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(certificate)
    mine = ["--cert", certificate, "--key", key]
    with serving(Hello, context=context) as url:
        result = as_json(jostle_command("hit", url, "-k", *mine, "-n", "2", "--json"))
        assert result["trials"][0]["outcomes"] == {"ok": 2}
        short, short_key = Certificates.make("rsa1024", tmp_path)
        refused = jostle_command("hit", url, "-k", "--cert", short, "--key", short_key, "-n", "2")
    assert refused.returncode == 2
    assert "an RSA key of 1024 bits" in refused.stderr

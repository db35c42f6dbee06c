"""A certificate that the load would refuse in every handshake is told in words before it begins."""

import os
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from jostle.contestant.certificate import check_certificate
from jostle.errors import PlanError
from support.handlers import Handler, certificate_in, serving


def target(url: str, **tls: Any) -> dict[str, Any]:
    host, _, port = url.partition("//")[2].rpartition(":")
    asked = {"insecure": False, "ca_pem": None, "server_name": None, **tls}
    return {"host": host, "port": int(port), "connect_to": [], "tls": asked}


def test_a_self_signed_certificate_is_refused_with_both_remedies(tmp_path: Path) -> None:
    with serving(Handler, secured_in=tmp_path) as url:
        place = url.partition("//")[2]
        with pytest.raises(PlanError) as told:
            check_certificate(target(url))
        assert told.value.message == f"the certificate of {place} is self-signed"
        assert "-k " in told.value.hint
        assert "--cacert" in told.value.hint
        elsewhere = {**target("https://example.test:443"), "connect_to": [place]}
        with pytest.raises(PlanError, match=f"of {place} is self-signed"):
            check_certificate(elsewhere)


def test_what_is_not_to_be_verified_or_is_trusted_is_not_refused(tmp_path: Path) -> None:
    with serving(Handler, secured_in=tmp_path) as url:
        check_certificate(target(url, insecure=True))
        trusted = (tmp_path / "cert.pem").read_text()
        check_certificate(target(url, ca_pem=trusted, server_name="localhost"))
        check_certificate({**target(url), "tls": None})


def test_an_authority_that_did_not_sign_it_and_another_name_are_told(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    certificate_in(other)
    with serving(Handler, secured_in=tmp_path) as url:
        with pytest.raises(PlanError, match=r"is self-signed|is from an authority that is not trusted"):
            check_certificate(target(url, ca_pem=(other / "cert.pem").read_text()))
        trusted = (tmp_path / "cert.pem").read_text()
        with pytest.raises(PlanError, match=r"is for another name than example\.test") as told:
            check_certificate(target(url, ca_pem=trusted, server_name="example.test"))
        assert "by a name that it is for" in told.value.hint


def test_whatever_else_goes_wrong_is_left_to_the_load() -> None:
    with serving(Handler) as url:  # it does not speak TLS
        check_certificate(target(url))
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    check_certificate(target(f"https://127.0.0.1:{port}"))


@pytest.mark.parametrize("abstract", [True, False])
def test_a_server_at_a_unix_socket_is_looked_at_too(tmp_path: Path, *, abstract: bool) -> None:
    name = f"@jostle-{os.getpid()}" if abstract else str(tmp_path / "socket")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate_in(tmp_path))

    def response(listening: socket.socket) -> None:
        with suppress(OSError), context.wrap_socket(listening.accept()[0], server_side=True):
            pass

    with socket.socket(socket.AF_UNIX) as listening, ThreadPoolExecutor(1) as pool:
        listening.bind(f"\0{name[1:]}" if abstract else name)
        listening.listen()
        listening.settimeout(10)
        pool.submit(response, listening)
        with pytest.raises(PlanError, match=f"the certificate of unix:{name} is self-signed"):
            check_certificate({**target("https://example.test:443"), "connect_to": [f"unix:{name}"]})

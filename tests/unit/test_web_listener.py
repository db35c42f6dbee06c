"""Where the page listens, and what is said where it cannot."""

import socket
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import UserError
from jostle.web.listener import PORT, listen


def refused(**given: Any) -> tuple[str, str]:
    with pytest.raises(UserError) as error, listen(**given):
        pass
    return error.value.message, error.value.hint


def test_it_listens_on_loopback_and_its_address_has_the_token() -> None:
    with listen(0) as listener:
        assert listener.socket.getsockname()[0] == "127.0.0.1"
        assert listener.url("secret", "live") == f"http://127.0.0.1:{listener.port}/live#token=secret"
        assert not listener.open_to_others


def test_a_port_that_was_not_asked_for_may_be_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr("jostle.web.listener.PORT", port)
        with listen() as listener:
            assert listener.port not in (0, port)
        assert refused(port=port) == (
            f"port {port} is taken",
            "choose another one, or leave --port out for a free one",
        )


@pytest.mark.parametrize("port", [-1, 65_536, 10**30])
def test_a_number_that_is_no_port(port: int) -> None:
    assert refused(port=port) == (f"there is no port {port}", "choose one from 1024 to 65535")


def test_others_connect_by_tls_only(tmp_path: Path) -> None:
    message, hint = refused(host="127.0.0.1")
    assert message == (
        "--listen 127.0.0.1: others can connect, so it needs a certificate: --cert PEM --key PEM"
    )
    assert f"ssh -L {PORT}:localhost:{PORT}" in hint
    assert refused(host="127.0.0.1", cert=tmp_path)[0] == message
    assert refused(cert=tmp_path)[0] == "--cert and --key are for --listen"


def test_a_certificate_that_cannot_be_used(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    assert refused(host="::1", cert=cert, key=key)[0] == (
        f"--cert {cert} --key {key}: no such file or directory"
    )
    cert.write_text("no PEM")
    key.write_text("no PEM")
    assert refused(host="::1", cert=cert, key=key)[0] == (
        f"--cert {cert} --key {key}: they do not belong together, or are no PEM"
    )


@pytest.mark.parametrize(
    ("host", "sentence"),
    [
        ("192.0.2.1", "192.0.2.1 is no address of this machine: "),
        ("x" * 70, f"{'x' * 70} is no address of this machine: "),
        ("ü" * 70, f"{'ü' * 70!r} is no name of a machine"),
    ],
)
def test_a_host_that_is_not_this_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: str, sentence: str
) -> None:
    monkeypatch.setattr("jostle.web.listener._check", lambda *_: None)
    message, hint = refused(port=0, host=host, cert=tmp_path, key=tmp_path)
    assert message.startswith(sentence)
    assert "ip address lists" in hint

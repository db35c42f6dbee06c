"""The checks of HTTP/2, against a server that speaks it and against others that break them."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from jostle.contestant import http2_checks
from jostle.contestant.checks import HELLO, TEXT, CheckedServer, WrongResponse
from jostle.contestant.http2 import Http2Client, Http2Error
from jostle.contestant.http2_checks import ResponsesHttp2, does_not_speak_http2
from support.http2 import frame
from support.real import reference_server

SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


@pytest.fixture(scope="module")
def target() -> Iterator[CheckedServer]:
    with reference_server("null") as url:
        yield CheckedServer("127.0.0.1", int(url.rpartition(":")[2]))


@contextmanager
def answering(response: bytes) -> Iterator[CheckedServer]:
    """A server that says `response` to whoever comes, and then nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = []

        def serve() -> None:
            taken.append(listener.accept()[0])
            taken[0].sendall(response)

        thread = threading.Thread(target=serve)
        thread.start()
        yield CheckedServer("127.0.0.1", listener.getsockname()[1])
        thread.join()
        taken[0].close()


def test_a_server_that_answers(target: CheckedServer) -> None:
    ResponsesHttp2("/hello", TEXT, HELLO)(target)
    with pytest.raises(WrongResponse, match="status and content type"):
        ResponsesHttp2("/hello", "text/html", HELLO)(target)
    with pytest.raises(WrongResponse, match="over HTTP/2: body"):
        ResponsesHttp2("/hello", TEXT, HELLO[1:])(target)
    with pytest.raises(WrongResponse, match="does not say so"):
        does_not_speak_http2(target)


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "it answers in HTTP/1.1"),
        (SETTINGS + frame(7, 0, 0, bytes(7) + b"\x0b"), "the server ends the connection, error 11"),
        (SETTINGS + frame(3, 0, 1, b"\0\0\0\x07"), "the stream was reset, error 7"),
        (SETTINGS + frame(1, 0, 1, b"\x88") + SETTINGS, "a frame of type 4 in the middle of headers"),
        (SETTINGS + frame(1, 5, 1, b"\xbe"), "header field 62 is of a dynamic table"),
        (frame(6, 0, 0, bytes(8)), "it does not begin with SETTINGS"),
    ],
)
def test_what_is_not_right(response: bytes, why: str) -> None:
    with answering(response) as target, pytest.raises(Http2Error, match=why):
        asked(target)


def asked(target: CheckedServer) -> None:
    with Http2Client(target.host, target.port, 10) as client:
        client.request("/")
        client.receive()


def test_headers_in_every_form() -> None:
    """Indexed, with a name of the table, in Huffman's code and plain; padded, in two frames."""
    block = b"\x20\x88" + b"\x5f\x87" + bytes.fromhex("497ca58ae819aa") + b"\x00\x01a\x02bc"
    begun = frame(1, 0x28, 3, b"\x02" + bytes(5) + block[:5] + bytes(2))
    with (
        answering(SETTINGS + begun + frame(9, 4, 3, block[5:]) + frame(0, 9, 3, b"\x01x\0")) as target,
        Http2Client(target.host, target.port, 10) as client,
    ):
        head, body = client.receive(), client.receive()
    assert (head.stream, head.end) == (3, False)
    assert head.fields == {":status": "200", "content-type": "text/plain", "a": "bc"}
    assert (body.data, body.end) == (b"x", True)


def test_whoever_says_nothing_does_not_speak_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http2_checks, "SILENCE_S", 0.05)
    with answering(b"") as target:
        does_not_speak_http2(target)

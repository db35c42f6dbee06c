"""What a contestant that speaks gRPC must answer: the methods of roster/shared/grpc/echo.proto, over HTTP/2.

Messages are encoded and decoded by hand: field 1 of Words is a text, field 2 a number.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from jostle.contestant.checks import ATTEMPTS, TIMEOUT_S, CheckedServer, ContractCheck, WrongResponse, expect
from jostle.contestant.http2 import Http2Client

__all__ = ["GRPC_CHECKS"]

OK, INVALID_ARGUMENT, UNIMPLEMENTED = "0", "3", "12"
"""Values of grpc-status."""
HEADERS = {"content-type": "application/grpc", "te": "trailers"}
CALLS = 100
"""Calls at once on a connection, which every server allows."""
MAX_COUNT, MAX_DELAY_MS = 100_000, 60_000


def _varint(number: int) -> bytes:
    number &= 2**64 - 1
    written = b""
    while number > 0x7F:
        written += bytes([number & 0x7F | 0x80])
        number >>= 7
    return written + bytes([number])


def _words(text: str = "", number: int = 0) -> bytes:
    """An encoded message. Fields with their default value are left out, as every encoder does."""
    data = text.encode()
    first = b"\x0a" + _varint(len(data)) + data if data else b""
    return first + (b"\x10" + _varint(number) if number else b"")


def _schedule(n: int, gap_ms: int = 0) -> bytes:
    return (b"\x08" + _varint(n) if n else b"") + (b"\x10" + _varint(gap_ms) if gap_ms else b"")


class _Call:
    """One call on a connection, message by message."""

    def __init__(self, client: Http2Client, method: str) -> None:
        self.path = f"/roster.Echo/{method}"
        self.status: str | None = None
        self._client = client
        self._come = b""
        self._stream = client.request(self.path, "POST", HEADERS, end=False)

    def send(self, *messages: bytes, end: bool = True) -> None:
        framed = b"".join(b"\0" + len(message).to_bytes(4, "big") + message for message in messages)
        self._client.send(self._stream, framed, end=end)

    def receive(self) -> bytes | None:
        """The next message; None at the end, when `status` is set."""
        while (message := self._whole()) is None:
            if self.status is not None:
                return None
            part = self._client.receive()
            if part.stream != self._stream:
                raise WrongResponse(f"{self.path}: something came on stream {part.stream}")
            if part.fields.get(":status", "200") != "200":
                raise WrongResponse(f"{self.path}: HTTP status {part.fields[':status']} and not gRPC")
            self._come += part.data
            if part.end:
                self.status = part.fields.get("grpc-status", "none")
        return message

    def rest(self) -> list[bytes]:
        """All messages until the end."""
        return list(iter(self.receive, None))

    def _whole(self) -> bytes | None:
        length = int.from_bytes(self._come[1:5], "big")
        if len(self._come) < 5 + length:
            return None
        if self._come[0]:
            raise WrongResponse(f"{self.path}: a compressed message, although no compression was negotiated")
        message, self._come = self._come[5 : 5 + length], self._come[5 + length :]
        return message


def _connected(target: CheckedServer) -> Http2Client:
    return Http2Client(target.host, target.port, TIMEOUT_S)


@dataclass(frozen=True)
class _CallCheck:
    """A call with this message is answered with these messages and this status."""

    method: str
    message: bytes
    responses: Sequence[bytes]
    status: str = OK

    def __call__(self, target: CheckedServer) -> None:
        with _connected(target) as client:
            call = _Call(client, self.method)
            call.send(self.message)
            responses = call.rest()
        expect(f"{call.path}: grpc-status", call.status, self.status)
        expect(f"{call.path}: messages", responses, list(self.responses))


def _sends_each_message_when_it_is_there(target: CheckedServer) -> None:
    """Check that a message is not held back until the end of the response."""
    gap_ms = 300
    if all(_seconds_between(target, gap_ms) < gap_ms / 2000 for _ in range(ATTEMPTS)):
        raise WrongResponse("Count: what is ready is held back until the end")


def _seconds_between(target: CheckedServer, gap_ms: int) -> float:
    """The time between the two messages of a call."""
    with _connected(target) as client:
        call = _Call(client, "Count")
        call.send(_schedule(2, gap_ms))
        call.receive()
        first = time.perf_counter()
        call.receive()
        return time.perf_counter() - first


def _keeps_the_schedule(target: CheckedServer) -> None:
    begin = time.perf_counter()
    _CallCheck("Count", _schedule(3, 100), [_words(number=n) for n in (1, 2, 3)])(target)
    if (took_s := time.perf_counter() - begin) < 0.199:
        raise WrongResponse(f"Count: three messages at an interval of 100 ms within {took_s * 1000:.1f} ms")


def _talks(target: CheckedServer) -> None:
    """Check that each message is answered before the next is sent."""
    with _connected(target) as client:
        call = _Call(client, "Talk")
        for number, text in enumerate(("one", "zwei: ä", "three " * 500)):
            call.send(_words(text, number), end=False)
            expect(f"{call.path}: message", call.receive(), _words(text, number))
        call.send()
        expect(f"{call.path}: messages after the end", call.rest(), [])
        expect(f"{call.path}: grpc-status", call.status, OK)


def _responses_in_parallel(target: CheckedServer) -> None:
    with _connected(target) as client:
        left = dict[int, bytes]()
        for number in range(1, CALLS + 1):
            stream = client.request("/roster.Echo/Say", "POST", HEADERS, end=False)
            message = _words(number=number)
            client.send(stream, b"\0" + len(message).to_bytes(4, "big") + message, end=True)
            left[stream] = message
        while left:
            part = client.receive()
            if part.data:
                expect(f"one of {CALLS} calls at once: response", part.data[5:], left[part.stream])
            if part.end:
                expect(f"one of {CALLS} calls at once: grpc-status", part.fields.get("grpc-status"), OK)
                del left[part.stream]


GRPC_CHECKS: dict[str, Sequence[ContractCheck]] = {
    "Say": [
        _CallCheck("Say", _words("hällo", 7), [_words("hällo", 7)]),
        _CallCheck("Say", _words("x" * 10_000, -1), [_words("x" * 10_000, -1)]),
        _CallCheck("Say", b"", [b""]),
    ],
    "Count": [
        _CallCheck("Count", _schedule(0), []),
        _CallCheck("Count", _schedule(1000), [_words(number=n) for n in range(1, 1001)]),
        _keeps_the_schedule,
        _sends_each_message_when_it_is_there,
        *(_CallCheck("Count", _schedule(n, 1), [], INVALID_ARGUMENT) for n in (-1, MAX_COUNT + 1)),
        *(_CallCheck("Count", _schedule(1, gap), [], INVALID_ARGUMENT) for gap in (-1, MAX_DELAY_MS + 1)),
    ],
    "Talk": [_CallCheck("Talk", _words("alone"), [_words("alone")]), _talks],
    "unknown method": [_CallCheck("Shout", b"", [], UNIMPLEMENTED)],
    "parallel calls": [_responses_in_parallel],
}

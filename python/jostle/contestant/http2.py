"""An HTTP/2 client for checks: requests and their responses frame by frame, without TLS (RFC 9113).

It is independent of the engine's, so that neither is checked by itself. It allows no dynamic table: headers
are entries of the static table, or text (RFC 7541).
"""

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

__all__ = ["Http2Client", "Http2Error", "StreamPart"]

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
ACK = END_STREAM = 0x1
END_HEADERS, PADDED, PRIORITY = 0x4, 0x8, 0x20
WINDOW = 2**30
OWN_SETTINGS = {1: 0, 2: 0, 4: WINDOW}
"""HEADER_TABLE_SIZE, ENABLE_PUSH, INITIAL_WINDOW_SIZE."""

STATUSES = ("200", "204", "206", "304", "400", "404", "500")
STATIC = {8 + place: (":status", code) for place, code in enumerate(STATUSES)}
"""The entries of the static table that checks need; all other names are read as ""."""
STATIC[31] = ("content-type", "")
STATIC_LENGTH = 61

CODES_BY_LENGTH = {
    5: "012aceiost",
    6: " %-./3456789=A_bdfghlmnpru",
    7: ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz",
    8: "&*,;XZ",
    10: '!"()?',
    11: "'+|",
    12: "#>",
    13: "\0$@[]~",
    14: "^}",
    15: "<`{",
}
"""The characters of headers by the length of their Huffman code (RFC 7541, Appendix B).

The code is canonical: codes of one length are consecutive, the shortest first. Other characters have longer
codes.
"""


class Http2Error(Exception):
    """What was received is not HTTP/2, or ends the stream or the connection."""


@dataclass(frozen=True)
class StreamPart:
    """Something received on a stream."""

    stream: int
    fields: Mapping[str, str] = field(default_factory=dict)
    """Headers or trailers."""
    data: bytes = b""
    end: bool = False
    """Nothing will follow."""


class Http2Client:
    """A connection on which the server has confirmed that it speaks HTTP/2.

    Raises `Http2Error` if it does not, `OSError` if it cannot be reached or sends nothing.
    """

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        self._authority = f"{host}:{port}"
        self._next_stream = 1
        self._socket = socket.create_connection((host, port), timeout_s)
        self._come = self._socket.makefile("rb")
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._come.close()
        self._socket.close()

    def request(
        self, path: str, method: str = "GET", fields: Mapping[str, str] | None = None, *, end: bool = True
    ) -> int:
        """Begin a stream; if `end` is False, data will follow. Returns the stream's number."""
        stream, self._next_stream = self._next_stream, self._next_stream + 2
        own = {":method": method, ":scheme": "http", ":path": path, ":authority": self._authority}
        block = b"".join(
            b"\0" + _text(name) + _text(value) for name, value in {**own, **(fields or {})}.items()
        )
        self._send(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block)
        return stream

    def send(self, stream: int, data: bytes, *, end: bool) -> None:
        """Send data of less than 16 KiB, the default limit of a frame. Flow-control windows are ignored."""
        self._send(DATA, END_STREAM if end else 0, stream, data)

    def receive(self) -> StreamPart:
        """The next thing received on any stream."""
        while True:
            kind, flags, stream, payload = self._frame()
            if kind == DATA:
                return StreamPart(stream, {}, _unpadded(flags, payload), bool(flags & END_STREAM))
            if kind == HEADERS:
                block = _unpadded(flags, payload)[5 if flags & PRIORITY else 0 :]
                while not flags & END_HEADERS:
                    kind, more, _, payload = self._frame()
                    if kind != CONTINUATION:
                        raise Http2Error(f"a frame of type {kind} in the middle of headers")
                    flags |= more & END_HEADERS
                    block += payload
                return StreamPart(stream, dict(_fields(block)), b"", bool(flags & END_STREAM))
            self._control(kind, flags, payload)

    def _begin(self) -> None:
        settings = b"".join(
            name.to_bytes(2, "big") + value.to_bytes(4, "big") for name, value in OWN_SETTINGS.items()
        )
        window = _framed(WINDOW_UPDATE, 0, 0, WINDOW.to_bytes(4, "big"))
        self._socket.sendall(PREFACE + _framed(SETTINGS, 0, 0, settings) + window)
        kind, flags, _, payload = self._frame()
        if kind != SETTINGS or flags & ACK:
            raise Http2Error("it does not begin with SETTINGS: it does not speak HTTP/2")
        self._control(kind, flags, payload)

    def _control(self, kind: int, flags: int, payload: bytes) -> None:
        if kind in (SETTINGS, PING) and not flags & ACK:
            self._send(kind, ACK, 0, payload if kind == PING else b"")
        elif kind == RST_STREAM:
            raise Http2Error(f"the stream was reset, error {int.from_bytes(payload[:4], 'big')}")
        elif kind == GOAWAY:
            raise Http2Error(f"the server ends the connection, error {int.from_bytes(payload[4:8], 'big')}")

    def _send(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        self._socket.sendall(_framed(kind, flags, stream, payload))

    def _frame(self) -> tuple[int, int, int, bytes]:
        """The next frame's type, flags, stream and payload."""
        head = self._read(9)
        if head.startswith(b"HTTP/1."):
            raise Http2Error("it answers in HTTP/1.1")
        payload = self._read(int.from_bytes(head[:3], "big"))
        return head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7FFF_FFFF, payload

    def _read(self, size: int) -> bytes:
        data = self._come.read(size)
        if len(data) < size:
            raise Http2Error("the connection was closed")
        return data


def _framed(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _unpadded(flags: int, payload: bytes) -> bytes:
    return payload[1 : len(payload) - payload[0]] if flags & PADDED else payload


def _text(text: str) -> bytes:
    """Encode a header's name or value, uncompressed."""
    data = text.encode()
    return bytes([len(data)]) + data if len(data) < 127 else bytes([127, len(data) - 127]) + data


def _fields(block: bytes) -> Iterator[tuple[str, str]]:
    """The fields of a header block. Raises `Http2Error` for one that needs a dynamic table."""
    place = 0
    while place < len(block):
        first = block[place]
        bits = 7 if first & 0x80 else 6 if first & 0x40 else 5 if first & 0x20 else 4
        index, place = _number(block, place, bits)
        if bits == 5:
            continue  # a new size of the dynamic table
        if index > STATIC_LENGTH:
            raise Http2Error(f"header field {index} is of a dynamic table that has no room")
        name, value = STATIC.get(index, ("", ""))
        if bits != 7:
            if index == 0:
                name, place = _string(block, place)
            value, place = _string(block, place)
        yield name, value


def _number(block: bytes, place: int, bits: int) -> tuple[int, int]:
    """A number that has `bits` bits in its first byte, and the place after it."""
    prefix_max = 2**bits - 1
    number, place, shift = block[place] & prefix_max, place + 1, 0
    if number < prefix_max:
        return number, place
    while True:
        byte = block[place]
        number, place, shift = number + ((byte & 0x7F) << shift), place + 1, shift + 7
        if byte < 0x80:
            return number, place


def _string(block: bytes, place: int) -> tuple[str, int]:
    coded = block[place] & 0x80
    length, place = _number(block, place, 7)
    data = block[place : place + length]
    return _decoded(data) if coded else data.decode(errors="replace"), place + length


def _codes() -> dict[tuple[int, int], str]:
    """The characters by (length in bits, code)."""
    codes, code, before = {}, 0, 0
    for length, characters in CODES_BY_LENGTH.items():
        code <<= length - before
        for character in characters:
            codes[length, code] = character
            code += 1
        before = length
    return codes


_CODES = _codes()


def _decoded(data: bytes) -> str:
    """Decode Huffman's code. Everything from a character that headers do not have on is left out."""
    text, code, length = "", 0, 0
    for byte in data:
        for bit in range(7, -1, -1):
            code, length = code << 1 | (byte >> bit & 1), length + 1
            if (length, code) in _CODES:
                text, code, length = text + _CODES[length, code], 0, 0
    return text

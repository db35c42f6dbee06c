"""Checks of a WebSocket (RFC 6455): messages are echoed, and pushed messages come in order."""

import base64
import hashlib
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from jostle.contestant.checks import TIMEOUT_S, CheckedServer, WrongResponse

__all__ = ["Echoes", "Pushes"]

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE = 0x81, 0x88
"""The first bytes of an unfragmented text frame and of a close frame."""
NORMAL = 1000


@dataclass(frozen=True)
class Echoes:
    """Each message comes back, in order."""

    path: str
    messages: Sequence[str]

    def __call__(self, target: CheckedServer) -> None:
        with _Socket(target, self.path) as client:
            for message in self.messages:
                client.send(message)
            for message in self.messages:
                _expect(self.path, client.receive(), message)


@dataclass(frozen=True)
class Pushes:
    """These messages come unasked, followed by a normal close."""

    path: str
    messages: Sequence[str]

    def __call__(self, target: CheckedServer) -> None:
        with _Socket(target, self.path) as client:
            for message in self.messages:
                _expect(self.path, client.receive(), message)
            _expect(self.path, client.receive(), NORMAL)


class _Socket:
    """A client that sends short texts and reads unfragmented messages of less than 64 kB."""

    def __init__(self, target: CheckedServer, path: str) -> None:
        self._path = path
        self._socket = socket.create_connection((target.host, target.port), TIMEOUT_S)
        self._come = self._socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {target.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        status = self._come.readline()
        if not status.startswith(b"HTTP/1.1 101"):
            raise WrongResponse(f"GET {path}: no upgrade to WebSocket, but {status!r}")
        fields = {}
        while line := self._come.readline().strip():
            name, _, value = line.partition(b":")
            fields[name.lower()] = value.strip()
        accept = base64.b64encode(hashlib.sha1((key + _GUID).encode(), usedforsecurity=False).digest())
        if fields.get(b"sec-websocket-accept") != accept:
            raise WrongResponse(f"GET {path}: Sec-WebSocket-Accept does not answer the key")

    def __enter__(self) -> "_Socket":
        return self

    def __exit__(self, *_: object) -> None:
        self._come.close()
        self._socket.close()

    def send(self, message: str) -> None:
        payload = message.encode()
        head = [len(payload)] if len(payload) < 126 else [126, *len(payload).to_bytes(2, "big")]
        head[0] |= 0x80
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
        self._socket.sendall(bytes([_TEXT, *head]) + mask + masked)

    def receive(self) -> str | int:
        """The next text message, or the code of a close."""
        kind, length = self._read(2)
        if length == 126:
            length = int.from_bytes(self._read(2), "big")
        payload = self._read(length)
        if kind == _CLOSE:
            return int.from_bytes(payload[:2], "big")
        if kind != _TEXT:
            raise WrongResponse(f"GET {self._path}: a frame that begins with {kind:#x} is no whole text")
        return payload.decode(errors="replace")

    def _read(self, size: int) -> bytes:
        data = self._come.read(size)
        if len(data) < size:
            raise WrongResponse(f"GET {self._path}: closed within a frame, or without a close")
        return data


def _expect(path: str, got: str | int, wanted: str | int) -> None:
    if got != wanted:
        raise WrongResponse(f"GET {path}: {str(got)[:60]!r} instead of {str(wanted)[:60]!r}")

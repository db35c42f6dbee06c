"""What a generator process says: JSON with bytes in it, one length-prefixed frame after another.

A frame is two little-endian u32, the lengths of the JSON text and of the bytes behind it, and then both. In
the JSON, `{"bytes": [start, length]}` stands for a piece of those bytes.
"""

import json
import struct
from typing import IO, Any

__all__ = ["read_frame", "write_frame"]

HEAD = struct.Struct("<II")

MOST_BYTES = 256 << 20
"""A frame beyond this is no interval: whoever announces one is not waited for."""


def write_frame(file: IO[bytes], data: dict[str, Any]) -> None:
    """Write `data`, in which any value may be bytes, as one frame, and flush it."""
    pieces: list[bytes] = []
    length = 0

    def place(piece: object) -> dict[str, list[int]]:
        nonlocal length
        if not isinstance(piece, bytes):
            raise TypeError(f"{type(piece).__name__} does not go into a frame")
        pieces.append(piece)
        start, length = length, length + len(piece)
        return {"bytes": [start, len(piece)]}

    text = json.dumps(data, default=place, separators=(",", ":")).encode()
    file.write(b"".join([HEAD.pack(len(text), length), text, *pieces]))
    file.flush()


def read_frame(file: IO[bytes]) -> dict[str, Any] | None:
    """The next frame; None at the end of the file, also where it ends within a frame.

    Raises `ValueError` for one that announces more than `MOST_BYTES`.
    """
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    text_length, bytes_length = HEAD.unpack(head)
    if text_length + bytes_length > MOST_BYTES:
        raise ValueError(f"a frame of {text_length + bytes_length:,} bytes; the most is {MOST_BYTES:,}")
    text, data = file.read(text_length), file.read(bytes_length)
    if len(text) < text_length or len(data) < bytes_length:
        return None

    def take(found: dict[str, Any]) -> Any:
        where = found.get("bytes")
        if len(found) == 1 and isinstance(where, list):
            return data[where[0] : where[0] + where[1]]
        return found

    frame: dict[str, Any] = json.loads(text, object_hook=take)
    return frame

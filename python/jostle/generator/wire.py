"""The messages of a generator process: JSON with bytes in it, one length-prefixed frame after another.

A frame is two little-endian u32, the lengths of the JSON text and of the bytes after it, followed by both. In
the JSON, `{"bytes": [start, length]}` stands for a piece of those bytes.
"""

import json
import struct
from typing import IO, Any

__all__ = ["frame_end", "parse_frame", "read_frame", "write_frame"]

HEAD = struct.Struct("<II")

MAX_BYTES = 256 << 20
"""The largest frame that is read. Nothing longer is an interval, so it is not worth waiting for."""


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
    """The next frame; None at the end of the file, even if it ends within a frame.

    Raises `ValueError` for a frame that announces more than `MAX_BYTES` or cannot be read.
    """
    head = file.read(HEAD.size)
    end = frame_end(head)
    if end is None:
        return None
    frame = head + file.read(end - HEAD.size)
    return parse_frame(frame) if len(frame) == end else None


def frame_end(data: bytes | bytearray, start: int = 0) -> int | None:
    """The end of the frame that begins at `start`; None if not even its lengths are complete.

    Raises `ValueError` for a frame that announces more than `MAX_BYTES`.
    """
    if len(data) - start < HEAD.size:
        return None
    text_length, bytes_length = HEAD.unpack_from(data, start)
    length = int(text_length + bytes_length)
    if length > MAX_BYTES:
        raise ValueError(f"a frame of {length:,} bytes; the most is {MAX_BYTES:,}")
    return start + HEAD.size + length


def parse_frame(frame: bytes) -> dict[str, Any]:
    """The data of a frame. Raises `ValueError` if it is not one."""
    text_length, _ = HEAD.unpack_from(frame)
    text, data = frame[HEAD.size : HEAD.size + text_length], frame[HEAD.size + text_length :]

    def take(found: dict[str, Any]) -> Any:
        match found:
            case {"bytes": [int(start), int(length)]} if len(found) == 1:
                return data[start : start + length]
        return found

    try:
        content = json.loads(text, object_hook=take)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    return content

"""A generator's spool (a write-ahead log): its intervals as frames, on its host's disk before they are sent.

What is streamed to the driver are pieces of this file, so the driver's copy is always its beginning, and what
the copy lacks is the rest of it.
"""

import contextlib
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jostle.errors import NotARun
from jostle.generator.wire import frame_end, parse_frame, write_frame
from jostle.host.cache import cache_folder
from jostle.host.files import open_regular

__all__ = ["FrameReader", "Spool", "forget_log", "log_path", "read_from", "read_log"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
"""The names that are accepted. They come from the record of a run, which a stranger may have written."""


def log_path(name: str) -> Path:
    """The path of the spool `name` on this host. Its disk outlives the generator. Raises `NotARun`."""
    if not _NAME.fullmatch(name):
        raise NotARun(f"{name!r} is not the name of a generator's spool", "its ledger was changed by hand")
    return cache_folder("generators") / f"{name}.frames"


def read_log(log: str, offset: int) -> Iterator[bytes]:
    """The bytes of a log from `offset` on, even of a dead generator.

    Raises `FileNotFoundError`, `NotARun`.
    """
    yield from read_from(log_path(log), offset)


def forget_log(log: str) -> None:
    """Remove a log once the driver has all of it."""
    with contextlib.suppress(FileNotFoundError):
        log_path(log).unlink()


class Spool:
    """Grows by whole intervals, each synced to disk. Other threads may read it while it is written."""

    def __init__(self, path: Path) -> None:
        """Creates the file, which must not exist yet. Raises `OSError`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._closed = False
        self._file = path.open("xb")
        self._size = 0
        self._grown = threading.Condition()

    def append(self, interval: Any) -> None:
        """Write an interval. Nothing may follow the one marked last."""
        write_frame(self._file, {"interval": interval})
        os.fsync(self._file.fileno())
        with self._grown:
            self._size = self._file.tell()
            self._closed = interval["last"]
            self._grown.notify_all()

    def close(self) -> None:
        """Close the file, even if no interval was marked last."""
        with self._grown:
            with contextlib.suppress(OSError):  # after a failed write it tries once more
                self._file.close()
            self._closed = True
            self._grown.notify_all()

    def wait_beyond(self, offset: int, timeout_s: float) -> tuple[int, bool]:
        """Wait until it is longer than `offset`, or closed. Returns its length, and whether it is closed."""
        with self._grown:
            self._grown.wait_for(lambda: self._size > offset or self._closed, timeout_s)
            return self._size, self._closed


def read_from(path: Path, offset: int, end: int | None = None, piece: int = 4 << 20) -> Iterator[bytes]:
    """The file from `offset` to `end`, or to its own end, in pieces of at most `piece` bytes."""
    with open_regular(path) as file:
        file.seek(offset)
        while data := file.read(piece if end is None else min(piece, end - file.tell())):
            yield data


class FrameReader:
    """Turns pieces of a log into whole intervals. Frames may be split anywhere."""

    def __init__(self) -> None:
        self._held = bytearray()

    def add(self, piece: bytes) -> list[Any]:
        """The intervals that this piece completes. Raises `ValueError` if it is not from a log."""
        self._held += piece
        found, start = [], 0
        while (end := frame_end(self._held, start)) is not None and end <= len(self._held):
            frame = parse_frame(bytes(self._held[start:end]))
            if not isinstance(interval := frame.get("interval"), dict):
                raise ValueError("a frame without an interval")
            found.append(interval)
            start = end
        del self._held[:start]
        return found

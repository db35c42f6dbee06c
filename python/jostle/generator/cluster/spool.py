"""A generator's own log: its intervals as frames, on the disk of its host before anybody is told of them.

What is streamed to the driver are pieces of this very file, so that the driver's copy is always the beginning
of it, and what is missing there is its rest.
"""

import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jostle.generator.wire import read_frame, write_frame

__all__ = ["OwnLog", "Unfolding", "read_from"]


class OwnLog:
    """Grows by whole intervals, each synced to the disk. Read by other threads while it is written."""

    def __init__(self, path: Path) -> None:
        """The file is new. Raises `OSError`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._closed = False
        self._file = path.open("xb")
        self._size = 0
        self._grown = threading.Condition()

    def append(self, interval: Any) -> None:
        """Nothing follows the last one."""
        write_frame(self._file, {"interval": interval})
        os.fsync(self._file.fileno())
        with self._grown:
            self._size = self._file.tell()
            self._closed = interval["last"]
            self._grown.notify_all()

    def close(self) -> None:
        """Nothing follows, whatever was last."""
        with self._grown:
            self._file.close()
            self._closed = True
            self._grown.notify_all()

    def wait_beyond(self, offset: int, timeout_s: float) -> tuple[int, bool]:
        """Return when it is longer than `offset`, closed, or time is up: its length, and if it is closed."""
        with self._grown:
            self._grown.wait_for(lambda: self._size > offset or self._closed, timeout_s)
            return self._size, self._closed


def read_from(path: Path, offset: int, end: int | None = None, piece: int = 4 << 20) -> Iterator[bytes]:
    """The file from `offset` to `end`, or as far as it goes, in pieces of at most so many bytes."""
    with path.open("rb") as file:
        file.seek(offset)
        while data := file.read(piece if end is None else min(piece, end - file.tell())):
            yield data


class Unfolding:
    """Pieces of a log in, whole intervals out. Frames may be cut anywhere."""

    def __init__(self) -> None:
        self._rest = b""

    def add(self, piece: bytes) -> list[Any]:
        """The intervals that are whole with this piece."""
        data = io.BytesIO(self._rest + piece)
        found = []
        while True:
            start = data.tell()
            if (frame := read_frame(data)) is None:
                break
            found.append(frame["interval"])
        self._rest = data.getvalue()[start:]
        return found

"""Files that only grow: one JSON object a line, each line handed over whole, a torn last line ignored."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

__all__ = [
    "append_line",
    "mend_last_line",
    "read_json",
    "read_lines",
    "read_objects",
]


def append_line(file: TextIO, text: str, *, sync: bool = False) -> None:
    """Write `text` and a line end, and flush it, so that `kill -9` of this process loses nothing.

    With `sync` the line also survives a power cut.
    """
    file.write(text + "\n")
    file.flush()
    if sync:
        os.fsync(file.fileno())


def mend_last_line(path: Path) -> None:
    """Cut off a last line without its end, so that the next one begins at the beginning."""
    with path.open("rb+") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def read_json(path: Path) -> dict[str, Any] | None:
    """None where the file is missing or is not a JSON object."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None


def read_lines(path: Path) -> Iterator[str]:
    """All whole lines, one at a time; none where there is no such file.

    A last line without its line end was being written when the writer died: left out.
    """
    try:
        file = path.open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            if line.endswith("\n"):
                yield line[:-1]


def read_objects(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of all whole lines, up to the first line that is none (a disk that filled up)."""
    for line in read_lines(path):
        try:
            data = json.loads(line)
        except ValueError:
            return
        if not isinstance(data, dict):
            return
        yield data

"""JSON files of a run folder: read with suspicion, whoever made the folder, and written line by line.

Only regular files of limited size are read, never through a link, and only what has the form that
`jostle.record.layout` states. Anything else is `NotARun` with the name of the file.

A file that only grows has one JSON object per line, each written in one piece. Its last line only counts with
its line end: a writer that was killed may have left it incomplete.
"""

import functools
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO, TypeVar

from jostle.errors import NotARun
from jostle.host.files import open_regular
from jostle.record.layout import Fingerprint
from jostle.text import one_line

__all__ = [
    "append_line",
    "check_fingerprint",
    "damaged",
    "fingerprint",
    "fingerprint_of",
    "is_as_before",
    "mend_last_line",
    "parse",
    "read_bytes",
    "read_lines",
    "read_object",
    "read_objects",
    "read_on",
    "to_line",
]

T = TypeVar("T")

MAX_JSON_BYTES = 64 << 20
"""Most bytes of a file that is read at once."""

MAX_LINE_BYTES = 16 << 20
"""Most bytes of a line; an interval of a hundred requests with all their measures has less than 1 MB."""

PIECE_BYTES = 1 << 20


def damaged(path: Path, why: object) -> NotARun:
    """The error for a file that cannot be read as what it should be."""
    return NotARun(f"{one_line(_name(path))} is damaged: {one_line(_in_words(why))[:300]}")


def _name(path: Path) -> str:
    """The path within a trial, with the trial's number, or else the name: the rest of the path is known."""
    for depth, folder in enumerate(path.parts[:-1]):
        if depth and path.parts[depth - 1] == "trials" and (number := re.match(r"\d+", folder)):
            return f"{'/'.join(path.parts[depth + 1 :])} of trial {int(number[0])}"
    return path.name


def _in_words(why: object) -> str:
    if isinstance(why, OSError):
        return (why.strerror or str(why)).lower()
    return str(why)


# --- writing ------------------------------------------------------------------------------------------------


def to_line(data: Mapping[str, Any], separators: tuple[str, str] = (", ", ": ")) -> str:
    """One line of JSON; what is not valid Unicode becomes "?"."""
    text = json.dumps(data, separators=separators, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def append_line(file: TextIO, text: str, *, sync: bool = False) -> None:
    """Write `text` and a line end, and flush it, so that `kill -9` of this process loses nothing.

    With `sync` the line also survives a power cut.
    """
    file.write(text + "\n")
    file.flush()
    if sync:
        os.fsync(file.fileno())


def mend_last_line(path: Path) -> None:
    """Cut off a last line that has no line end, so that the next one begins a line of its own."""
    with open_regular(path) as file:
        whole = file.read().rfind(b"\n") + 1
    os.truncate(path, whole)


# --- reading ------------------------------------------------------------------------------------------------


def read_bytes(path: Path, at_most: int = MAX_JSON_BYTES) -> bytes | None:
    """The whole file; None if there is none. Raises NotARun if it cannot be read."""
    try:
        with open_regular(path, at_most) as file:
            return file.read(at_most + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise damaged(path, error) from None


def read_object(path: Path, kind: type[T]) -> T | None:
    """A JSON object of the form `kind`; None if there is no such file. Raises NotARun for anything else."""
    data = read_bytes(path)
    return None if data is None else parse(path, data, kind)


def read_lines(path: Path, begin: int = 0) -> Iterator[bytes]:
    """All complete lines without their line ends, one at a time; none if there is no such file.

    `begin`: the byte at which the first one begins.

    Raises NotARun if it is not a regular file, or if a line is too long.
    """
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise damaged(path, error) from None
    with file:
        try:
            file.seek(begin)
            while line := file.readline(MAX_LINE_BYTES):
                if line.endswith(b"\n"):
                    yield line[:-1]
                elif len(line) == MAX_LINE_BYTES:
                    raise damaged(path, f"a line is longer than {MAX_LINE_BYTES} bytes")
        except OSError as error:
            raise damaged(path, error) from None


def read_objects(path: Path, kind: type[T]) -> Iterator[T]:
    """The JSON objects of all complete lines. Raises NotARun at a line that is not of the form `kind`."""
    for number, line in enumerate(read_lines(path), 1):
        yield parse(path, line, kind, number)


def read_on(path: Path, kind: type[T], begin: int) -> tuple[list[T], int]:
    """The JSON objects of a growing file from byte `begin` on, and where the next one will begin.

    Raises NotARun at a line that is not of the form `kind`.
    """
    found = []
    for line in read_lines(path, begin):
        found.append(parse(path, line, kind))
        begin += len(line) + 1
    return found, begin


def parse(path: Path, data: bytes, kind: type[T], line: int | None = None) -> T:
    from pydantic import ValidationError

    try:
        validate: Callable[[bytes], T] = _validator(kind)  # type: ignore[arg-type]  # TypedDicts hash
        return validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        place = f"line {line}, " if line else ""
        raise damaged(path, f"{place}{where and f'{where}: '}{_uncapitalised(first['msg'])}") from None


@functools.cache
def _validator(kind: Any) -> Callable[[bytes], Any]:
    from pydantic import TypeAdapter

    return functools.partial(TypeAdapter(kind).validate_json, strict=True)


def _uncapitalised(text: str) -> str:
    return text[:1].lower() + text[1:]


# --- checksums ----------------------------------------------------------------------------------------------


def fingerprint(path: Path) -> Fingerprint:
    """The fingerprint of a regular file. Raises OSError."""
    crc, size = 0, 0
    with open_regular(path) as file:
        while piece := file.read(PIECE_BYTES):
            crc, size = zlib.crc32(piece, crc), size + len(piece)
    return {"bytes": size, "crc32": f"{crc:08x}"}


def fingerprint_of(data: bytes) -> Fingerprint:
    """The fingerprint of a file that will hold `data`."""
    return {"bytes": len(data), "crc32": f"{zlib.crc32(data):08x}"}


def check_fingerprint(path: Path, expected: Fingerprint) -> None:
    """Raises NotARun if the file is not as it was when `expected` was taken."""
    try:
        found = fingerprint(path)
    except FileNotFoundError:
        raise damaged(path, "it is missing") from None
    except OSError as error:
        raise damaged(path, error) from None
    if found["bytes"] != expected["bytes"]:
        raise damaged(path, f"it has {found['bytes']:,} bytes instead of {expected['bytes']:,}")
    if found != expected:
        raise damaged(path, "its checksum is not that of the file that was written")


def is_as_before(path: Path, expected: Fingerprint) -> bool:
    """Whether the file is as it was when `expected` was taken."""
    try:
        return fingerprint(path) == expected
    except OSError:
        return False

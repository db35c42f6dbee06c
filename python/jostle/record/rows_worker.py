"""The process that reads files of rows for `rows_reader`.

Each question is a line of JSON on standard input; each response is a line of JSON on standard output and, if
rows are asked for, an Arrow IPC stream of as many bytes as the line says.
"""

import contextlib
import io
import json
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import polars

from jostle.errors import NotARun
from jostle.host.files import open_regular
from jostle.record.jsonl import damaged

__all__ = ["main"]

MAX_FILE_BYTES = 1 << 30
"""Most bytes of one file; a second of a million requests has 30 MB."""

MAX_ROWS = 20_000_000
"""Most rows of one file: a few kilobytes of Parquet can stand for any number of equal rows."""

MEMORY_BYTES = 8 << 30
"""Limit of address space: the rows of one file may take 1.5 GB, and each thread of Polars reserves some."""

COMPUTING_S = 60
"""Limit of the CPU time for one file: the most rows that it may have are read in a few seconds."""


def main() -> None:
    """Answer questions until there are no more."""
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    for line in sys.stdin.buffer:
        used = resource.getrusage(resource.RUSAGE_SELF)
        _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + COMPUTING_S)
        response, rows = _response(json.loads(line))
        try:
            sys.stdout.buffer.write(json.dumps(response).encode() + b"\n")
            sys.stdout.buffer.write(rows)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            os._exit(1)


def _limit(what: int, to: int) -> None:
    """Set a limit of this process, but not above its hard limit."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (to if hard == resource.RLIM_INFINITY else min(to, hard), hard))


def _response(question: dict[str, Any]) -> tuple[dict[str, Any], bytes | memoryview]:
    file = Path(question["file"])
    try:
        if question["ask"] == "count":
            return {"count": _count(file)}, b""
        rows = _rows(file, question["columns"])
        return {"bytes": len(rows)}, rows
    except NotARun as error:
        return {"problem": str(error)}, b""


def _count(file: Path) -> int:
    with _guarded(file) as opened:
        return int(polars.scan_parquet(opened).select(polars.len()).collect().item())


def _rows(file: Path, columns: list[str] | None) -> memoryview:
    if (count := _count(file)) > MAX_ROWS:
        raise damaged(file, f"it has {count:,} rows; the most is {MAX_ROWS:,}")
    stream = io.BytesIO()
    with _guarded(file) as opened:
        polars.read_parquet(opened, columns=columns).write_ipc_stream(stream)
    return stream.getbuffer()


@contextlib.contextmanager
def _guarded(file: Path) -> Iterator[BinaryIO]:
    """The opened file; whatever goes wrong with it inside becomes NotARun."""
    try:
        with open_regular(file, MAX_FILE_BYTES) as opened:
            yield opened
    except (OSError, ValueError, polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise damaged(file, error) from None


if __name__ == "__main__":
    main()

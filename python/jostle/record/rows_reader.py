"""Reads files of rows in a process of its own.

A run folder may come from a stranger, and Polars aborts its process if a page of a Parquet file asks for more
memory than there is. Here that aborts a process that does nothing else, and the file counts as damaged. The
process starts with the first file, reads all others, and ends when the process that uses it does.
"""

import atexit
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.errors import NotARun
from jostle.host.supervised import Exit
from jostle.record.jsonl import damaged

if TYPE_CHECKING:
    import polars

__all__ = ["count_rows", "read_file"]

THREADS = 4
"""Threads of Polars: each reserves address space, which is limited for the process."""

END_S = 5


def count_rows(file: Path) -> int:
    """How many rows a Parquet file says that it has. Raises NotARun."""
    response, _ = _ask(file, {"ask": "count"})
    return int(response["count"])


def read_file(file: Path, columns: Sequence[str] | None) -> "polars.DataFrame":
    """The rows of a Parquet file, with all columns or these. Raises NotARun."""
    import polars

    _, rows = _ask(file, {"ask": "rows", "columns": columns})
    return polars.read_ipc_stream(io.BytesIO(rows))


def _ask(file: Path, question: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    global _worker
    with _lock:
        worker = _worker if _worker is not None and _worker.is_ours() else _Worker()
        # Kept only once it has answered: after Ctrl-C its response would be taken for that to another
        # question.
        _worker = None
        answered = worker.response({"file": str(file.absolute()), **question})
        if answered is None:
            raise damaged(file, f"the process that reads it {worker.end()}")
        _worker = worker
    response, rows = answered
    if "problem" in response:
        raise NotARun(response["problem"])
    return response, rows


class _Worker:
    """The reading process, as this process sees it."""

    def __init__(self) -> None:
        self._of = os.getpid()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the process)
        self._asked_at = 0
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "jostle.record.rows_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env={"POLARS_MAX_THREADS": str(THREADS), **os.environ},
            start_new_session=True,  # Ctrl-C is only for this process
        )

    def is_ours(self) -> bool:
        """Whether it can be asked: not after a fork, nor if something else has ended it."""
        return self._of == os.getpid() and self._process.poll() is None

    def response(self, question: dict[str, Any]) -> tuple[dict[str, Any], bytes] | None:
        """The response to a question, and the rows; None if the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked_at = os.fstat(self._complaints.fileno()).st_size
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            return None
        response = json.loads(line)
        length = response.get("bytes", 0)
        rows = self._process.stdout.read(length)
        return (response, rows) if len(rows) == length else None

    def end(self) -> str:
        """End the process; returns how it ended, with what it said about the last file."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        try:
            code = self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        with self._complaints:
            self._complaints.seek(self._asked_at)
            said = self._complaints.read().decode("utf-8", "replace").strip().splitlines()
        # After a signal only the first line matters: the others say where in Polars it happened.
        return ": ".join([str(Exit.of_code(code)), *(said[:1] if code < 0 else said[-1:])])


_worker: _Worker | None = None
_lock = threading.Lock()


@atexit.register
def _end() -> None:
    if _worker is not None and _worker.is_ours():
        _worker.end()

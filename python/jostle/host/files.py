"""How jostle writes and opens files in folders that others may have filled: regular files only, never
through a link.

A run folder may come from a stranger, as an archive or a git repository, and both carry links. Whoever writes
a file that is complete at once (a page, a picture, an index, a cached measurement) uses `write_whole`.
Whoever reads a file of a run folder opens it with `open_regular`.
"""

import contextlib
import errno
import json
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, TextIO

__all__ = ["open_regular", "open_to_append", "write_json", "write_whole"]


def write_whole(path: Path, content: str | bytes, *, sync: bool = False) -> None:
    """The file appears whole or not at all; one that was there stays until then.

    A link at `path` is replaced, not followed. With `sync` the file survives a power cut. Text that is not
    valid Unicode (a lone surrogate from a server's answer) is written with "?" in its place. Raises OSError
    and leaves nothing behind where there is no room or no permission.
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    partial = path.with_name(f"{path.name[:200]}.{secrets.token_hex(4)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(partial, flags, 0o666), "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
    if sync:
        _sync_folder(path.parent)


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """As `write_whole`; survives a power cut."""
    write_whole(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n", sync=True)


def open_to_append(path: Path) -> TextIO:
    """A regular file, made where there is none. Raises OSError for a link or anything else."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(_regular(os.open(path, flags, 0o666), path), "a", encoding="utf-8", errors="replace")


def open_regular(path: Path, at_most: int | None = None) -> BinaryIO:
    """A regular file, to be read. Raises OSError for a link, a device, a folder, a FIFO, and for a file of
    more than `at_most` bytes.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(_regular(os.open(path, flags), path, at_most), "rb")


def _regular(descriptor: int, path: Path, at_most: int | None = None) -> int:
    """The descriptor, closed where it is not that of a regular file."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    if at_most is not None and found.st_size > at_most:
        os.close(descriptor)
        raise OSError(errno.EFBIG, f"has {found.st_size} bytes, more than the {at_most} allowed", str(path))
    return descriptor


def _sync_folder(folder: Path) -> None:
    """So that the new name itself survives a power cut; some file systems cannot."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

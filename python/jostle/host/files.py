"""Writing and opening files in folders that others may have filled: regular files only, never through links.

A run folder may come from a stranger, as an archive or a git repository, and both can contain links. Use
`write_whole` for a file that is written in one piece (a page, a picture, an index, a cached measurement), and
`open_regular` to read a file of a run folder.
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
    """Write a file that appears whole or not at all; an existing one stays until then.

    A link at `path` is replaced, not followed. With `sync` the file survives a power cut. Text that is not
    valid Unicode (a lone surrogate from a server's response) is replaced by "?". If there is no room or no
    permission, raises OSError and leaves nothing behind.
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
    """Write JSON as `write_whole` does; it survives a power cut."""
    write_whole(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n", sync=True)


def open_to_append(path: Path) -> TextIO:
    """Open a regular file to append to it, creating it if needed. Raises OSError for a link or the like."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(_regular(os.open(path, flags, 0o666), path), "a", encoding="utf-8", errors="replace")


def open_regular(path: Path, at_most: int | None = None) -> BinaryIO:
    """Open a regular file for reading. Raises OSError for a link, a device, a folder or a FIFO, and for a
    file of more than `at_most` bytes.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(_regular(os.open(path, flags), path, at_most), "rb")


def _regular(descriptor: int, path: Path, at_most: int | None = None) -> int:
    """The descriptor if it is that of a regular file; otherwise closes it and raises OSError."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    if at_most is not None and found.st_size > at_most:
        os.close(descriptor)
        raise OSError(errno.EFBIG, f"has {found.st_size} bytes, more than the {at_most} allowed", str(path))
    return descriptor


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut too; some file systems cannot do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

"""One file of rows: arrays that `numpy.load` opens, and the names that numbers in three of them stand for.

It may come from a stranger, so nothing is unpickled, and the size of every array is known before it is read.
"""

import io
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from jostle.host.files import open_regular
from jostle.record.jsonl import damaged
from jostle.record.row_columns import COLUMNS, NAMED, Array, Rows

__all__ = ["content", "count_rows", "read_file"]

MAX_FILE_BYTES = 1 << 30
"""Most bytes of one file; a second of a million requests has 40 MB."""

MAX_ROWS = 20_000_000
"""Most rows of one file: a few kilobytes can stand for any number of equal rows."""

MAX_NAMES_BYTES = 64 << 20

LEVEL = 1
"""Of compression: rows are written while load is generated, and more effort makes them hardly smaller."""

BROKEN = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What goes wrong in reading a file that is damaged."""


def content(rows: Rows) -> bytes:
    """The file of these rows, which has all columns."""
    arrays: dict[str, Array] = {name: rows[name].astype(COLUMNS[name], copy=False) for name in COLUMNS}
    arrays |= {f"{name}_names": np.array(rows.names[name], dtype=np.str_) for name in NAMED}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, array in arrays.items():
            member = io.BytesIO()
            npy.write_array(member, array, allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy")  # without a date: the same rows are the same bytes
            file.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED, LEVEL)
    return packed.getvalue()


def count_rows(path: Path) -> int:
    """How many rows a file has. Raises NotARun."""
    return len(read_file(path, ["outcome"]))


def read_file(path: Path, columns: Collection[str] | None) -> Rows:
    """The rows of a file, with all columns or these. Raises NotARun."""
    try:
        with open_regular(path, MAX_FILE_BYTES) as opened, zipfile.ZipFile(opened) as file:
            found = {name: _column(file, name) for name in columns or COLUMNS}
            names = {name: _names(file, name) for name in NAMED if name in found}
    except BROKEN as error:
        raise damaged(path, error) from None
    lengths = {len(array) for array in found.values()}
    if len(lengths) > 1:
        raise damaged(path, "its columns have different lengths")
    for name, known in names.items():
        if len(found[name]) and found[name].max() >= len(known):
            raise damaged(path, f"its column {name!r} has a number without a name")
    return Rows(found, names)


def _column(file: zipfile.ZipFile, name: str) -> Array:
    kind = np.dtype(COLUMNS[name])
    return _array(file, name, kind, MAX_ROWS * kind.itemsize)


def _names(file: zipfile.ZipFile, name: str) -> list[str]:
    found: list[str] = _array(file, f"{name}_names", None, MAX_NAMES_BYTES).tolist()
    return found


def _array(file: zipfile.ZipFile, name: str, kind: np.dtype[np.generic] | None, at_most: int) -> Array:
    """One array of this kind, or of text. Raises ValueError for any other."""
    member = f"{name}.npy"
    if (size := file.getinfo(member).file_size) > at_most + npy.MAGIC_LEN + 4096:
        raise ValueError(f"its array {name!r} has {size:,} bytes; the most is {at_most:,}")
    data = io.BytesIO(file.read(member))
    if npy.read_magic(data) != (1, 0):
        raise ValueError(f"its array {name!r} is of another version")
    shape, _, found = npy.read_array_header_1_0(data)
    if found.kind != "U" if kind is None else found != kind:
        raise ValueError(f"it has a column {name!r} of type {found}")
    rest = data.getbuffer()[data.tell() :]
    if len(shape) != 1 or len(rest) != shape[0] * found.itemsize:
        raise ValueError(f"its array {name!r} is not as long as it says")
    return np.frombuffer(rest, dtype=found)

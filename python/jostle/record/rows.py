"""Per-request rows of a trial: files, each closed before the next begins."""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from jostle.host.files import write_whole
from jostle.record.jsonl import check_fingerprint
from jostle.record.layout import Fingerprint
from jostle.record.outcomes import Outcome

if TYPE_CHECKING:
    from jostle.record.row_columns import Rows

__all__ = ["RowWriter", "is_rows", "read_rows"]

ROWS_FILE = re.compile(r"requests-[0-9]{1,9}\.(npz|parquet)")

BATCH_NS = 1_000_000_000
"""Rows are held for at most this long before they become a file, so a `kill -9` loses no more than that."""


class RowWriter:
    """Collects the rows of some intervals and writes them as `requests-00001.npz`, …"""

    def __init__(self, folder: Path, engine: Mapping[str, Any] | None) -> None:
        workloads = (engine or {}).get("workloads", [])
        self._folder = folder
        requests = [[r["name"] for r in w["requests"]] for w in workloads]
        self._names = {
            "workload": [w["name"] for w in workloads],
            "request": [name for names in requests for name in names],
            "outcome": list(map(str, Outcome)),
        }
        self._first_request = [0, *accumulate(map(len, requests))]
        self._pending: list[Mapping[str, bytes]] = []
        self._since_ns = 0
        self._files = 0

    def add(self, rows: Mapping[str, bytes], start_ns: int, end_ns: int) -> None:
        """Keep the rows of the interval `start_ns..end_ns`; write a file when they cover a second."""
        if not self._pending:
            self._since_ns = start_ns
        self._pending.append(rows)
        if end_ns - self._since_ns >= BATCH_NS:
            self.flush()

    def flush(self) -> None:
        """Write what is held, if anything. The file appears whole or not at all."""
        if any(rows["workload"] for rows in self._pending):
            self._files += 1
            path = self._folder / f"requests-{self._files:05d}.npz"
            write_whole(path, self._content())
        self._pending.clear()

    def _content(self) -> bytes:
        import numpy as np  # imported late: most trials have no rows

        from jostle.record.row_columns import ENGINE_COLUMNS, Rows
        from jostle.record.rows_file import content

        columns = {
            name: np.frombuffer(b"".join(rows[name] for rows in self._pending), dtype=kind)
            for name, kind in ENGINE_COLUMNS.items()
        }
        columns["request"] = np.array(self._first_request)[columns["workload"]] + columns["request"]
        return content(Rows(columns, self._names))


def is_rows(name: str) -> bool:
    """Whether a file of this name in a trial's folder holds rows."""
    return ROWS_FILE.fullmatch(name) is not None


def read_rows(
    folder: Path,
    columns: list[str] | None = None,
    at_most: int | None = None,
    fingerprints: Mapping[str, Fingerprint] | None = None,
) -> "Rows | None":
    """Rows of a trial, with all columns or these; None if none were kept.

    `at_most`: only whole files from the middle of the trial, which hold no more rows than this, or a single
    file. `fingerprints`: those of the files as they were written, if known. Raises NotARun for a damaged
    file, MissingExtra for files of an earlier version that only the extra `rows` can read.
    """
    known = {name: of for name, of in (fingerprints or {}).items() if is_rows(name)}
    names = {path.name for path in folder.glob("requests-*") if is_rows(path.name)} | set(known)
    files = [folder / name for name in sorted(names, key=_number)]
    if not files:
        return None
    from jostle.record.row_columns import joined

    if at_most is not None:
        files = files[_middle([_form(file).count_rows(file) for file in files], at_most)]
    for file in files:
        if file.name in known:
            check_fingerprint(file, known[file.name])
    return joined([_form(file).read_file(file, columns) for file in files])


def _form(file: Path) -> ModuleType:
    from jostle.record import rows_file, rows_parquet

    return rows_parquet if file.suffix == ".parquet" else rows_file


def _number(name: str) -> int:
    return int(name.partition(".")[0].split("-")[1])


def _middle(lengths: Sequence[int], at_most: int) -> slice:
    """The files in the middle: both ends are cut in turn until `at_most` rows or one file remain."""
    first, last, rest = 0, len(lengths), sum(lengths)
    while rest > at_most and last - first > 1:
        if first > len(lengths) - last:
            last -= 1
            rest -= lengths[last]
        else:
            rest -= lengths[first]
            first += 1
    return slice(first, last)

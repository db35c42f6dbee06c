"""Per-request rows: Parquet files, each closed before the next begins."""

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.host.files import write_whole
from jostle.record.jsonl import check_fingerprint, damaged
from jostle.record.layout import Fingerprint
from jostle.record.outcomes import Outcome
from jostle.record.rows_reader import count_rows, read_file

if TYPE_CHECKING:
    import polars

__all__ = ["RowWriter", "is_rows", "read_rows"]

COLUMNS = {
    "workload": "<u2",
    "request": "<u2",
    "client": "<u4",
    "intended_ns": "<u8",
    "sent_ns": "<u8",
    "headers_ns": "<u8",
    "end_ns": "<u8",
    "outcome": "u1",
    "status": "<u2",
    "bytes": "<u8",
}

ROWS_FILE = re.compile(r"requests-[0-9]{1,9}\.parquet")

BATCH_NS = 1_000_000_000
"""Rows are held for at most this long before they become a file, so a `kill -9` loses no more than that."""


class RowWriter:
    """Collects the rows of some intervals and writes them as `requests-00001.parquet`, …

    Workloads, requests and outcomes are given by name; times are ns from the trial's start, 0 for what did
    not happen.
    """

    def __init__(self, folder: Path, engine: Mapping[str, Any] | None) -> None:
        workloads = (engine or {}).get("workloads", [])
        self._folder = folder
        self._workloads = [w["name"] for w in workloads]
        self._requests = [[r["name"] for r in w["requests"]] for w in workloads]
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
        if not any(rows["workload"] for rows in self._pending):
            self._pending.clear()
            return
        self._files += 1
        content = io.BytesIO()
        self._frame().write_parquet(content, compression="zstd")
        write_whole(self._folder / f"requests-{self._files:05d}.parquet", content.getvalue())
        self._pending.clear()

    def _frame(self) -> "polars.DataFrame":
        import numpy as np
        import polars

        joined = {
            name: np.frombuffer(b"".join(rows[name] for rows in self._pending), dtype=dtype)
            for name, dtype in COLUMNS.items()
        }
        frame = polars.DataFrame(joined)
        names = [
            (workload, request, self._workloads[workload], name)
            for workload, requests in enumerate(self._requests)
            for request, name in enumerate(requests)
        ]
        lookup = polars.DataFrame(
            names,
            schema={
                "workload": polars.UInt16,
                "request": polars.UInt16,
                "workload_name": polars.String,
                "request_name": polars.String,
            },
            orient="row",
        )
        outcome = polars.col("outcome").replace_strict(
            dict(enumerate(map(str, Outcome))), return_dtype=polars.String
        )
        return frame.join(lookup, on=["workload", "request"], how="left", maintain_order="left").select(
            polars.col("workload_name").cast(polars.Categorical).alias("workload"),
            polars.col("request_name").cast(polars.Categorical).alias("request"),
            *(name for name in COLUMNS if name not in ("workload", "request", "outcome", "status", "bytes")),
            outcome.cast(polars.Categorical),
            "status",
            "bytes",
        )


def is_rows(name: str) -> bool:
    """Whether a file of this name in a trial's folder holds rows."""
    return ROWS_FILE.fullmatch(name) is not None


def read_rows(
    folder: Path,
    columns: list[str] | None = None,
    at_most: int | None = None,
    fingerprints: Mapping[str, Fingerprint] | None = None,
) -> "polars.DataFrame | None":
    """Rows of a trial in one frame, with all columns or these; None if none were kept.

    `at_most`: only whole files from the middle of the trial, which hold no more rows than this, or a single
    file. `fingerprints`: those of the files as they were written, if known. Raises NotARun for a damaged
    file.
    """
    known = {name: of for name, of in (fingerprints or {}).items() if is_rows(name)}
    names = {path.name for path in folder.glob("requests-*.parquet") if is_rows(path.name)} | set(known)
    files = [folder / name for name in sorted(names, key=_number)]
    if not files:
        return None
    import polars

    if at_most is not None:
        files = files[_middle([count_rows(file) for file in files], at_most)]
    for file in files:
        if file.name in known:
            check_fingerprint(file, known[file.name])
    frames = [_checked(file, columns) for file in files]
    try:
        return polars.concat(frames)
    except polars.exceptions.PolarsError as error:
        raise damaged(files[-1], error) from None


def _number(name: str) -> int:
    return int(name.removesuffix(".parquet").split("-")[1])


def _checked(file: Path, columns: list[str] | None) -> "polars.DataFrame":
    import polars

    frame = read_file(file, columns)
    for name, kind in frame.schema.items():
        text = name in ("workload", "request", "outcome")
        if name not in COLUMNS or (kind == polars.Categorical if text else kind.is_integer()) is False:
            raise damaged(file, f"it has a column {name!r} of type {kind}")
    return frame


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

"""Files of rows as jostle wrote them before 0.1.0: Parquet, which needs the extra `rows`."""

from collections.abc import Collection
from pathlib import Path

import numpy as np

from jostle.extras import require
from jostle.record import rows_reader
from jostle.record.jsonl import damaged
from jostle.record.row_columns import COLUMNS, NAMED, Rows

__all__ = ["count_rows", "read_file"]

NEED = "reading the rows of this run, which an earlier jostle wrote as Parquet,"


def count_rows(file: Path) -> int:
    """How many rows a file has. Raises NotARun, MissingExtra."""
    require("rows", NEED)
    return rows_reader.count_rows(file)


def read_file(file: Path, columns: Collection[str] | None) -> Rows:
    """The rows of a file, with all columns or these. Raises NotARun, MissingExtra."""
    require("rows", NEED)
    import polars

    frame = rows_reader.read_file(file, list(columns) if columns else None)
    for name, kind in frame.schema.items():
        fitting = kind == polars.Categorical if name in NAMED else kind.is_integer()
        if name not in COLUMNS or not fitting:
            raise damaged(file, f"it has a column {name!r} of type {kind}")
    if missing := set(columns or COLUMNS) - set(frame.columns):
        raise damaged(file, f"it has no column {min(missing)!r}")
    found, names = {}, {}
    for name in frame.columns:
        column = frame[name]
        if name in NAMED:
            names[name] = column.cast(polars.String).fill_null("").unique(maintain_order=True).to_list()
            numbers = {text: number for number, text in enumerate(names[name])}
            column = (
                column.cast(polars.String).fill_null("").replace_strict(numbers, return_dtype=polars.Int64)
            )
        found[name] = column.to_numpy().astype(np.dtype(COLUMNS[name]))
    return Rows(found, names)

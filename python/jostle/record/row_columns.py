"""Per-request rows, column by column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from jostle.extras import require

if TYPE_CHECKING:
    import polars

__all__ = ["COLUMNS", "ENGINE_COLUMNS", "NAMED", "Array", "Rows", "joined"]

Array = npt.NDArray[Any]

ENGINE_COLUMNS = {
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
"""As the engine gives them: the requests of each workload are numbered by themselves."""

COLUMNS = {**ENGINE_COLUMNS, "request": "<u4"}
"""As they are recorded: requests are numbered through all workloads."""

NAMED = ("workload", "request", "outcome")
"""Columns of numbers that stand for names."""


@dataclass(frozen=True)
class Rows:
    """A row per request."""

    columns: Mapping[str, Array]
    """Some of `COLUMNS`, all equally long. Times are ns from the trial's start, 0 for what did not happen."""

    names: Mapping[str, Sequence[str]]
    """What the numbers in each of the columns `NAMED` stand for."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, column: str) -> Array:
        return self.columns[column]

    def are(self, column: str, name: str) -> npt.NDArray[np.bool_]:
        """Of each row, whether its workload, request or outcome has this name."""
        known = self.names[column]
        return np.asarray(self[column] == known.index(name)) if name in known else np.zeros(len(self), bool)

    def chosen(self, which: Array) -> "Rows":
        """The rows at these places, or those with True."""
        return Rows({name: column[which] for name, column in self.columns.items()}, self.names)

    def sorted_by(self, column: str) -> "Rows":
        return self.chosen(np.argsort(self[column], kind="stable"))

    def frame(self) -> "polars.DataFrame":
        """As a data frame with names in place of their numbers. Raises MissingExtra."""
        require("rows", "a data frame of rows")
        import polars

        return polars.DataFrame(
            {
                name: polars.Series(self.names[name], dtype=polars.Categorical).gather(column)
                if name in NAMED
                else column
                for name, column in self.columns.items()
            }
        )


def joined(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts, at least one; all have the same columns, but each may number names by itself."""
    first = parts[0]
    names = {
        column: list(dict.fromkeys(name for part in parts for name in part.names[column]))
        for column in first.names
    }
    columns = {}
    for name, kind in first.columns.items():
        columns[name] = np.concatenate([_renumbered(part, name, names) for part in parts]).astype(kind.dtype)
    return Rows(columns, names)


def _renumbered(part: Rows, column: str, names: Mapping[str, list[str]]) -> Array:
    if column not in names or list(part.names[column]) == names[column]:
        return part[column]
    numbers = {name: number for number, name in enumerate(names[column])}
    return np.array([numbers[name] for name in part.names[column]], dtype=np.int64)[part[column]]

"""Feeds of a journey: rows of values from a CSV file or from JSON lines."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from jostle.errors import BadValue, PlanError
from jostle.plan.base import Table
from jostle.plan.files import json_lines
from jostle.plan.files.csv_file import CsvRows, csv_rows, opened
from jostle.plan.values import File

__all__ = ["Feed"]


class Feed(Table):
    """Rows of values, one for each client or for each journey. Its columns are variables of the journey."""

    csv: File | None = Field(default=None, description="a CSV file whose first line names the columns")
    separator: Literal[",", ";", "\t", "|"] = Field(
        default=",", description="with `csv`: what stands between two columns"
    )
    jsonl: File | None = Field(
        default=None,
        description="a file with a JSON object in each line; numbers and nested values are sent as they are "
        "written there",
    )
    each: Literal["client", "iteration"] = Field(
        default="iteration",
        description='whether each client keeps one row ("client"), or takes a new one for each of its '
        'journeys ("iteration")',
    )
    order: Literal["in-turn", "random", "once"] = Field(
        default="in-turn",
        description="in-turn: all generators together use every row once, then begin again with the "
        "first; random; once: a client stops if no row is left, and an open load ends after as many "
        "journeys, of whatever name, as its shortest such feed has rows",
    )

    @model_validator(mode="after")
    def _one_file(self) -> "Feed":
        if (self.csv is None) == (self.jsonl is None):
            raise BadValue(
                "a feed reads one file", 'write { csv = "users.csv" } or { jsonl = "users.jsonl" }'
            )
        if self.csv is None and self.separator != ",":
            raise BadValue("separator is for CSV", "leave it out")
        return self

    @property
    def path(self) -> Path:
        path = self.csv or self.jsonl
        assert path is not None
        return path

    def columns(self) -> list[str] | None:
        """The names of its columns; None if the file does not exist. Raises `BadValue`."""
        if not self.path.is_file():
            return None
        try:
            with opened(self.path) as lines:
                if self.csv is not None:
                    return CsvRows(self.path, lines, self.separator).heading
                return list(json_lines.members(self.path, 1, lines.readline()))
        except PlanError as error:
            raise BadValue(error.message, error.hint) from None

    def values(self, columns: Sequence[str]) -> Iterator[str]:
        """Yield the values of `columns`, row by row. Raises `PlanError` with the number of a broken line."""
        empty = True
        rows = csv_rows(self.path, self.separator, columns) if self.csv else self._json_rows(columns)
        for row in rows:
            empty = False
            yield from row
        if empty:
            raise PlanError(f"{self.path} has no rows", "a feed needs at least one")

    def _json_rows(self, columns: Sequence[str]) -> Iterator[list[str]]:
        with opened(self.path) as lines:
            for number, line in enumerate(lines, 1):
                if not line.isspace():
                    yield json_lines.values(self.path, number, line, columns)

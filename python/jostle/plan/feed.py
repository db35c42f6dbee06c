"""Feeds of a journey: rows of values from a CSV file or from JSON lines."""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from jostle.errors import BadValue, PlanError, nearest
from jostle.plan.base import Table
from jostle.plan.values import File
from jostle.text import reason

__all__ = ["Feed"]


class Feed(Table):
    """Rows of values, one for each client or for each journey. Its columns are variables of the journey."""

    csv: File | None = Field(default=None, description="a CSV file whose first line names the columns")
    jsonl: File | None = Field(default=None, description="a file with a JSON object in each line")
    each: Literal["client", "iteration"] = Field(
        default="iteration",
        description='whether each client keeps one row ("client"), or takes a new one for each of its '
        'journeys ("iteration")',
    )
    order: Literal["in-turn", "random", "once"] = Field(
        default="in-turn",
        description="in-turn: all generators together use every row once, then begin again with the "
        "first; random; once: a client stops if no row is left",
    )

    @model_validator(mode="after")
    def _one_file(self) -> "Feed":
        if (self.csv is None) == (self.jsonl is None):
            raise BadValue(
                "a feed reads one file", 'write { csv = "users.csv" } or { jsonl = "users.jsonl" }'
            )
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
            with self.path.open(newline="", encoding="utf-8-sig") as lines:
                if self.csv is not None:
                    if not (heading := next(csv.reader(lines, strict=True), [])):
                        raise BadValue(f"{self.path} is empty", "its first line names the columns")
                    return heading
                return list(_object(self.path, 1, lines.readline()))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise _unreadable(self.path, error) from None
        except PlanError as error:
            raise BadValue(error.message, error.hint) from None

    def values(self, columns: Sequence[str]) -> Iterator[str]:
        """Yield the values of `columns`, row by row. Raises `PlanError` with the number of a broken line."""
        empty = True
        try:
            with self.path.open(newline="", encoding="utf-8-sig") as lines:
                rows = (
                    _csv_rows(self.path, lines, columns)
                    if self.csv
                    else _json_rows(self.path, lines, columns)
                )
                for row in rows:
                    empty = False
                    yield from row
        except (OSError, UnicodeDecodeError) as error:
            wrong = _unreadable(self.path, error)
            raise PlanError(wrong.message, wrong.hint) from None
        if empty:
            raise PlanError(f"{self.path} has no rows", "a feed needs at least one")


def _csv_rows(path: Path, lines: Any, columns: Sequence[str]) -> Iterator[list[str]]:
    reader = csv.reader(lines, strict=True)
    try:
        heading = next(reader, [])
        for column in columns:
            if column not in heading:
                raise PlanError(f"{path} has no column {column!r}", nearest(column, heading))
        places = [heading.index(column) for column in columns]
        for row in reader:
            if not row:
                continue  # an empty line
            if len(row) != len(heading):
                raise PlanError(
                    f"{path}, line {reader.line_num}: {len(row)} values for {len(heading)} columns",
                    "put a value that contains a comma into quotes",
                )
            yield [row[place] for place in places]
    except csv.Error as error:
        raise PlanError(f"{path}, line {reader.line_num}: {error}", "is a quote not closed?") from None


def _json_rows(path: Path, lines: Any, columns: Sequence[str]) -> Iterator[list[str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        found = _object(path, number, line)
        for column in columns:
            if column not in found:
                raise PlanError(f"{path}, line {number}: there is no {column!r}", nearest(column, found))
        yield [_text(found[column]) for column in columns]


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise PlanError(
            f"{path}, line {number}: not JSON: {error}", "write one object in each line"
        ) from None
    if not isinstance(found, dict):
        raise PlanError(f"{path}, line {number}: not a JSON object", 'write for example {"user": "ann"}')
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unreadable(path: Path, error: Exception) -> BadValue:
    why = reason(error) if isinstance(error, OSError) else str(error)
    return BadValue(f"{path} cannot be read: {why}", "a feed is UTF-8 text")

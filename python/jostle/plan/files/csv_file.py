"""CSV files as people have them: rows below a line that names the columns."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from jostle.errors import PlanError, nearest
from jostle.text import reason

__all__ = ["SEPARATORS", "CsvRows", "csv_rows", "opened"]

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}
"""What may separate the columns, in words."""

MAX_FIELD_CHARACTERS = 16 * 1024 * 1024
"""Python's own limit of 131,072 is less than a document or a picture in a column has."""

_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """A file of UTF-8 text, without its byte order mark. Raises `PlanError` if it cannot be read as such."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as lines:
            yield lines
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {reason(error)}", "a feed is UTF-8 text") from None
    except UnicodeDecodeError as error:
        with path.open("rb") as file:
            found = _MARKS.get(file.read(2))
        why = f"it is {found}" if found else f"byte 0x{error.object[error.start]:02X} is not UTF-8"
        raise PlanError(f"{path} cannot be read: {why}", "save it as UTF-8") from None


class CsvRows:
    """The rows of a CSV file whose lines are `lines`. `separator`: between its columns.

    Raises `PlanError`, with the number of the line, for whatever would make a value another one.
    """

    def __init__(self, path: Path, lines: TextIO, separator: str = ",") -> None:
        csv.field_size_limit(MAX_FIELD_CHARACTERS)
        self._path = path
        self._separator = separator
        self._line, self._number = "", 1
        self._reader = csv.reader(self._noted(lines), strict=True, delimiter=separator)
        self.heading = self._read_heading()

    def column(self, name: str) -> int:
        """The place of a column among the others."""
        if name not in self.heading:
            raise PlanError(f"{self._path} has no column {name!r}", nearest(name, self.heading))
        return self.heading.index(name)

    def __iter__(self) -> Iterator[list[str]]:
        while (row := self._next()) is not None:
            if not row or (len(row) == 1 and self._line.isspace()):
                continue  # an empty line
            if len(row) != len(self.heading):
                raise self._wrong(
                    f"{len(row)} values for {len(self.heading)} columns",
                    "a feed has no lines of comments: delete it"
                    if row[0].startswith("#")
                    else f"put a value that contains {SEPARATORS[self._separator]} into quotes",
                )
            yield row

    def _noted(self, lines: TextIO) -> Iterator[str]:
        for self._number, line in enumerate(lines, 1):
            self._line = line
            if "\0" in line:
                raise self._wrong("a NUL, which no text has", "is the file UTF-16? Save it as UTF-8")
            yield line

    def _next(self) -> list[str] | None:
        try:
            return next(self._reader, None)
        except csv.Error as error:
            if "field limit" in str(error):
                raise self._wrong(
                    f"a value of more than {MAX_FIELD_CHARACTERS:,} characters", "is a quote not closed?"
                ) from None
            hint = r'a quote within a value is written twice: "", and not \"'
            raise self._wrong(str(error), hint if '\\"' in self._line else "is a quote not closed?") from None

    def _wrong(self, what: str, hint: str) -> PlanError:
        return PlanError(f"{self._path}, line {self._number}: {what}", hint)

    def _read_heading(self) -> list[str]:
        heading = self._next()
        if not heading:
            raise PlanError(f"{self._path} is empty", "its first line names the columns")
        first = heading[0]
        if first.lower().startswith("sep="):
            raise self._wrong(
                f"{first!r} is a note for spreadsheets, and names no column",
                f'delete it, and write for example separator = "{first[4:5] or ";"}" beside csv',
            )
        if first.startswith("#"):
            raise self._wrong("a comment in place of the columns' names", "a feed has no comments: delete it")
        for name in heading:
            if name != name.strip():
                raise self._wrong(
                    f"the column {name!r} has white space around its name",
                    f"separate columns by {SEPARATORS[self._separator]} alone",
                )
            if heading.count(name) > 1:
                raise self._wrong(f"two columns have the name {name!r}", "rename one of them")
        if len(heading) == 1 and (other := next((s for s in SEPARATORS if s in first), None)) is not None:
            raise self._wrong(
                f"its columns are separated by {SEPARATORS[other]}, and read as separated by "
                f"{SEPARATORS[self._separator]}",
                f"write separator = {_in_toml(other)} beside csv",
            )
        return heading


def csv_rows(path: Path, separator: str, columns: Sequence[str]) -> Iterator[list[str]]:
    """Yield the values of `columns`, row by row. Raises `PlanError`."""
    with opened(path) as lines:
        rows = CsvRows(path, lines, separator)
        places = [rows.column(column) for column in columns]
        for row in rows:
            yield [row[place] for place in places]


def _in_toml(separator: str) -> str:
    return r'"\t"' if separator == "\t" else f'"{separator}"'

"""Comma-separated values: the document's rows, a row per figure, with units in a column of their own."""

import csv
import io

from jostle.report.document import Document
from jostle.report.figures import COLUMNS
from jostle.text import one_line

__all__ = ["render"]


def render(document: Document) -> str:
    """The rows below their heading. Text that a spreadsheet would take for a formula begins with an
    apostrophe.
    """
    assert document.rows is not None, "the document has no rows"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in document.rows():
        writer.writerow([_no_formula(row.get(column)) for column in COLUMNS])
    return out.getvalue()


def _no_formula(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"  # more digits than any figure has
    value = one_line(value) if isinstance(value, str) else value
    if isinstance(value, str) and value[:1] in ("=", "+", "@", "-", "\t", "\r") and not _is_number(value):
        return "'" + value
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""journal.ndjson: what happened in a run, a line for each event; every line carries its own checksum."""

import time
import zlib
from pathlib import Path
from typing import Any

from jostle.errors import NotARun
from jostle.host.files import open_to_append
from jostle.record.jsonl import append_line, damaged, parse, read_lines, to_line
from jostle.record.layout import JournalEntry

__all__ = ["append_event", "read_journal"]

CHECKSUM = ', "crc32": "{:08x}"}}'
"""How a line ends; the checksum is that of the line without this end, closed by a brace."""

CHECKSUM_LENGTH = len(CHECKSUM.format(0))


def append_event(path: Path, event: str, **fields: Any) -> None:
    """Append an event, which is on disk when this returns. Raises OSError."""
    line = to_line({"at": time.time_ns(), "event": event, **fields})
    with open_to_append(path) as file:
        append_line(file, line[:-1] + CHECKSUM.format(zlib.crc32(line.encode())), sync=True)


def read_journal(path: Path, *, checked: bool) -> tuple[list[JournalEntry], list[str]]:
    """The entries in their order, and a sentence for each line that is damaged and left out.

    `checked`: lines without a checksum are damaged, too; those of format 1 have none. Raises NotARun if the
    file cannot be read.
    """
    entries: list[JournalEntry] = []
    damage: list[str] = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            entries.append(_entry(path, number, line, checked))
        except NotARun as error:
            damage.append(error.message)
    return entries, damage


def _entry(path: Path, number: int, line: bytes, checked: bool) -> JournalEntry:
    """The entry of a line. Raises NotARun if it is damaged."""
    entry: JournalEntry = parse(path, line, JournalEntry, number)  # type: ignore[arg-type]  # a union
    if "crc32" not in entry and not checked:
        return entry
    written = line[:-CHECKSUM_LENGTH] + b"}"
    if line[-CHECKSUM_LENGTH:] != CHECKSUM.format(zlib.crc32(written)).encode():
        raise damaged(path, f"line {number} is not as it was written")
    return entry

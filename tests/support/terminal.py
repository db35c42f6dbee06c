"""A terminal as far as frames need one: text, line ends, cursor up, erasing. Styles are left out."""

import re

__all__ = ["shown", "without_styles"]

STYLE = re.compile(r"\x1b\[[\d;]*m")
PIECES = re.compile(r"\x1b\[(\d*)([AJK])|(\r)|(\n)|([^\x1b\r\n]+)")


def without_styles(text: str) -> str:
    return STYLE.sub("", text)


def shown(written: str) -> list[str]:
    """The lines on a terminal of any width after all of this was written to it."""
    lines, row, column = [""], 0, 0
    for count, command, to_start, new_line, text in PIECES.findall(without_styles(written)):
        if command == "A":
            row, column = max(0, row - int(count or 1)), 0
        elif command == "J":
            lines[row:] = [lines[row][:column]]
        elif command == "K":
            lines[row] = lines[row][:column]
        elif to_start:
            column = 0
        elif new_line:
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        else:
            lines[row] = lines[row][:column] + text + lines[row][column + len(text) :]
            column += len(text)
    return lines

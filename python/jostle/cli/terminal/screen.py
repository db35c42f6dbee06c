"""The lines at the end of a terminal that change: painted over themselves, while what is said stays above.

It never takes the whole screen, so that the command and the last frame stay in the scrollback.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from jostle.cli.terminal.line import STYLES, Line, length, written

__all__ = ["Screen", "colours", "moves"]

DEFAULT_SIZE = os.terminal_size((80, 24))

UP, DOWN_FROM_HERE, TO_THE_END = "\x1b[{}A", "\x1b[J", "\x1b[K"


def colours(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a terminal has 256 colours, and its user wants them (https://no-color.org)."""
    if environ.get("NO_COLOR"):
        return False
    return "256color" in environ.get("TERM", "") or environ.get("COLORTERM", "") in ("truecolor", "24bit")


def moves(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether it can move its cursor."""
    return environ.get("TERM", "") not in ("", "dumb")


class Screen:
    """Paints on `stream`, a terminal. Everything raises OSError once it is closed."""

    def __init__(self, stream: TextIO) -> None:
        self.styled = colours()
        self._stream = stream
        self._moves = moves()
        self._painted: Sequence[Line] = ()
        self._width = 0

    @property
    def size(self) -> os.terminal_size:
        """Columns and lines. The last line is left to the cursor."""
        try:
            size = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            return DEFAULT_SIZE
        return size if size.columns and size.lines else DEFAULT_SIZE

    def say(self, text: str, style: str = "") -> None:
        """Lines that stay, above those that change."""
        line = written([(text, STYLES[style])], styled=self.styled)
        self._write(f"{self._to_the_top()}{self._cleared()}{line}\n{self._lines()}")

    def paint(self, draw: Callable[[int, int], Sequence[Line]]) -> None:
        """Replace the lines that change by what `draw` makes of the terminal's columns and lines."""
        columns, rows = self.size
        top = self._to_the_top()
        self._painted, self._width = draw(columns, rows - 1), columns
        self._write(top + self._lines() + self._cleared())

    def leave(self) -> None:
        """Let the painted lines stay, and go on below them."""
        if not self._moves:
            self._write(self._text())
        self._painted = ()

    def forget(self) -> None:
        """Paint below what others have written meanwhile."""
        self._painted = ()

    def erase(self) -> None:
        """Remove them."""
        self._write(self._to_the_top() + self._cleared())
        self._painted = ()

    def _to_the_top(self) -> str:
        """Where the first painted line begins, however the terminal has wrapped them since."""
        if not self._painted or not self._moves:
            return ""
        columns = self.size.columns
        wrapped = [max(1, -(-length(line) // columns)) for line in self._painted]
        return UP.format(sum(wrapped) if columns < self._width else len(wrapped))

    def _lines(self) -> str:
        return self._text() if self._moves else ""

    def _text(self) -> str:
        end = TO_THE_END if self._moves else ""
        return "".join(f"{written(line, styled=self.styled)}{end}\n" for line in self._painted)

    def _cleared(self) -> str:
        return DOWN_FROM_HERE if self._painted and self._moves else ""

    def _write(self, text: str) -> None:
        if text:
            self._stream.write(text)
            self._stream.flush()

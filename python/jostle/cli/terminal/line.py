"""Lines of a terminal: pieces of text with a style, cut to a width, written with or without colours."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size

__all__ = ["STYLES", "Line", "clipped", "length", "written"]

Line = Sequence[tuple[str, str]]
"""Texts, each with the parameters of its style (ECMA-48, SGR); "" for none."""

STYLES = {"": "", "dim": "2", "bold": "1", "red": "31", "green": "32", "yellow": "33"}
"""Those that have a name."""


def length(line: Line) -> int:
    """How many columns it takes."""
    return sum(cell_len(text) for text, _ in line)


def clipped(line: Line, width: int) -> Line:
    """As much of the line as `width` columns hold; where something is left out, it ends with "…"."""
    if length(line) <= width:
        return line
    kept, left = [], width - 1
    for text, style in line:
        if cell_len(text) >= left:
            kept += [(set_cell_size(text, left), style), ("…", style)]
            break
        kept.append((text, style))
        left -= cell_len(text)
    return kept


def written(line: Line, *, styled: bool) -> str:
    """The line as a terminal takes it, without a line end; runs of one style are written at once."""
    if not styled:
        return "".join(text for text, _ in line)
    parts, before = [], ""
    for text, style in _merged(line):
        if style != before:
            parts.append(f"\x1b[0;{style}m" if style else "\x1b[0m")
        parts.append(text)
        before = style
    return "".join(parts) + ("\x1b[0m" if before else "")


def _merged(line: Line) -> Iterable[tuple[str, str]]:
    run, style = "", ""
    for text, other in line:
        if other != style and run:
            yield run, style
            run = ""
        run, style = run + text, other
    if run:
        yield run, style

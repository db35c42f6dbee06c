"""GitHub's Markdown, in which the documents are written, as Python-Markdown reads it.

There a list that follows a paragraph needs an empty line before it, and what belongs to an item stands four
columns further in.
"""

import re

__all__ = ["translated"]

ITEM = re.compile(r" *(?:[-*+]|\d+[.)]) +(?=\S)")
FENCE = re.compile(r" *(`{3,}|~{3,})")
STEP = 4


def translated(text: str) -> str:
    """The text with lists, and what is in them, as Python-Markdown wants them."""
    lines: list[str] = []
    columns: list[int] = []
    """Where the content of each open item begins."""
    fence, goes_on = "", False
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        item = None if fence else ITEM.match(line)
        mark = FENCE.match(line)
        if line and not fence and (item or mark or not goes_on):
            open_items = [column for column in columns if column <= indent]
            if item and not columns and goes_on:
                lines.append("")
            columns = open_items
        inside = " " * (STEP * len(columns)) + line[min(indent, columns[-1]) :] if columns else line
        lines.append(inside if line else "")
        if item:
            columns.append(item.end())
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        goes_on = bool(line.strip())
    return "\n".join(lines)

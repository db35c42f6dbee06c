"""A report as GitHub Markdown, for a pull request, a job summary or a wiki."""

from collections.abc import Iterator, Sequence

from jostle.formatting import Formatted
from jostle.report.document import (
    Block,
    Depth,
    Document,
    Figure,
    Link,
    Mark,
    Paragraph,
    Preformatted,
    Section,
    Statement,
    Statements,
    Table,
    Value,
    upto,
)

__all__ = ["render"]

MAX_HEADING_LEVEL = 6


def render(document: Document, *, pictures: str = "") -> str:
    """Everything except what only the page has. `pictures`: the folder with the document's pictures; "" to
    leave them out.
    """
    shown = upto(document, Depth.MAIN)
    parts = [*_head(shown), *(p for section in shown.sections for p in _section(section, 2, pictures))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(document: Document) -> Iterator[str]:
    yield f"# {_inline(document.title)}"
    if document.mark:
        yield f"**{_mark(document.mark)}.** {_inline(document.meaning)}"
    yield "\n".join(
        f"- {_mark(r.mark)}: {_inline(', '.join(filter(None, (r.contestant, r.workload, r.text))))}"
        for r in document.reasons
    )
    if document.affects:
        yield _inline(document.affects)
    if document.cut_short:
        then = " To finish it:" if document.finish else ""
        yield f"**Cut short:** {_inline(document.cut_short)}.{then}"
        if document.finish:
            yield _fenced([document.finish])
    yield _inline(" · ".join(document.facts))


def _section(section: Section, level: int, pictures: str) -> Iterator[str]:
    """The parts of a section; none if it contains only pictures, and these are left out."""
    below = level + 1 if section.title else level
    parts = [part for block in section.blocks for part in _block(block, below, pictures) if part]
    if section.title and parts:
        yield f"{'#' * min(level, MAX_HEADING_LEVEL)} {_inline(section.title)}"
    yield from parts


def _block(block: Block, level: int, pictures: str) -> Iterator[str]:
    match block:
        case Section():
            yield from _section(block, level, pictures)
        case Paragraph():
            yield (f"**{_inline(block.label)}:** " if block.label else "") + _inline(block.text)
        case Statements():
            yield "\n".join(map(_finding, block.items))
        case Table():
            yield from map(_table, block.by_group())
        case Preformatted():
            yield _fenced(block.lines)
        case Link():
            yield f"[{_inline(block.text)}]({block.href})"
        case Figure() if pictures:
            picture = block.draw()
            yield f"![{_inline(picture.title)}]({pictures}/{block.key}.png)" if picture else ""
        case _:
            return


def _finding(finding: Statement) -> str:
    lead = f"{_mark(finding.mark)}: " if finding.mark else ""
    return "\n".join([f"- {lead}{_inline(finding.text)}", *(f"  - {_inline(t)}" for t in finding.details)])


def _table(table: Table) -> str:
    places = table.places()
    rule = ["---:" if table.columns[i].kind == "figure" else "---" for i in places]
    head = [_inline(table.columns[i].name) for i in places]
    rows = [head, rule, *([_cell(row[i]) for i in places] for row in table.rows)]
    lines = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return f"**{_inline(table.caption)}**\n\n{lines}"


def _cell(value: Value) -> str:
    match value:
        case Mark():
            return _mark(value)
        case Formatted():
            return f"{_inline(value.value)} {value.interval}".rstrip()
        case str():
            return _inline(value)
        case _:
            return ""


def _mark(mark: Mark) -> str:
    return f"{mark.symbol} {_inline(mark.word)}"


def _fenced(lines: Sequence[str]) -> str:
    """The lines between fences that are longer than any fence in the text."""
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    return "\n".join([fence, *lines, fence])


def _inline(text: str) -> str:
    """Text that cannot end its cell, start markup or become HTML."""
    text = " ".join(text.split())
    for character in "\\`*_[]|":
        text = text.replace(character, "\\" + character)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

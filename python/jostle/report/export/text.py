"""What a person sees at the end of a run: the verdict first, in 80 columns, without colour if piped."""

import io
import itertools
import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jostle.formatting import Formatted, amount, percent, plural
from jostle.report.document import (
    Block,
    Column,
    Depth,
    DistributionShape,
    Document,
    Histogram,
    Mark,
    Paragraph,
    Preformatted,
    Section,
    Statement,
    Statements,
    Table,
    Tone,
    Value,
    upto,
)
from jostle.report.export.shapes import round_edges, shape, shares_of
from jostle.report.workload import NOT_OK, span
from jostle.text import tied
from jostle.units import scale

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment
    from rich.table import Table as RichTable
    from rich.text import Text

__all__ = ["render", "show"]

STYLES: dict[Tone, str] = {"good": "green", "warning": "yellow", "bad": "red", "plain": ""}
MAX_REASONS = 3
"""How many reasons are shown. The full report has all."""
SHAPE_WIDTH = 16
BAR_WIDTH = 40
MAX_BINS = 12
LABEL_WIDTH = 12
MIN_NAME_WIDTH = 10
JOINTS = re.compile(r"(?<=[-:/_ ])|(?<=[.,])(?!\d)")
"""Where a name may be broken; numbers are never broken."""


def render(document: Document) -> str:
    """What `show` prints, without colours."""
    from rich.console import Console

    written = io.StringIO()
    show(document, Console(file=written))
    return written.getvalue()


def show(document: Document, console: "Console") -> None:
    """Prints the document up to its depth: the answer, or everything except what only the page has."""
    shown = upto(document, document.depth)
    _head(shown, console)
    for section in shown.sections:
        _section(section, console)


def _head(document: Document, console: "Console") -> None:
    mark, full = document.mark, document.depth > Depth.ANSWER
    style = f"bold {STYLES[mark.tone]}" if mark else "bold"
    _say(console, document.title, style, lead=f"{mark.symbol} {mark.word}  " if mark else "")
    chosen = document.reasons if full else document.reasons[:MAX_REASONS]
    for remedy in dict.fromkeys(reason.remedy for reason in chosen):
        for reason in (r for r in chosen if r.remedy == remedy):
            place = ", ".join(filter(None, (reason.contestant, reason.workload)))
            text = reason.text if full else _short(reason.text)
            _say(console, f"{place}: {text}" if place else text, STYLES[reason.mark.tone], lead="  ")
        if remedy:
            _say(console, remedy, lead="  → ")
    more = len(document.reasons) - len(chosen)
    command = f" ({document.in_full})" if document.in_full else ""
    left = f"And {plural(more, 'more reason')}{command}." if more else ""
    if shown := " ".join(filter(None, (left, document.affects))):
        _say(console, shown, lead="  ")
    if document.cut_short:
        _say(console, document.cut_short, "yellow", lead="  cut short: ")
    if document.finish:
        _say(console, f"{document.finish} finishes it", lead="  → ")
    if mark is None:
        for fact in document.facts:
            _say(console, fact, "dim")


def _short(text: str) -> str:
    """What was found, without the explanation that follows a semicolon outside of brackets."""
    for semicolon in re.finditer("; ", text):
        before = text[: semicolon.start()]
        if before.count("(") == before.count(")"):
            return before
    return text


def _section(section: Section, console: "Console") -> None:
    blocks = [block for block in section.blocks if _visible(block)]
    if not blocks:
        return
    if section.key == "results":
        blocks = _findings_with_table(blocks)
    match blocks:
        case [Paragraph(label="") as only] if section.title and len(section.title) < LABEL_WIDTH:
            console.print()
            _block(replace(only, label=section.title.lower()), console)
            return
    if section.key == "notes":
        console.print()
    elif section.title and not _starts_with_a_title(blocks) and section.key != "results":
        console.print()
        _say(console, section.title, "bold")
    for before, block in zip([None, *blocks], blocks, strict=False):
        if isinstance(before, Paragraph) and before.label and isinstance(block, Table):
            console.print()
        _block(block, console)


def _findings_with_table(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, with each group of a table's columns moved behind the section of the same name, if any."""
    groups = {part.caption: part for table in blocks if isinstance(table, Table) for part in table.by_group()}
    shown = {block.title for block in blocks if isinstance(block, Section)} & groups.keys()
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, Section) and block.title in shown:
            found.append(replace(block, blocks=[*block.blocks, groups[block.title]]))
        elif isinstance(block, Table) and shown:
            found += [part for part in block.by_group() if part.caption not in shown]
        else:
            found.append(block)
    return found


def _starts_with_a_title(blocks: Sequence[Block]) -> bool:
    """Whether the first block has a heading of its own, so that another one before it would be useless."""
    return isinstance(blocks[0], Section) and bool(blocks[0].title)


def _visible(block: Block) -> bool:
    """Whether a terminal shows the block: no pictures, no links, no tables without short headings."""
    if isinstance(block, Section):
        return any(_visible(part) for part in block.blocks)
    if isinstance(block, Table):
        return bool(block.places(narrow=True))
    return isinstance(block, Paragraph | Statements | Preformatted | Histogram)


def _block(block: Block, console: "Console") -> None:
    match block:
        case Section():
            _section(block, console)
        case Paragraph():
            label = f"{block.label:<{LABEL_WIDTH}}" if block.label else ""
            style = "dim" if block.small else STYLES[block.tone]
            _say(console, block.text, style or ("bold" if block.label == "throughput" else ""), lead=label)
        case Statements():
            for finding in block.items:
                _finding(finding, console)
        case Table():
            _tables(block, console)
        case Preformatted():
            for line in block.lines:
                _say(console, line, "yellow" if block.label == "its last output" else "", lead="    ")
        case Histogram():
            _histogram(block, console)
        case _:
            pass  # only the page shows pictures and links


def _finding(finding: Statement, console: "Console") -> None:
    if finding.mark is None:
        _say(console, finding.text)
        return
    mark = finding.mark
    _say(console, finding.text, STYLES[mark.tone], lead=f"{mark.symbol} {mark.word}: ")
    for text in finding.details:
        _say(console, text, lead="  ")


def _say(console: "Console", text: str, style: str = "", lead: str = "") -> None:
    """Prints text, never interpreted as markup; continuation lines are indented to the text after `lead`."""
    from rich.text import Text

    indent = " " * (len(lead) if len(lead) <= LABEL_WIDTH else 2)
    lines = textwrap.wrap(
        tied(text), console.width, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False
    )
    shown = "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")
    console.print(Text(shown or lead.rstrip(), style=style))


def _tables(table: Table, console: "Console") -> None:
    """Prints one table per group of columns, as 80 characters have room for only one group."""
    parts = table.by_group()
    for part in parts:
        if len(parts) > 1:
            console.print()
            _say(console, part.caption, "dim")
        _table(part, console)
        if legend := part.legend():
            _say(console, legend, "dim", lead="  ")


def _table(table: Table, console: "Console") -> None:
    """Prints the columns meant for 80 characters, with shapes and intervals only if these fit, too.

    If not even the rest fits, long names are broken into several lines, and then columns are moved to further
    tables below.
    """
    for shapes, intervals in ((True, True), (False, True), (False, False)):
        drawn = _rich(table, shapes=shapes, intervals=intervals)
        excess = _excess(drawn, console)
        if excess <= 0:
            break
    if excess > 0:
        table = _with_folded_names(table, excess)
        if len(parts := _in_parts(table, console)) > 1:
            for part in parts:
                _table(part, console)
            return
        drawn = _rich(table, shapes=False, intervals=False)
    for line in console.render_lines(drawn, pad=False):
        text = _joined(line)
        text.rstrip()
        console.print(text)


def _excess(drawn: "RichTable", console: "Console") -> int:
    """How many characters too wide the table is for the terminal; at most 0 if it fits."""
    wide = console.options.update(width=10 * console.width)
    return console.measure(drawn, options=wide).maximum - console.width


def _in_parts(table: Table, console: "Console") -> list[Table]:
    """Tables to be printed one below the other, each with the leading words of the rows and as many columns
    as fit.
    """
    places = table.places(narrow=True)
    words = list(itertools.takewhile(lambda i: table.columns[i].kind == "word", places))
    parts: list[Table] = []
    kept: list[int] = []
    for place in places[len(words) :]:
        wider = table.only([*words, *kept, place])
        if kept and _excess(_rich(wider, shapes=False, intervals=False), console) > 0:
            parts.append(table.only([*words, *kept]))
            kept = []
        kept.append(place)
    return [*parts, table.only([*words, *kept])]


def _joined(line: "Sequence[Segment]") -> "Text":
    from rich.text import Text

    return Text.assemble(*((segment.text, segment.style or "") for segment in line))


def _with_folded_names(table: Table, excess: int) -> Table:
    """The table with narrower word columns, starting with the widest, until `excess` characters are saved if
    possible.
    """
    words = [i for i in table.places(narrow=True) if table.columns[i].kind == "word"]
    widths = {i: max((len(str(row[i])) for row in table.rows), default=0) for i in words}
    folds: dict[int, int] = {}
    for i in sorted(words, key=lambda i: -widths[i]):
        if excess > 0:
            folds[i] = max(MIN_NAME_WIDTH, widths[i] - excess)
            lines = [line for row in table.rows for line in _folded(str(row[i]), folds[i]).split("\n")]
            excess -= widths[i] - max(map(len, [*lines, *_heading(table.columns[i]).split()]))
    rows = [
        tuple(_folded(str(v), folds[i]) if i in folds else v for i, v in enumerate(row)) for row in table.rows
    ]
    return replace(table, rows=rows)


def _heading(column: Column) -> str:
    return column.short or ""


def _folded(name: str, width: int) -> str:
    """The name in lines of at most `width` if possible, broken after spaces and punctuation within names."""
    lines = [""]
    for part in JOINTS.split(name):
        if lines[-1] and len(lines[-1] + part.rstrip()) > width:
            lines.append(part)
        else:
            lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _rich(table: Table, *, shapes: bool, intervals: bool) -> "RichTable":
    from rich.table import Table as RichTable

    places = table.places(narrow=True, shapes=shapes)
    drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for i in places:
        column = table.columns[i]
        figure = column.kind == "figure"
        drawn.add_column(
            _heading(column),
            justify="right" if figure else "left",
            overflow="fold",
            no_wrap=column.kind != "word",
            min_width=max(map(len, _heading(column).split()), default=None),
        )
    last: list[Value] = []
    for row in table.rows:
        repeated = bool(last) and places[0] == 0 and row[0] == last[0] and table.columns[0].kind == "word"
        cells = [_cell(row[i], table, i, intervals) for i in places]
        if repeated:
            cells[0] = _text("")
        drawn.add_row(*cells)
        last = list(row)
    return drawn


def _cell(value: Value, table: Table, place: int, intervals: bool) -> "Text":
    column = table.columns[place]
    match value:
        case Mark():
            shown = f"{value.symbol} {value.word}" if column.worded else value.symbol
            return _text(shown, STYLES[value.tone])
        case DistributionShape():
            if (not value.distribution.quantile_s and not value.unanswered) or value.high_s <= value.low_s:
                return _text("")
            return _text(
                shape(value.distribution, value.low_s, value.high_s, SHAPE_WIDTH, value.unanswered), "blue"
            )
        case Formatted():
            figure = value.number if column.unit and value.number else value.value
            return _text(f"{figure} {value.interval}".strip() if column.intervals and intervals else figure)
        case _:
            return _text(value, "bold" if place == 0 else "")


def _text(text: str, style: str = "") -> "Text":
    from rich.text import Text

    return Text(text, style=style)


def _histogram(block: Histogram, console: "Console") -> None:
    """Prints a horizontal bar for each bin of response times, with its share of all requests."""
    found = block.distribution
    if not found.quantile_s:
        return
    edges = round_edges(*span([found]), MAX_BINS)
    shares = [share * (1 - block.unanswered) for share in shares_of(found, edges)]
    rows = _without_gaps(list(zip(_labels(edges)[1:], shares, strict=True)))
    if block.unanswered:
        rows.append((NOT_OK, block.unanswered))
    _bars(rows, console)


def _without_gaps(rows: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The rows from the first to the last that has requests; of several empty ones in a row only the last,
    which says where the gap ends.
    """
    filled = [place for place, (_, share) in enumerate(rows) if share > 0]
    kept = range(filled[0], filled[-1] + 1)
    return [rows[place] for place in kept if rows[place][1] > 0 or rows[place + 1][1] > 0]


def _labels(edges: Sequence[float]) -> list[str]:
    """The edges as times, with more than three digits where the bins are too narrow for these."""
    labels = [amount(edge, "s") for edge in edges]
    if len(set(labels)) == len(labels):
        return labels
    unit = scale(min(edges[-1], 60.0), "s")  # steps are round numbers of seconds, but not of minutes
    step = (edges[1] - edges[0]) / unit.size
    digits = max(0, math.ceil(-math.log10(step) - 1e-6))
    return [f"{edge / unit.size:,.{digits}f}{unit.suffix}" for edge in edges]


def _bars(rows: Sequence[tuple[str, float]], console: "Console") -> None:
    from rich.table import Table as RichTable

    drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    drawn.add_column("up to", justify="right", no_wrap=True)
    drawn.add_column("response time", no_wrap=True)
    drawn.add_column("share", justify="right", no_wrap=True)
    largest = max(share for _, share in rows)
    room = console.width - max(len(name) for name, _ in rows) - len("100.0 %") - 4
    for name, share in rows:
        bar = "█" * round(min(BAR_WIDTH, room) * share / largest) or ("▏" if share > 0 else "")
        drawn.add_row(name, _text(bar, "red" if name == NOT_OK else "blue"), percent(share))
    console.print()
    console.print(drawn)

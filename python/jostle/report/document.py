"""A report as one document: sections of findings, tables and pictures, in reading order.

The modules in `sections` build it, and renderers turn it into an output format without deciding anything
about its content. Every text is sanitised here, once: no text that a renderer takes from a document contains
control characters or line breaks.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Literal, NamedTuple

from jostle.analysis.results import Distribution
from jostle.formatting import MISSING, Formatted, listed
from jostle.text import one_line, plain_lines

__all__ = [
    "NOTHING",
    "Block",
    "Case",
    "Column",
    "Depth",
    "DistributionShape",
    "Document",
    "Figure",
    "Histogram",
    "Link",
    "Mark",
    "Paragraph",
    "Picture",
    "Preformatted",
    "Reason",
    "Rows",
    "Section",
    "Spec",
    "Statement",
    "Statements",
    "Suites",
    "Table",
    "Tabs",
    "Tone",
    "Trials",
    "Value",
    "columns",
    "figures_in",
    "trials_in",
    "upto",
]

Tone = Literal["good", "warning", "bad", "plain"]

NOTHING = Formatted(MISSING, "", "", MISSING)


class Depth(IntEnum):
    """How deep in a report something is: what is deeper is shown in fewer forms."""

    ANSWER = 0  # always shown
    MAIN = 1  # shown in a full report
    DETAIL = 2  # shown on the page only, folded


class Mark(NamedTuple):
    """A symbol and a word with the same meaning, clear even without colour, and the tone for colouring."""

    symbol: str
    word: str
    tone: Tone = "plain"

    def __str__(self) -> str:
        return f"{self.symbol}\N{NO-BREAK SPACE}{self.word.replace(' ', chr(160))}"


class DistributionShape(NamedTuple):
    """A distribution to be drawn in a table cell, on an axis that the whole column shares."""

    distribution: Distribution
    low_s: float
    high_s: float
    unanswered: float  # share of all requests


Value = str | Formatted | Mark | DistributionShape


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    kind: Literal["word", "figure", "shape"] = "figure"
    short: str | None = None
    """Its heading within 80 characters; None: the column is left out there."""
    unit: str = ""
    """The unit that the short heading contains, so that the figures are shown without it."""
    intervals: bool = False  # show intervals also within 80 characters
    worded: bool = False  # show the words of marks also within 80 characters
    group: str = ""  # common heading of this and neighbouring columns; "": belongs to every group


@dataclass(frozen=True)
class Table:
    """Columns and rows of equal length."""

    caption: str
    columns: list[Column]
    rows: list[tuple[Value, ...]] = field(default_factory=list)
    prose: bool = False  # its last columns contain sentences

    def __post_init__(self) -> None:
        object.__setattr__(self, "caption", one_line(self.caption))
        object.__setattr__(self, "columns", list(map(_safe_column, self.columns)))

    def add(self, *values: Value) -> None:
        """Appends a row with one value per column."""
        if len(values) != len(self.columns):
            raise ValueError(f"{self.caption}: {len(values)} values for {len(self.columns)} columns")
        self.rows.append(tuple(map(_safe_value, values)))

    def places(self, *, narrow: bool = False, shapes: bool = False) -> list[int]:
        """Indices of the columns to show. `narrow`: only those for lines of 80 characters."""
        return [
            i
            for i, column in enumerate(self.columns)
            if (not narrow or column.short is not None) and (shapes or column.kind != "shape")
        ]

    def known(self) -> list[int]:
        """Indices of the columns worth showing: words, and figures that are known in at least one row."""
        return [
            i for i in self.places() if self.columns[i].kind == "word" or any(_says(r[i]) for r in self.rows)
        ]

    def notes(self) -> list[str]:
        """Why figures are missing, each reason once: "p99, p99.9: needs at least 299 requests".

        A reason that applies to a single row names that row: "p50 (node, alone): …".
        """
        names: dict[str, list[str]] = {}
        rows: dict[str, list[str]] = {}
        for row in self.rows:
            for i in self.places():
                value = row[i]
                if isinstance(value, Formatted) and value.value == MISSING and value.note:
                    names.setdefault(value.note, []).append(self.columns[i].name)
                    rows.setdefault(value.note, []).append(self._named(row))
        return [
            f"{', '.join(dict.fromkeys(found))}{_of_one(rows[note], len(self.rows))}: {note}"
            for note, found in names.items()
        ]

    def legend(self) -> str:
        """What a dash means in the columns that are shown within 80 characters; "" if there are no dashes.

        If there are several reasons, each names its columns: "under p50: …; under p99: …".
        """
        reasons: dict[str, dict[str, None]] = {}
        for i in self.places(narrow=True):
            missing = [row[i] for row in self.rows]
            for value in missing:
                if isinstance(value, Formatted) and value.value == MISSING:
                    reason = value.note.split(": ")[0] or "not known"
                    reasons.setdefault(reason, {})[self.columns[i].short or ""] = None
        if len(reasons) > 1:
            reasons.pop("not known", None)
        if len(reasons) == 1:
            return f"{MISSING}: {next(iter(reasons))}"
        explained = "; ".join(f"under {listed(list(names))}: {reason}" for reason, names in reasons.items())
        return f"{MISSING} {explained}" if explained else ""

    def _named(self, row: tuple[Value, ...]) -> str:
        """The name of a row: its leading cells, as far as they are words."""
        first = itertools.takewhile(lambda i: self.columns[i].kind == "word", range(len(self.columns)))
        words = (row[i] for i in first)
        return ", ".join(itertools.takewhile(bool, (word if isinstance(word, str) else "" for word in words)))

    def headings(self) -> list[tuple[str, int]]:
        """(group, number of columns) for the columns that `known` returns, from the left."""
        groups = [self.columns[i].group for i in self.known()]
        return [(group, len(list(same))) for group, same in itertools.groupby(groups)]

    def firsts(self) -> list[int]:
        """Of the columns that `known` returns, the first of each group that has a name."""
        named = [i for i in self.known() if self.columns[i].group]
        return [next(same) for _, same in itertools.groupby(named, lambda i: self.columns[i].group)]

    def spans(self) -> list[int]:
        """How many rows the first cell of each row spans; 0 if the row is covered by a cell above."""
        if self.columns[0].kind != "word":
            return [1] * len(self.rows)
        same = [len(list(rows)) for _, rows in itertools.groupby(str(row[0]) for row in self.rows)]
        return [n if i == 0 else 0 for n in same for i in range(n)]

    def by_group(self) -> "list[Table]":
        """One table per group, each with the columns that have no group; itself if there are no groups."""
        groups = [group for group in dict.fromkeys(c.group for c in self.columns) if group]
        return [self._only(group) for group in groups] or [self]

    def only(self, places: Sequence[int]) -> "Table":
        """The table with only the columns at `places`."""
        rows = [tuple(row[i] for i in places) for row in self.rows]
        return replace(self, columns=[self.columns[i] for i in places], rows=rows)

    def _only(self, group: str) -> "Table":
        kept = [i for i, column in enumerate(self.columns) if column.group in ("", group)]
        own = [i for i in kept if self.columns[i].group]
        rows = [tuple(row[i] for i in kept) for row in self.rows if any(row[i] != "" for i in own)]
        return Table(group, [replace(self.columns[i], group="") for i in kept], rows, self.prose)


def _of_one(names: list[str], rows: int) -> str:
    """The name of the row in brackets if only one of several is meant; otherwise ""."""
    return f" ({names[0]})" if rows > 1 and names[0] and len(set(names)) == 1 else ""


def _says(value: Value) -> bool:
    return value.value != MISSING if isinstance(value, Formatted) else value not in ("", MISSING)


def columns(words: str, figures: str = "") -> list[Column]:
    """Columns of words, then of figures, each separated by "|"; "name = short" adds a short heading.

    In columns("contestant = | workload", "throughput = per s"), "contestant" is its own short heading,
    "workload" has none, and the short heading "per s" sets the unit "/s".
    """
    return [*_columns(words, "word"), *_columns(figures, "figure")]


def _columns(text: str, kind: Literal["word", "figure"]) -> Iterator[Column]:
    for part in filter(str.strip, text.split("|")):
        name, equals, short = (piece.strip() for piece in part.partition("="))
        unit = "/s" if short == "per s" else ""
        yield Column(name, kind, (short or name) if equals else None, unit)


def _safe_column(column: Column) -> Column:
    short = None if column.short is None else one_line(column.short)
    return replace(column, name=one_line(column.name), short=short, group=one_line(column.group))


def _safe_value(value: Value) -> Value:
    if isinstance(value, Formatted):
        return Formatted(*map(one_line, value))
    if isinstance(value, Mark):
        return Mark(value.symbol, one_line(value.word), value.tone)
    return one_line(value) if isinstance(value, str) else value


@dataclass(frozen=True)
class Paragraph:
    """Running text. `label`: a word before it, like the heading of a row."""

    text: str
    tone: Tone = "plain"
    label: str = ""
    small: bool = False  # an explanation or a note, in small print

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", one_line(self.text))
        object.__setattr__(self, "label", one_line(self.label))


@dataclass(frozen=True)
class Statement:
    """A sentence, the mark of its verdict if it has one, and further details."""

    text: str
    mark: Mark | None = None
    details: tuple[str, ...] = ()
    href: str = ""  # key of a section of the same document

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", one_line(self.text))
        object.__setattr__(self, "details", tuple(one_line(text) for text in self.details if text))


@dataclass(frozen=True)
class Statements:
    """A list of findings, one below the other. `brief`: a page shows only the first sentence of each."""

    items: list[Statement]
    brief: bool = False


Rows = list[dict[str, Any]]
"""The data of a chart: plain figures and names."""

Spec = dict[str, Any]
"""A part of a Vega-Lite specification."""


@dataclass(frozen=True)
class Picture:
    """A chart with its texts and its figures as a table."""

    title: str
    """A sentence."""
    reading: str
    """How to read the chart."""
    body: Spec
    table: Table
    datasets: dict[str, Rows]
    narrowest: int = 0
    """The least width of a panel in pixels, if it has several."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", one_line(self.title))
        object.__setattr__(self, "reading", one_line(self.reading))

    def spec(self) -> Spec:
        """The Vega-Lite specification without the common style. Colours are CSS variables."""
        more = {"usermeta": {"narrowest": self.narrowest}, "datasets": self.datasets}
        return self.body | more | {"description": self.title}


@dataclass(frozen=True)
class Figure:
    """A picture that is drawn when a renderer asks for it; `draw` returns None if there is nothing to see."""

    key: str
    draw: Callable[[], Picture | None]
    small: bool = False  # may be placed in a row with others


@dataclass(frozen=True)
class Tabs:
    """Pictures of the same thing, one of which is visible at a time: (name, figure), the default first."""

    label: str
    figures: tuple[tuple[str, Figure], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", one_line(self.label))


@dataclass(frozen=True)
class Trials:
    """Single trials of which a page shows one at a time, with a range of time that can be chosen."""

    read: Callable[[], list[dict[str, Any]]]
    """Their data; it is read when a renderer asks for it, as it may be of hundreds of kilobytes."""


@dataclass(frozen=True)
class Preformatted:
    """Lines that are shown verbatim: a plan, a command, the output of a server."""

    label: str
    lines: tuple[str, ...]

    @classmethod
    def of(cls, label: str, text: str) -> "Preformatted":
        """Creates a block from untrusted text."""
        return cls(one_line(label), tuple(plain_lines(text)))


@dataclass(frozen=True)
class Histogram:
    """Response times as bars, for the terminal; other forms have a figure for them."""

    distribution: Distribution
    unanswered: float  # share of all requests


@dataclass(frozen=True)
class Link:
    """A link to a file beside the report, or to a page elsewhere."""

    text: str
    href: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", one_line(self.text))
        object.__setattr__(self, "href", one_line(self.href))


@dataclass(frozen=True)
class Section:
    """Blocks that belong together. A section without a title only serves to set their depth."""

    title: str
    blocks: "Sequence[Block]"
    depth: Depth = Depth.ANSWER
    key: str = ""  # identifies a main section; safe as an HTML id
    short: str = ""  # its name in the table of contents
    folded: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", one_line(self.title))

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show in it."""
        return all(_is_empty(block) for block in self.blocks)


Block = Paragraph | Statements | Table | Figure | Tabs | Trials | Preformatted | Histogram | Link | Section


def _is_empty(block: Block) -> bool:
    match block:
        case Section():
            return block.empty
        case Statements():
            return not block.items
        case Table():
            return not block.rows
        case _:
            return False


@dataclass(frozen=True)
class Reason:
    """What a reader must know before the figures: what was found, where, and what to do about it."""

    text: str
    mark: Mark
    contestant: str = ""
    workload: str = ""
    remedy: str = ""
    brief: str = ""  # the same in three words at most

    def __post_init__(self) -> None:
        for name in ("text", "contestant", "workload", "remedy", "brief"):
            object.__setattr__(self, name, one_line(getattr(self, name)))


@dataclass(frozen=True)
class Case:
    """A test case of a build server: what was checked, and how that ended."""

    about: str
    name: str
    end: Literal["success", "failure", "error", "skipped"] = "success"
    message: str = ""  # why it did not succeed
    details: str = ""  # the same at length
    output: str = ""  # what was found


Suites = dict[str, list[Case]]
"""Test cases by the names of their suites."""


@dataclass(frozen=True)
class Document:
    """The whole report: for readers in sections, and for programs, where there is something for them, as
    data, as rows of a table, and as test cases. These are made when a form needs them.
    """

    title: str
    mark: Mark | None
    meaning: str  # what the mark means
    facts: list[str]  # when, where and with what it was measured
    reasons: list[Reason]  # what a reader must know first, most important first
    cut_short: str  # why the run is incomplete; "" if it is complete
    sections: list[Section]
    finish: str = ""  # the command that measures the rest of an incomplete run
    affects: str = ""  # which figures the reasons affect
    in_full: str = ""  # the command that shows all reasons; "" if the record was not kept
    links: list[Link] = field(default_factory=list)  # the article, the plan, the files of the record
    depth: Depth = Depth.ANSWER  # how much of it is shown as text
    data: Callable[[], dict[str, Any]] | None = None
    rows: Callable[[], Rows] | None = None
    cases: Callable[[], Suites] | None = None

    def __post_init__(self) -> None:
        for name in ("title", "meaning", "cut_short", "finish", "affects", "in_full"):
            object.__setattr__(self, name, one_line(getattr(self, name)))
        object.__setattr__(self, "facts", [one_line(fact) for fact in self.facts if fact])


def upto(document: Document, depth: Depth) -> Document:
    """The document without anything deeper than `depth`, and without empty blocks."""
    return replace(document, sections=list(_cut(document.sections, depth)))


def _cut(blocks: Iterable[Block], depth: Depth) -> Iterator[Section]:
    for block in blocks:
        if isinstance(block, Section) and block.depth <= depth:
            kept = replace(block, blocks=[*_inside(block.blocks, depth)])
            if not kept.empty:
                yield kept


def _inside(blocks: Sequence[Block], depth: Depth) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Section):
            yield from _cut([block], depth)
        elif not _is_empty(block):
            yield block


def trials_in(blocks: Iterable[Block]) -> Iterator[Trials]:
    """All blocks of single trials; a page has one at most."""
    for block in blocks:
        if isinstance(block, Trials):
            yield block
        elif isinstance(block, Section):
            yield from trials_in(block.blocks)


def figures_in(blocks: Iterable[Block]) -> Iterator[Figure]:
    """All figures, including those in tabs and nested sections, in the order of the document."""
    for block in blocks:
        if isinstance(block, Figure):
            yield block
        elif isinstance(block, Tabs):
            yield from (figure for _, figure in block.figures)
        elif isinstance(block, Section):
            yield from figures_in(block.blocks)

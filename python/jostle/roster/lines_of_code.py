"""How long a contestant's program is: its lines, without blank lines and comments.

python -m jostle.roster.lines_of_code          a line for each contestant

It counts the files in the contestant's folder that are in the language of its main source and, separately,
those that it shares with others. A line with code and a comment counts as code, and so does a docstring.
Files of the shop, which only a few contestants have, are left out, so that the programs compared do the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jostle import roster
from jostle.plan.servers.contestant import ContestantFile

__all__ = ["LinesOfCode", "lines_of_code", "main"]


@dataclass(frozen=True)
class _Language:
    suffixes: Sequence[str]
    comment: str
    opens: str = "/*"
    closes: str = "*/"


LANGUAGES = [
    _Language((".js", ".mjs"), "//"),
    _Language((".go",), "//"),
    _Language((".rs",), "//"),
    _Language((".php",), "//"),
    _Language((".java",), "//"),
    _Language((".erl",), "%"),
    _Language((".ex",), "#"),
    _Language((".py",), "#"),
    _Language((".rb", ".ru"), "#"),
    _Language((".conf",), "#"),
    _Language((".hs",), "--", "{- ", "-}"),
]

NOT_WRITTEN = {"node_modules", "target", "generated"}
"""Folders that are filled by a build or a compiler."""

NOT_IN_ALL = "shop"
"""Files whose names begin like this are not counted."""


@dataclass(frozen=True)
class LinesOfCode:
    """The size of a contestant's source."""

    own: int
    """Lines in its folder."""
    shared: int
    """Lines of the files that it includes, used or not."""

    def as_record(self) -> dict[str, int]:
        return {"own": self.own, "shared": self.shared}


def lines_of_code(file: ContestantFile, folder: Path) -> LinesOfCode | None:
    """The lines of a contestant; None if it has no main source, or one in an unknown language."""
    suffix = Path(file.source).suffix
    language = next((one for one in LANGUAGES if suffix in one.suffixes), None)
    if language is None:
        return None
    included = [folder / name for name in file.build.include]
    return LinesOfCode(_in_folders([folder], language), _in_folders(included, language))


def _in_folders(places: Iterable[Path], language: _Language) -> int:
    files = {
        path
        for place in places
        for path in ([place] if place.is_file() else place.rglob("*"))
        if path.suffix in language.suffixes
        and not NOT_WRITTEN & {*path.parts}
        and not path.name.startswith(NOT_IN_ALL)
    }
    return sum(_in_text(path.read_text(encoding="utf-8"), language) for path in files)


def _in_text(text: str, language: _Language) -> int:
    counted, commented = 0, False
    for line in map(str.strip, text.splitlines()):
        if commented:
            commented = language.closes not in line
        elif line.startswith(language.opens):
            commented = language.closes not in line
        elif line and not line.startswith(language.comment):
            counted += 1
    return counted


def main() -> None:
    """Print the lines of all contestants, in alphabetical order."""
    for name in roster.names():
        found = lines_of_code(*roster.load(name))
        if found is not None:
            print(f"{name:<28}{found.own:>5}" + (f" and {found.shared} shared" if found.shared else ""))


if __name__ == "__main__":
    main()

"""How long a contestant's program is: lines without blank ones and comments.

python -m jostle.roster.lines_of_code          a line for each contestant

Counted are the files of its main source's language in its folder, and apart from them those that it shares with
others. A line that holds code and a comment is code; a docstring is code, too. Files of the shop, which only a few
have, are left out, so that programs that do the same are compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jostle import roster
from jostle.plan.contestant import ContestantFile

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
"""Folders that a build fills, or a compiler."""

NOT_IN_ALL = "shop"
"""How the names of files begin that are not counted."""


@dataclass(frozen=True)
class LinesOfCode:
    """`own`: of its folder. `shared`: of what several contestants include; all of it, used or not."""

    own: int
    shared: int

    def as_record(self) -> dict[str, int]:
        return {"own": self.own, "shared": self.shared}


def lines_of_code(file: ContestantFile, folder: Path) -> LinesOfCode | None:
    """None where its main source is in no language that is known here, or it has none."""
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
    """Print them, in alphabetical order."""
    for name in roster.names():
        found = lines_of_code(*roster.load(name))
        if found is not None:
            print(f"{name:<28}{found.own:>5}" + (f" and {found.shared} shared" if found.shared else ""))


if __name__ == "__main__":
    main()

"""What several servers of the roster share stands once, in `roster/shared`."""

import itertools
from pathlib import Path

import pytest

from jostle import roster

ROSTER = Path(roster.__file__).parent
SHARED = ROSTER / "shared"
SOURCES = {".erl", ".ex", ".go", ".hs", ".java", ".js", ".py", ".rb", ".rs", ".ru"}
ALIKE = 12
"""So many lines in a row may be alike in two files: imports, or a loop that a language writes in one way."""


def lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def runs(path: Path) -> set[tuple[str, ...]]:
    """Every run of lines that would be one too many."""
    text = lines(path)
    return {tuple(text[at : at + ALIKE + 1]) for at in range(len(text) - ALIKE)}


def included(name: str) -> list[Path]:
    file, folder = roster.load(name)
    return [(folder / entry).resolve() for entry in file.build.include]


def test_no_two_servers_state_the_same_rule() -> None:
    sources = [path for path in sorted(ROSTER.glob("*/**/*")) if path.suffix in SOURCES]
    assert len(sources) > 20
    seen = {path: runs(path) for path in sources}
    alike = [
        (one.name, other.name) for one, other in itertools.combinations(sources, 2) if seen[one] & seen[other]
    ]
    assert alike == []


def test_two_servers_that_state_the_same_rule_would_be_noticed(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(ALIKE + 1))
    (tmp_path / "one").write_text(text)
    (tmp_path / "other").write_text("first\n" + text.replace("\n", "\n\n  "))
    assert runs(tmp_path / "one") & runs(tmp_path / "other")


@pytest.mark.parametrize("name", roster.names())
def test_a_contestant_includes_only_what_is_shared(name: str) -> None:
    for path in included(name):
        assert path.exists()
        assert path.is_relative_to(SHARED)


def test_all_that_is_shared_is_included_by_two_servers_or_more() -> None:
    users = [included(name) for name in roster.names()]
    for file in (path for path in SHARED.rglob("*") if path.is_file()):
        using = [paths for paths in users if any(file.is_relative_to(path) for path in paths)]
        assert len(using) > 1, file

"""Lines of code are counted, so that nobody has to believe a README."""

from pathlib import Path

import pytest

from jostle.contestant import find
from jostle.plan.servers.contestant import ContestantFile
from jostle.roster.lines_of_code import lines_of_code


def program(folder: Path, source: str, text: str, include: tuple[str, ...] = ()) -> ContestantFile:
    (folder / source).write_text(text)
    table = {"source": source, "command": "x {port}", "build": {"include": list(include)}}
    return ContestantFile.model_validate(table)


@pytest.mark.parametrize(
    ("source", "text", "lines"),
    [
        ("a.js", "// about\n\n/* more\n   of it */\nlet a = 1; // one\n  // two\nf();\n", 2),
        ("a.erl", "%% about\n-module(a).\n\nf() -> 1. % one\n", 2),
        ("A.hs", "{-# LANGUAGE X #-}\n-- about\n{- more\n-}\nmain = f\n", 2),
        ("a.ru", "# about\nrun x\n", 1),
        ("a.py", '"""About."""\n# more\nx = 1\n', 2),
    ],
)
def test_blank_lines_and_comments_are_no_code(tmp_path: Path, source: str, text: str, lines: int) -> None:
    counted = lines_of_code(program(tmp_path, source, text), tmp_path)
    assert counted is not None
    assert counted.own == lines


def test_what_is_shared_stands_apart_and_what_a_build_fetches_does_not_count(tmp_path: Path) -> None:
    own, shared = tmp_path / "own", tmp_path / "shared"
    for folder in (own, shared, own / "node_modules"):
        folder.mkdir()
    (shared / "b.js").write_text("one();\ntwo();\n")
    (shared / "notes.txt").write_text("not code\n")
    (own / "node_modules" / "c.js").write_text("fetched();\n")
    counted = lines_of_code(program(own, "a.js", "a();\n", ("../shared",)), own)
    assert counted is not None
    assert counted.as_record() == {"own": 1, "shared": 2}


def test_a_server_without_a_source_has_no_lines(tmp_path: Path) -> None:
    assert lines_of_code(ContestantFile.model_validate({"command": "x {port}"}), tmp_path) is None


def test_a_record_says_how_long_the_program_is() -> None:
    lines = find("node").describe()["lines_of_code"]
    assert lines["own"] < 10 < lines["shared"]


def test_the_shop_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "shop.js").write_text("sell();\n")
    counted = lines_of_code(program(tmp_path, "a.js", "f();\n"), tmp_path)
    assert counted is not None
    assert counted.own == 1

"""What holds of the sources themselves, and no linter sees."""

import ast
import itertools
from pathlib import Path

import pytest

import jostle
from jostle import roster
from jostle.analysis import validity
from jostle.analysis.validity.catalogue import CATALOGUE

PACKAGE = Path(jostle.__file__).parent
ROSTER = Path(roster.__file__).parent
SHARED = ROSTER / "shared"
SOURCES = {".erl", ".ex", ".go", ".hs", ".java", ".js", ".py", ".rb", ".rs", ".ru"}
ALIKE = 12
"""So many lines in a row two servers may share: imports, or a loop that a language writes in one way."""


def imports_at_run_time(path: Path) -> set[str]:
    """Modules that the file imports, apart from those under `if TYPE_CHECKING`."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
            found.update(f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text()))
    return found


def test_only_generators_import_the_engine() -> None:
    """import-linter does not know of extension modules."""
    files = (path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(ROSTER))
    naming = (path for path in files if "_engine" in path.read_text(encoding="utf-8"))
    importers = {path for path in naming if "jostle._engine" in imports_at_run_time(path)}
    assert importers
    assert [path for path in importers if not path.is_relative_to(PACKAGE / "generator")] == []


def checks_made() -> set[str]:
    """The names of all checks that the code can make, as they stand in its calls."""
    found = set()
    analysis = Path(validity.__file__).parents[1]
    for path in analysis.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id
            if called == "Check" and isinstance(node.args[0], ast.Constant):
                found.add(node.args[0].value)
            elif called == "_check" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                found.add(node.args[1].value)
    return found


def test_every_check_is_in_the_catalogue_and_no_other() -> None:
    assert {entry.name for entry in CATALOGUE} == checks_made()


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
    """What several share stands once, in `roster/shared`."""
    seen = {path: runs(path) for path in sorted(ROSTER.glob("*/**/*")) if path.suffix in SOURCES}
    assert seen
    pairs = itertools.combinations(seen, 2)
    assert [(one.name, other.name) for one, other in pairs if seen[one] & seen[other]] == []


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

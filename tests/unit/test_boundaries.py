"""Arrows that import-linter cannot see: it does not know of extension modules."""

import ast
from pathlib import Path

import jostle

PACKAGE = Path(jostle.__file__).parent


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
    importers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "roster" not in path.parts and "jostle._engine" in imports_at_run_time(path)
    }
    assert importers == {
        "generator/bursts.py",
        "generator/grpc.py",
        "generator/inprocess.py",
        "generator/merge.py",
        "generator/scripts.py",
        "generator/simulated.py",
    }

"""The reference pages that are made from the code are up to date and leave nothing out."""

import ast
from pathlib import Path

from jostle.analysis import validity
from jostle.analysis.validity.catalogue import CATALOGUE
from jostle.cli import COMMANDS
from jostle.cli.exit_codes import ExitCode
from jostle.cli.reference import commands

DOCS = Path(__file__).parents[2] / "docs"


def test_every_command_is_on_its_page() -> None:
    text = (DOCS / "reference/cli.md").read_text(encoding="utf-8")
    names = [name for name, _ in commands()]
    assert {f"jostle {name}" for name in COMMANDS} <= set(names)
    assert all(f"## {name}\n" in text for name in names)


def made() -> set[str]:
    """The names of all checks that the code can make, as they stand in its calls."""
    found = set()
    analysis = Path(validity.__file__).parents[1]
    for path in [*(analysis / "validity").glob("*.py"), *(analysis / "topics").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id
            if called == "Check" and isinstance(node.args[0], ast.Constant):
                found.add(node.args[0].value)
            elif called == "_check" and isinstance(node.args[1], ast.Constant):
                found.add(node.args[1].value)
    return found


def test_every_check_is_in_the_catalogue_and_no_other() -> None:
    assert len(made()) > 20
    assert {entry.name for entry in CATALOGUE} == made()


def test_every_exit_code_is_explained() -> None:
    text = (DOCS / "reference/exit-codes.md").read_text(encoding="utf-8")
    assert all(f"\n| {code.value} | " in text for code in ExitCode)

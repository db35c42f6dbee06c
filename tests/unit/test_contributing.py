"""CONTRIBUTING names what is there: each path of its table, and the layers as they are enforced."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.*) \| (.*) \|$", TEXT, re.MULTILINE)[1:]
PACKAGE = ROOT / "python" / "jostle"


def paths(text: str) -> set[str]:
    return set(re.findall(r"`((?:bench|crates|docs|python|tests)\b[\w./-]*)`", text))


def test_the_table_lists_twenty_features_or_more_and_where_each_is() -> None:
    assert len(ROWS) >= 20
    assert [feature for feature, where in ROWS if not paths(where)] == []


def test_every_path_that_is_named_exists() -> None:
    named = paths(TEXT)
    assert len(named) > 30
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_package_is_in_the_table() -> None:
    table = " ".join(where for _, where in ROWS)
    packages = {path.parent for path in PACKAGE.glob("*/__init__.py")}
    assert [path.name for path in sorted(packages) if f"`python/jostle/{path.name}" not in table] == []


def test_the_layers_are_those_that_are_enforced() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    stacks = [c for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    assert len(stacks) > 1
    assert [c["name"] for c in stacks if " > ".join(c["layers"]) not in " ".join(TEXT.split())] == []

"""Names that were given up stay out of the code; docs/GLOSSARY.md has the words that took their place."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "jostle"
SERVERS = PACKAGE / "roster"

LEFT = {
    "Account": "User",
    "Keeper": "Supervisor",
    "Kept": "SupervisedProcess",
    "Merging": "Merger",
    "OwnLog": "Spool",
    "RouteCheck": "CheckResult",
    "Station": "Agent",
    "Unfolding": "FrameReader",
    "bury": "drop",
    "check_room": "check_capacity",
    "checkup": "check_machine",
    "most_connections": "max_connections",
    "revive": "reassign",
}
"""Identifier → the one in its place."""

LEFT_MODULES = {
    "account": "users",
    "accounts": "ledger",
    "censoring": "kaplan_meier",
    "checkup": "checks",
    "crowd": "phased",
    "folding": "streaming",
    "here": "inprocess",
    "installing": "install",
    "keeper": "supervisor",
    "kept": "supervised",
    "modes": "bimodality",
    "needs": "tools",
    "ownlog": "spool",
    "quantities": "metrics",
    "remainder": "handover",
    "repeating": "extra_rounds",
    "room": "capacity",
    "running": "registry",
    "shares": "partition",
    "station": "agent",
    "stream": "follower",
    "together": "combined",
    "verify": "contract",
    "vitals": "resource_usage",
}
"""Module → the one in its place."""


def python_names(text: str) -> set[str]:
    """Identifiers only: comments and texts are for people."""
    nodes = (node for node in ast.walk(ast.parse(text)) if not isinstance(node, ast.Constant))
    return {value for node in nodes for _, value in ast.iter_fields(node) if isinstance(value, str)}


def rust_names(text: str) -> set[str]:
    """Likewise, without what stands in quotes on one line."""
    code = re.sub(r'"(?:\\.|[^"\\\n])*"|//.*', "", text)
    return set(re.findall(r"[A-Za-z_]\w*", code))


@cache
def sources() -> dict[Path, str]:
    """Every source of ours; servers of the roster speak the words of their own languages."""
    python = [path for folder in (PACKAGE, ROOT / "tests", ROOT / "bench") for path in folder.rglob("*.py")]
    ours = [path for path in python if path.parent == SERVERS or not path.is_relative_to(SERVERS)]
    return {path: path.read_text(encoding="utf-8") for path in [*ours, *ROOT.glob("crates/*/src/**/*.rs")]}


def test_identifiers_that_were_given_up_do_not_come_back() -> None:
    word = re.compile(rf"\b({'|'.join(LEFT)})\b")
    found = {}
    for path, text in sources().items():
        names = rust_names if path.suffix == ".rs" else python_names
        if word.search(text) and (back := names(text) & LEFT.keys()):
            found[str(path.relative_to(ROOT))] = back
    assert found == {}


def test_modules_that_were_given_up_do_not_come_back() -> None:
    modules = {path.stem for path in PACKAGE.rglob("*.py") if not path.is_relative_to(SERVERS)}
    assert modules & LEFT_MODULES.keys() == set()


def test_the_names_in_their_place_are_there() -> None:
    words = set(re.findall(r"\w+", " ".join(sources().values())))
    assert set(LEFT.values()) - words == set()
    assert set(LEFT_MODULES.values()) - {path.stem for path in PACKAGE.rglob("*.py")} == set()


def test_an_identifier_that_came_back_would_be_noticed() -> None:
    assert {"bury", "Agent"} <= python_names('x.bury(1)  # revive\nclass Agent:\n    y = "Station"\n')
    assert not {"revive", "Station"} & python_names('x.bury(1)  # revive\ny = "Station"\n')
    assert rust_names('x.bury(1); // revive\nlet y = "Sta\\"tion";') == {"x", "bury", "let", "y"}

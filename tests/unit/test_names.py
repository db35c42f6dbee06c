"""Names that were given up stay out of the code; docs/GLOSSARY.md has the words that took their place."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "jostle"
SERVERS = PACKAGE / "roster"

LEFT_PYTHON = {
    "Account": "User",
    "Cell": "WorkloadSummary",
    "ClaimPart": "CriterionResult",
    "Compared": "Comparison",
    "Course": "Trend",
    "CrowdCourse": "PhasedTimeline",
    "Facts": "TrialData",
    "Finished": "Run",
    "InThisProcess": "InProcessExecutor",
    "Itself": "GeneratorStats",
    "Kept": "SupervisedProcess",
    "Merging": "Merger",
    "OnCluster": "ClusterExecutor",
    "OnRay": "RayTransport",
    "OnThisMachine": "LocalExecutor",
    "OwnLog": "Spool",
    "QUANTITIES": "METRICS",
    "Shown": "Formatted",
    "Stage": "PhaseSummary",
    "Station": "Agent",
    "Stream": "Follower",
    "Unfolding": "FrameReader",
    "_Together": "_GeneratorGroup",
    "accounts_of": "read_ledger",
    "bury": "drop",
    "lasting": "with_duration",
    "note_stream": "note_follower",
    "refuse_strangers": "refuse_unlisted_targets",
    "revive": "reassign",
    "sure_connections": "min_connections",
    "write_accounts": "write_ledger",
}
"""Identifier → the one in its place."""

LEFT_RUST = {
    "Merging": "Merger",
    "Session": "Link",
    "bury": "drop_gone",
}

LEFT_MODULES = {
    "account": "users",
    "accounts": "ledger",
    "censoring": "kaplan_meier",
    "checkup": "checks",
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
    found = {}
    for suffix, names, left in ((".py", python_names, LEFT_PYTHON), (".rs", rust_names, LEFT_RUST)):
        word = re.compile(rf"\b({'|'.join(left)})\b")  # parsing takes its time
        for path, text in sources().items():
            if path.suffix == suffix and word.search(text) and (back := names(text) & left.keys()):
                found[str(path.relative_to(ROOT))] = back
    assert found == {}


def test_modules_that_were_given_up_do_not_come_back() -> None:
    modules = {path.stem for path in PACKAGE.rglob("*.py") if not path.is_relative_to(SERVERS)}
    assert modules & LEFT_MODULES.keys() == set()


def test_the_names_in_their_place_are_there() -> None:
    for suffix, left in ((".py", LEFT_PYTHON), (".rs", LEFT_RUST)):
        ours = " ".join(text for path, text in sources().items() if path.suffix == suffix)
        assert set(left.values()) - set(re.findall(r"\w+", ours)) == set()
    assert set(LEFT_MODULES.values()) - {path.stem for path in PACKAGE.rglob("*.py")} == set()


def test_an_identifier_that_came_back_would_be_noticed() -> None:
    assert {"bury", "Agent"} <= python_names('x.bury(1)  # revive\nclass Agent:\n    y = "Station"\n')
    assert not {"revive", "Station"} & python_names('x.bury(1)  # revive\ny = "Station"\n')
    assert rust_names('x.bury(1); // revive\nlet y = "Sta\\"tion";') == {"x", "bury", "let", "y"}

"""The version stands in pyproject.toml; whatever else names it names the same."""

import re
import tomllib
from pathlib import Path

import jostle

ROOT = Path(__file__).parents[2]
ELSEWHERE = (
    "action.yml",
    "ci/gitlab.yml",
    "docs/how-to/github-actions.md",
    "docs/how-to/container.md",
    "docs/how-to/install.md",
    "docs/cluster/Containerfile",
)
NAMED = re.compile(r"jostle(?:==|@v|:|-)(\d+\.\d+\.\d+)|\bref: v(\d+\.\d+\.\d+)|_REF: v(\d+\.\d+\.\d+)")


def test_there_is_one_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert jostle.__version__ == version
    assert tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"] == version
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    assert {one["version"] for one in locked if one["name"].startswith("jostle-")} == {version}
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for name in ELSEWHERE:
        found = {"".join(groups) for groups in NAMED.findall((ROOT / name).read_text(encoding="utf-8"))}
        assert found == {version}, name

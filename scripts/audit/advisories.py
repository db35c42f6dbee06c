"""Known holes in the locked packages, from copies of RustSec's and PyPA's databases (advisories.json).

The copy holds what concerns our packages only, and the names that were looked for: a package that is new in a
lock file is not passed over in silence. To bring it up to date: git clone both databases, then

    python scripts/audit --refresh RUSTSEC PYPA
"""

import json
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from audit.packages import Package, locked_crates, locked_python

__all__ = [
    "ACCEPTED",
    "COPY",
    "concerning",
    "crate_is_affected",
    "read_copy",
    "refresh",
    "release_is_affected",
    "unknown",
]

COPY = Path(__file__).with_name("advisories.json")

ACCEPTED: dict[str, str] = {}
"""Advisories that do not concern us, and why."""

Advisory = dict[str, Any]


def read_copy() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(COPY.read_text())
    return found


def concerning(copy: dict[str, Any], crates: Iterable[Package], python: Iterable[Package]) -> list[str]:
    """A line for every advisory that concerns one of these."""
    found = [
        f"{package.name} {package.version}: {advisory['id']} {advisory['title']}"
        for kind, packages, affected in (
            ("crates", crates, crate_is_affected),
            ("python", python, release_is_affected),
        )
        for package in packages
        for advisory in copy[kind].get(package.name, [])
        if advisory["id"] not in ACCEPTED and affected(package.version, advisory)
    ]
    return sorted(found)


def unknown(copy: dict[str, Any], crates: Iterable[Package], python: Iterable[Package]) -> list[str]:
    """Locked packages that nobody looked for when the copy was made."""
    return sorted(
        {p.name for p in crates} - set(copy["looked_for"]["crates"])
        | {p.name for p in python} - set(copy["looked_for"]["python"])
    )


def crate_is_affected(version: str, advisory: Advisory) -> bool:
    """RustSec: every version that is neither patched nor unaffected."""
    fine = [*advisory["patched"], *advisory["unaffected"]]
    return not any(all(_meets(version, part.strip()) for part in wanted.split(",")) for wanted in fine)


def _meets(version: str, wanted: str) -> bool:
    """One comparison of Cargo's: ">= 1.2", "^1.2.3", "=1.0.0", "1.2"."""
    sign = wanted[: len(wanted) - len(wanted.lstrip("<>=^~"))]
    given = wanted.removeprefix(sign).strip()
    have, want = _numbers(version), _numbers(given)
    match sign:
        case ">=":
            return have >= want
        case ">":
            return have > want
        case "<":
            return have < want
        case "<=":
            return have <= want
        case "=":
            return have == want
        case "~":
            return have >= want and have[:2] == want[:2]
    leading = next((i for i, part in enumerate(want[:3]) if part), 2)
    return have >= want and have[: leading + 1] == want[: leading + 1]


def _numbers(version: str) -> tuple[int, int, int, tuple[int, str]]:
    """Ordered as Cargo orders them; a pre-release comes before its release."""
    release, _, pre = version.partition("+")[0].partition("-")
    parts = [int(part) for part in release.split(".")] + [0, 0]
    return parts[0], parts[1], parts[2], (0, pre) if pre else (1, "")


def release_is_affected(version: str, advisory: Advisory) -> bool:
    """OSV: listed, or within a range from "introduced" up to "fixed" or "last_affected"."""
    if version in advisory["versions"]:
        return True
    have = Version(version)
    return any(_within(have, events) for events in advisory["ranges"])


def _within(have: Version, events: Sequence[dict[str, str]]) -> bool:
    inside = False
    for event in events:
        ((kind, text),) = event.items()
        try:
            there = have >= Version(text) if kind != "last_affected" else have > Version(text)
        except InvalidVersion:
            return True  # rather told once too often
        if there:
            inside = kind == "introduced"
    return inside


def refresh(rustsec: Path, pypa: Path) -> None:
    """Write the copy anew from git clones of the two databases, with or without a work tree."""
    crates, python = ({p.name for p in found} for found in (locked_crates(), locked_python()))
    copy = {
        "sources": [_source("RustSec", rustsec), _source("PyPA", pypa)],
        "looked_for": {"crates": sorted(crates), "python": sorted(python)},
        "crates": {name: found for name in sorted(crates) if (found := list(_rustsec(rustsec, name)))},
        "python": {name: found for name in sorted(python) if (found := list(_pypa(pypa, name)))},
    }
    COPY.write_text(json.dumps(copy, indent=1) + "\n")


def _git(clone: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", clone, *words], check=True, capture_output=True, text=True).stdout


def _source(name: str, clone: Path) -> dict[str, str]:
    commit, date = _git(clone, "log", "-1", "--format=%H %cs").split()
    return {"name": name, "commit": commit, "date": date}


def _files(clone: Path, folder: str) -> Iterator[str]:
    for path in _git(clone, "ls-tree", "--name-only", "HEAD", f"{folder}/").splitlines():
        yield _git(clone, "show", f"HEAD:{path}")


def _rustsec(clone: Path, name: str) -> Iterator[Advisory]:
    for text in _files(clone, f"crates/{name}"):
        table, _, prose = text.removeprefix("```toml\n").partition("\n```")
        about = tomllib.loads(table)
        if "withdrawn" not in about["advisory"]:
            yield {
                "id": about["advisory"]["id"],
                "title": next((line[2:] for line in prose.splitlines() if line.startswith("# ")), ""),
                "patched": about["versions"].get("patched", []),
                "unaffected": about["versions"].get("unaffected", []),
            }


def _pypa(clone: Path, name: str) -> Iterator[Advisory]:
    import yaml

    for text in _files(clone, f"vulns/{name}"):
        about = yaml.safe_load(text)
        if "withdrawn" in about:
            continue
        affected = [one for one in about["affected"] if one["package"]["name"].lower() == name]
        ranges = [r["events"] for one in affected for r in one.get("ranges", []) if r["type"] == "ECOSYSTEM"]
        yield {
            "id": about["id"],
            "title": " ".join(about.get("details", "").split())[:100],
            "ranges": ranges,
            "versions": []
            if ranges
            else sorted({str(v) for one in affected for v in one.get("versions", [])}),
        }

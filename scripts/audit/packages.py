"""The locked packages: crates as Cargo resolves them, Python packages as uv.lock has them."""

import json
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = [
    "ROOT",
    "Package",
    "base_python",
    "carried_crates",
    "locked_crates",
    "locked_python",
    "needed_python",
    "wheels_of",
]

ROOT = Path(__file__).resolve().parents[2]
CARRIED = ("jostle-bindings", "jostle-reference")
"""What of this workspace is compiled into the wheel."""

PLATFORM = "x86_64-unknown-linux-gnu"
OSI = "License :: OSI Approved :: "


@dataclass(frozen=True, order=True)
class Package:
    """`licence`: an SPDX expression, as far as the package gives one. `sha256`: of its source, as locked."""

    name: str
    version: str
    licence: str = ""
    sha256: str = ""
    folder: Path | None = None


def carried_crates() -> list[Package]:
    """Crates that are compiled into the wheel, ours left out, with what they are built from."""
    found = _metadata()
    about = {package["id"]: package for package in found["packages"]}
    needs = {
        node["id"]: [
            dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])
        ]
        for node in found["resolve"]["nodes"]
    }
    ours = {id_: package for id_, package in about.items() if package["source"] is None}
    roots = [id_ for id_, package in ours.items() if package["name"] in CARRIED]
    sums = {(package.name, package.version): package.sha256 for package in locked_crates()}
    return sorted(
        Package(
            about[id_]["name"],
            about[id_]["version"],
            (about[id_]["license"] or "").replace("/", " OR "),
            sums.get((about[id_]["name"], about[id_]["version"]), ""),
            Path(about[id_]["manifest_path"]).parent,
        )
        for id_ in _reachable(roots, needs)
        if id_ not in ours
    )


def locked_crates() -> list[Package]:
    """All that the lock files name, tests and fuzzing included; a source distribution has no fuzz targets."""
    locks = (ROOT / "Cargo.lock", ROOT / "crates/engine/fuzz/Cargo.lock")
    return sorted(
        {
            Package(entry["name"], entry["version"], sha256=entry["checksum"])
            for lock in locks
            if lock.is_file()
            for entry in tomllib.loads(lock.read_text())["package"]
            if "checksum" in entry
        }
    )


def locked_python() -> list[Package]:
    """All of uv.lock but jostle itself, tests included."""
    return sorted(
        {
            Package(entry["name"], entry["version"])
            for entry in _uv_lock().values()
            if entry["name"] != "jostle"
        }
    )


def needed_python() -> list[Package]:
    """What is installed with `pip install jostle[all]`; the wheel itself carries none of it."""
    lock = _uv_lock()
    needs = {name: [dep["name"] for dep in entry.get("dependencies", [])] for name, entry in lock.items()}
    extras = [d["name"] for part in lock["jostle"].get("optional-dependencies", {}).values() for d in part]
    names = _reachable([*needs["jostle"], *extras], needs)
    return sorted(Package(name, lock[name]["version"], _python_licence(name)) for name in names)


def base_python() -> list[tuple[str, str]]:
    """Name and version of what `pip install jostle` brings; some in one version for each Python."""
    lock = _uv_lock()
    needs = {name: [dep["name"] for dep in entry.get("dependencies", [])] for name, entry in lock.items()}
    names = _reachable(needs["jostle"], needs)
    return sorted((entry["name"], entry["version"]) for entry in _locked() if entry["name"] in names)


def wheels_of(name: str, version: str) -> list[str]:
    """The file names of its wheels."""
    (entry,) = [e for e in _locked() if (e["name"], e["version"]) == (name, version)]
    return [wheel["url"].rpartition("/")[2] for wheel in entry.get("wheels", [])]


@cache
def _metadata() -> dict[str, Any]:
    maturin = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    words = [
        "cargo",
        "metadata",
        "--locked",
        "--format-version=1",
        "--filter-platform",
        PLATFORM,
        "--features",
        ",".join(f"jostle-bindings/{feature}" for feature in maturin["features"]),
    ]
    output = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(output)
    return found


@cache
def _locked() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    return found


def _uv_lock() -> dict[str, Any]:
    """By name; of a package in several versions the last."""
    return {entry["name"]: entry for entry in _locked()}


def _reachable(roots: Iterable[str], needs: Mapping[str, Iterable[str]]) -> set[str]:
    found: set[str] = set()
    left = list(roots)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += needs.get(name, ())
    return found


def _python_licence(name: str) -> str:
    """As the installed package states it; "" where it is for another platform or Python."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""
    return (
        about.get("License-Expression")
        or " OR ".join(_classified(about))
        or (about.get("License") or "")[:60]
    )


def _classified(about: Any) -> Iterator[str]:
    for line in about.get_all("Classifier") or []:
        if line.startswith(OSI):
            yield line.removeprefix(OSI)

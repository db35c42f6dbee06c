"""What is wrong with a wheel or a source distribution that was built, before anybody gets it."""

import json
import re
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from release.targets import Target
from release.tools import TOOLS

__all__ = ["of_sdist", "of_wheel", "outside_policy"]

PROGRAMS = {
    "jostle/_engine.abi3.so": "the engine",
    "jostle/bin/jostle-reference": "the reference servers",
}

TEXTS = {
    "jostle-{version}.dist-info/licenses/THIRD-PARTY.md": "the licences of others",
    "jostle-{version}.dist-info/entry_points.txt": "the commands",
}

SOURCES = (
    "Cargo.lock", "Cargo.toml", "PKG-INFO", "THIRD-PARTY.md", "crates/reference/Cargo.toml", "pyproject.toml",
)  # fmt: skip


def of_wheel(wheel: Path, target: Target, version: str) -> list[str]:
    """A line for each fault; [] where it may be released."""
    found = []
    if wheel.name != target.wheel(version):
        found.append(f"its name is not {target.wheel(version)}")
    with zipfile.ZipFile(wheel) as archive:
        carried = set(archive.namelist())
        for name, what in (PROGRAMS | TEXTS).items():
            if (path := name.format(version=version)) not in carried:
                found.append(f"it carries nothing as {path}: {what}")
            elif name in PROGRAMS and _elf_machine(archive.read(path)) != target.elf_machine:
                found.append(f"{path} is not for {target.arch}")
    return found + outside_policy(_audited(wheel), target)


def _elf_machine(program: bytes) -> int | None:
    """e_machine of the ELF header; None where it is no ELF file."""
    return int.from_bytes(program[18:20], "little") if program.startswith(b"\x7fELF") else None


def of_sdist(sdist: Path, version: str) -> list[str]:
    """A line for each file without which it cannot be built; [] where it may be released."""
    with tarfile.open(sdist) as archive:
        carried = set(archive.getnames())
    return [f"it carries no {name}" for name in SOURCES if f"jostle-{version}/{name}" not in carried]


MUSL = "libc.so"
"""As which zig links musl's C library, whose loader takes that name for itself. Auditwheel knows only that of
Alpine's file.
"""


def outside_policy(audited: Mapping[str, Any], target: Target) -> list[str]:
    """Of auditwheel's report on a wheel: whether it needs a later C library than it says, or another one."""
    fits = audited.get("overall_tag", "linux")
    kind, *release = target.policy.split("_")
    if kind == "musllinux" and set(audited.get("external_libs", {})) == {MUSL}:
        fits = audited["sym_tag"]
    oldest = re.fullmatch(rf"{kind}_(\d+)_(\d+)_{target.arch}", fits)
    if oldest and [int(part) for part in oldest.groups()] <= [int(part) for part in release]:
        return []
    needs = [name for names in audited.get("versioned_symbols", {}).values() for name in names]
    libraries = list(audited.get("external_libs", {}))
    wants = ", ".join(sorted(needs) + libraries) or audited.get("error", "nothing that is known")
    return [f"it does not fit {target.policy}_{target.arch}, but {fits}: it needs {wants}"]


def _audited(wheel: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as nothing:
        # Of another C library, what this machine has by that name is something else.
        elsewhere = ["--ldpaths", nothing] if "musllinux" in wheel.name else []
        words = [TOOLS / "auditwheel", "show", "--json", *elsewhere, wheel]
        done = subprocess.run(words, capture_output=True, text=True)
    if not done.stdout:  # where it says why, that is a fault of the wheel
        raise RuntimeError(f"auditwheel says nothing of {wheel.name}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found

"""What a release needs of the machine that builds it, and the command that brings what is missing."""

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from audit.packages import ROOT
from release.targets import Target

__all__ = ["TOOLS", "can_compile_for", "missing", "versions"]

TOOLS = ROOT / ".tools" / "release" / "bin"
"""Maturin, zig and auditwheel, as uv.lock has them."""

PROGRAMS = {
    "git": "on Debian, as root: apt-get install git",
    "tar": "on Debian, as root: apt-get install tar",
    "cc": "build scripts of crates are linked with it; on Debian, as root: apt-get install gcc",
    "cargo": "install Rust with rustup",
    "rustc": "install Rust with rustup",
}

LOCKED = ("auditwheel", "cargo-zigbuild", "maturin", "python-zig")


def missing(targets: Iterable[Target], tools: Path = TOOLS) -> list[str]:
    """A line for each thing, with the remedy."""
    found = [f"{program} is missing: {how}" for program, how in PROGRAMS.items() if not shutil.which(program)]
    if absent := [name for name in LOCKED if not (tools / name).exists()]:
        found.append(f"{', '.join(absent)} missing in {tools}: make release-tools")
    if shutil.which("rustc"):
        found += [
            f"Rust's standard library for {target.triple} is missing: rustup target add {target.triple}"
            for target in targets
            if not can_compile_for(target)
        ]
    return found


def can_compile_for(target: Target) -> bool:
    words = ["rustc", "--print", "target-libdir", "--target", target.triple]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    return done.returncode == 0 and any(Path(done.stdout.strip()).glob("libstd-*.rlib"))


def versions() -> dict[str, str]:
    """Of all that decides which bytes a wheel has."""
    commands = {
        "rustc": ["rustc", "--version"],
        "cargo": ["cargo", "--version"],
        "zig": [TOOLS / "python-zig", "version"],
        "cargo-zigbuild": [TOOLS / "cargo-zigbuild", "--version"],
        "maturin": [TOOLS / "maturin", "--version"],
    }
    return {name: _output(words) for name, words in commands.items()}


def _output(words: Sequence[str | Path]) -> str:
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()

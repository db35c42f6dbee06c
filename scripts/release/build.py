"""Builds what is released, from what git has committed, as anybody would check it out.

The same commit and the same tools give the same bytes: nothing tells when or in which folder they were made,
and nothing depends on the C compiler and the C library of the machine that builds. Both come with zig.
"""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from audit.packages import ROOT
from release.targets import Target
from release.tools import TOOLS, versions

__all__ = ["Commit", "check_out", "commit", "environment", "sdist", "wheel"]

UV = ROOT / ".tools" / "bin" / "uv"

CHANGES_BYTES = (
    "AR_", "CARGO_BUILD_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_ENCODED_RUSTFLAGS", "CARGO_PROFILE_",
    "CARGO_TARGET_", "CC", "CFLAGS", "CXX", "JEMALLOC_", "JOSTLE_PROFILE", "LDFLAGS", "LUAU_", "MATURIN_",
    "RUSTC", "RUSTFLAGS", "VIRTUAL_ENV",
)  # fmt: skip
"""Beginnings of the names of variables that a developer may have set and a build must not see."""


class Commit(NamedTuple):
    hash: str
    date: str
    """In seconds since 1970."""


def commit() -> Commit:
    """The one that is checked out."""
    words = ["git", "log", "-1", "--format=%H %ct"]
    output = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return Commit(*output.split())


def check_out(of: Commit, source: Path) -> None:
    """Write its files into the folder `source`, which is made."""
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", of.hash], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=source, input=archive, check=True)


def sdist(base: Path, of: Commit) -> Path:
    """Built from `base`/source, where the commit is checked out; in `base`/dist."""
    return _built(base, "--sdist", {**_inherited(), "SOURCE_DATE_EPOCH": of.date}, "jostle-*.tar.gz")


def wheel(base: Path, of: Commit, target: Target) -> Path:
    """Built from `base`/source, where the commit is checked out; in `base`/dist."""
    variables = {**environment(base, of, target), **_zig_found()}
    return _built(base, "--wheel", variables, f"jostle-*-{target.tag}.whl")


def environment(base: Path, of: Commit, target: Target) -> dict[str, str]:
    """What cargo, maturin and the build scripts of crates read, to build for `target`."""
    name = target.triple.replace("-", "_")
    cc, cxx, ar, ranlib = _zig(base / "zig" / target.triple, target)
    return {
        **_inherited(),
        "SOURCE_DATE_EPOCH": of.date,
        "CARGO_BUILD_TARGET": target.triple,
        "CARGO_TARGET_DIR": str(base / "target"),
        f"CARGO_TARGET_{name.upper()}_LINKER": cc,
        f"CC_{name}": cc,
        f"CXX_{name}": cxx,
        f"AR_{name}": ar,
        f"RANLIB_{name}": ranlib,
        "MATURIN_PEP517_ARGS": f"--compatibility {target.policy}",
        **target.environment,
    }


def _zig_found() -> dict[str, str]:
    """What cargo-zigbuild would look for at each call of the compiler; a configure script calls it often."""
    known = versions()
    (zig,) = TOOLS.parent.glob("lib/python*/site-packages/ziglang/zig")
    return {
        "CARGO_ZIGBUILD_ZIG_PATH": str(zig),
        "CARGO_ZIGBUILD_ZIG_VERSION": known["zig"],
        "CARGO_ZIGBUILD_RUSTC_VERSION": known["rustc"].split()[1],
    }


def _inherited() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(CHANGES_BYTES)}
    return {**kept, "PATH": f"{TOOLS}:{os.environ['PATH']}"}


def _zig(folder: Path, target: Target) -> list[str]:
    """Commands that take the options of gcc and its tools, and have zig do it."""
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    # Asserts of C name their files.
    compile = f"-target {target.zig} -fno-sanitize=all -ffile-prefix-map={cargo}=/cargo"
    options = {"cc": f"cc -- {compile}", "c++": f"c++ -- {compile}", "ar": "ar --", "ranlib": "ranlib --"}
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in options.items():
        command = folder / name
        command.write_text(f'#!/bin/sh\nexec "{TOOLS}/cargo-zigbuild" zig {words} "$@"\n')
        command.chmod(0o755)
    return [str(folder / name) for name in options]


def _built(base: Path, kind: str, environment: dict[str, str], name: str) -> Path:
    subprocess.run(
        [UV, "build", kind, "--no-build-isolation", "--offline", "--no-create-gitignore",
         "--python", TOOLS / "python", "--out-dir", base / "dist"],
        cwd=base / "source", env=environment, check=True,
    )  # fmt: skip
    (built,) = (base / "dist").glob(name)
    return built

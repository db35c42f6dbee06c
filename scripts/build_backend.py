"""PEP 517 backend: maturin, after what the wheel carries besides the extension module has been made.

These are the reference servers (`jostle/bin/jostle-reference`) and the licences of the crates that are
compiled in (THIRD-PARTY.md). The source distribution gets what both are made from. Both are built in Cargo's
profile JOSTLE_PROFILE: release, `checked` for tests, or `quick` for the demo; and for the machine that
CARGO_BUILD_TARGET names, as cargo and maturin read it, too.
"""

import gzip
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

from audit import licences  # beside this file: `backend-path` in pyproject.toml

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

ROOT = Path(__file__).resolve().parent.parent
PROFILE = os.environ.get("JOSTLE_PROFILE") or "release"
TARGET = os.environ.get("CARGO_BUILD_TARGET", "")
BIN = ROOT / "python" / "jostle" / "bin"
EPOCH = os.environ.get("SOURCE_DATE_EPOCH")
ADDED = [
    ".cargo/config.toml",
    "Cargo.toml",
    "rust-toolchain.toml",
    "scripts/audit",
    "scripts/build_backend.py",
    "scripts/vendored.py",
    "crates/reference",
]
"""To the source distribution; maturin's own Cargo.toml leaves the reference crate out."""


def build_reference_servers() -> None:
    """Build `jostle-reference` and copy it into the package."""
    # For another machine maturin configures pyo3, and would compile the extension of the alias again; and the
    # linker for it may be one of this environment.
    alone = ["build", "--locked", "--package", "jostle-reference", "--profile", PROFILE]
    words = alone if TARGET else [f"build-{PROFILE}"]
    environment = None if TARGET else _of_the_caller()
    subprocess.run(["cargo", *words], cwd=ROOT, check=True, env=environment)
    built = Path(_target_directory(), TARGET, PROFILE, "jostle-reference")
    destination = BIN / "jostle-reference"
    destination.parent.mkdir(exist_ok=True)
    destination.unlink(missing_ok=True)  # a running server keeps the old file
    shutil.copy2(built, destination)


def _of_the_caller() -> dict[str, str]:
    """The environment without the one that this backend runs in: pyo3 would be compiled anew for each."""
    caller = dict(os.environ)
    if own := caller.pop("VIRTUAL_ENV", ""):
        path = [folder for folder in os.get_exec_path() if not Path(folder).is_relative_to(own)]
        caller["PATH"] = os.pathsep.join(path)
    return caller


def write_licences() -> None:
    """Write THIRD-PARTY.md, which `license-files` in pyproject.toml names."""
    licences.THIRD_PARTY.write_text(licences.third_party(), encoding="utf-8")


if PROFILE != "release":  # which is maturin's own, with the features of pyproject.toml
    quickly = f"--profile {PROFILE} --features extension-module"
    os.environ["MATURIN_PEP517_ARGS"] = f"{quickly} {os.environ.get('MATURIN_PEP517_ARGS', '')}"


def make_reproducible() -> None:
    """Where SOURCE_DATE_EPOCH is set, nothing in the wheel tells when or in which folder it was built."""
    if EPOCH is None:
        return
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    places = {str(ROOT): "/jostle", _target_directory(): "/target", cargo: "/cargo"}
    remaps = [f"--remap-path-prefix={place}={name}" for place, name in places.items()]
    # On musl Rust links statically unless it is told otherwise, and what Python loads cannot be static.
    dynamic = ["-C", "target-feature=-crt-static"] if TARGET.endswith("-musl") else []
    os.environ["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(remaps + dynamic)
    os.environ["CARGO_PROFILE_RELEASE_STRIP"] = "symbols"


def _target_directory() -> str:
    metadata = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version=1", "--locked"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return str(json.loads(metadata.stdout)["target_directory"])


def build_sdist(directory: str, *args: Any, **kwargs: Any) -> str:
    write_licences()
    name = str(maturin.build_sdist(directory, *args, **kwargs))
    whole, partial = Path(directory, name), Path(directory, f"{name}.partial")
    top = name.removesuffix(".tar.gz")
    with (
        gzip.GzipFile(partial, "wb", mtime=EPOCH and int(EPOCH)) as packed,
        tarfile.open(whole) as made,
        tarfile.open(fileobj=packed, mode="w") as complete,
    ):
        for member in made:
            if member.name != f"{top}/Cargo.toml":
                complete.addfile(member, made.extractfile(member) if member.isfile() else None)
        for path in ADDED:
            complete.add(ROOT / path, f"{top}/{path}", filter=_plain)
    partial.replace(whole)
    return name


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Without bytecode, and without what tells who made it and, where SOURCE_DATE_EPOCH is set, when."""
    if "__pycache__" in member.name:
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode &= 0o755
    member.mtime = member.mtime if EPOCH is None else int(EPOCH)
    return member


def build_wheel(*args: Any, **kwargs: Any) -> str:
    make_reproducible()
    write_licences()
    build_reference_servers()
    return str(maturin.build_wheel(*args, **kwargs))


def build_editable(*args: Any, **kwargs: Any) -> str:
    write_licences()
    build_reference_servers()
    built = str(maturin.build_editable(*args, **kwargs))
    (BIN / "profile").write_text(PROFILE, encoding="utf-8")
    return built

"""Is the wheel reproducible? It is built twice, in folders of their own, and every file is compared."""

import hashlib
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

from audit.packages import ROOT

__all__ = ["differences"]


def differences() -> list[str]:
    """Files of the two wheels that are not the same; [] where the wheels are the same byte by byte.

    The second build starts anew: nothing of the first is reused, and its files lie elsewhere.
    """
    words = ["git", "log", "-1", "--format=%H %ct"]
    commit, date = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    with tempfile.TemporaryDirectory() as base:
        wheels = [_built(Path(base, name), commit, date) for name in ("first", "second")]
        if wheels[0].read_bytes() == wheels[1].read_bytes():
            print(f"{wheels[0].name}: sha256 {hashlib.sha256(wheels[0].read_bytes()).hexdigest()}")
            return []
        first, second = map(_sums, wheels)
        found = [name for name in sorted({*first, *second}) if first.get(name) != second.get(name)]
        return found or ["the archives differ, and none of their files"]


def _built(base: Path, commit: str, date: str) -> Path:
    """From what git has committed, as anybody would check it out."""
    source = base / "source"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=source, input=archive, check=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": date, "CARGO_TARGET_DIR": str(base / "target")}
    environment.pop("JOSTLE_PROFILE", None)  # it is the wheel that is published
    environment |= {"PATH": f"{ROOT}/.venv/bin:{os.environ['PATH']}", "CARGO_NET_OFFLINE": "true"}
    subprocess.run(
        [ROOT / ".tools/bin/uv", "build", "--wheel", "--no-build-isolation", "--offline",
         "--python", ROOT / ".venv/bin/python", "--out-dir", base / "dist"],
        cwd=source, env=environment, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = (base / "dist").glob("*.whl")
    return wheel


def _sums(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}

"""Is the wheel reproducible? It is built twice, in folders of their own, and every file is compared."""

import hashlib
import tempfile
import zipfile
from pathlib import Path

from release import build
from release.targets import TARGETS

__all__ = ["differences"]


def differences() -> list[str]:
    """Files of the two wheels that are not the same; [] where the wheels are the same byte by byte.

    The second build starts anew: nothing of the first is reused, and its files lie elsewhere.
    """
    commit = build.commit()
    with tempfile.TemporaryDirectory() as base:
        wheels = []
        for folder in (Path(base, "first"), Path(base, "second")):
            build.check_out(commit, folder / "source")
            wheels.append(build.wheel(folder, commit, TARGETS[0]))
        if wheels[0].read_bytes() == wheels[1].read_bytes():
            print(f"{wheels[0].name}: sha256 {hashlib.sha256(wheels[0].read_bytes()).hexdigest()}")
            return []
        first, second = map(_sums, wheels)
        found = [name for name in sorted({*first, *second}) if first.get(name) != second.get(name)]
        return found or ["the archives differ, and none of their files"]


def _sums(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}

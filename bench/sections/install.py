"""What an installation costs: wheels, disk, the time of pip, the start; beside oha, one file, and Locust.

The wheel is the newest for this machine of `make wheel` or `make release`. Everything is fetched first, so
that pip installs from a folder of wheels.
"""

import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rows import Effort, Row, Section, spread

ROOT = Path(__file__).resolve().parents[2]
MAX_WHEELS_MB, MAX_DISK_MB, MAX_VERSION_S = 30, 130, 0.15


def run(effort: Effort) -> Section:
    built = [*(ROOT / "dist").rglob(f"jostle-*_{platform.machine()}.whl")]
    if not built:
        raise RuntimeError("there is no wheel for this machine in dist: make wheel")
    wheel = max(built, key=lambda path: path.stat().st_mtime)
    rows, samples = [], []
    for name, what in (("jostle", str(wheel)), ("Locust", "locust")):
        found = _installed(name.lower(), what, effort)
        bars = (MAX_WHEELS_MB, MAX_DISK_MB, None, MAX_VERSION_S) if name == "jostle" else (None,) * 4
        samples.append({"what": name, **found})
        rows += [
            _row(f"{name}: {measure}", values, bar)
            for (measure, values), bar in zip(found.items(), bars, strict=True)
        ]
    oha = shutil.which("oha")
    if oha is not None:
        megabytes = [Path(oha).stat().st_size / 1e6]
        seconds = _repeated(effort, lambda: _seconds(oha, "--version"))
        samples.append({"what": "oha", "disk, MB": megabytes, "--version, seconds": seconds})
        rows += [_row("oha: disk, MB", megabytes, None), _row("oha: --version, seconds", seconds, None)]
    return Section(rows, samples=samples)


def _row(what: str, values: list[float], bar: float | None) -> Row:
    reached = None if bar is None else sorted(values)[len(values) // 2] <= bar
    return Row(what, "" if bar is None else f"≤ {bar}", spread(values), reached)


def _installed(command: str, what: str, effort: Effort) -> dict[str, list[float]]:
    """Of a package and all that it needs, fetched into a folder and installed into empty environments."""
    wheels = effort.folder / f"{command}-wheels"
    empty, full = effort.folder / f"{command}-empty", effort.folder / f"{command}-full"
    _environment(empty)
    fetch = [empty / "bin" / "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", wheels, what]
    subprocess.run(fetch, check=True)
    seconds = _repeated(effort, lambda: _install(wheels, command, full))
    script = full / "bin" / command
    return {
        "wheels, MB": [_megabytes(wheels)],
        "disk, MB": [_megabytes(full) - _megabytes(empty)],
        "pip install from a folder, seconds": seconds,
        "--version, seconds": _repeated(effort, lambda: _seconds(script, "--version")),
    }


def _install(wheels: Path, command: str, full: Path) -> float:
    """Seconds of pip; afterwards `full` is an environment with the package."""
    _environment(full)
    pip = full / "bin" / "pip"
    return _seconds(pip, "install", "--quiet", "--no-index", "--find-links", wheels, command)


def _environment(folder: Path) -> None:
    """An environment with pip alone, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)


def _repeated(effort: Effort, measure: Callable[[], float]) -> list[float]:
    return [measure() for _ in range(1 if effort.quick else effort.rounds)]


def _seconds(*words: str | Path) -> float:
    started = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


def _megabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / 1e6

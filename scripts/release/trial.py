"""Tries a wheel on the machine that it is for: in an empty environment, and with nothing else on the PATH.

python scripts/release/trial.py WHEEL [OPTIONS OF PIP…]

It needs nothing but Python, and a clone for the golden reports. With --no-index --find-links FOLDER, pip
needs no network. Nothing here depends on time, so that it can be run under emulation.
"""

import json
import platform
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MEASURED = (0, 3)
"""Exit codes of what was measured: valid or suspect, and invalid, as it may well be on a slow machine."""

REQUESTS = 200

PLAN = """
title = "one server of the wheel"
contestants = ["reference-workers"]
rounds = 1
repeats = false
[workload.plain]
request = { get = "/" }
load = { clients = 1, for = "500ms" }
"""

GOLDEN = ("golden_reports", "report_exports", "report_terminal")
"""Tests of reports as they were."""

TEST_PACKAGES = ("hypothesis", "jsonschema", "pytest", "pytest-timeout")


class Wheel:
    """A wheel, installed in an environment of its own."""

    def __init__(self, wheel: Path, folder: Path, pip: list[str]) -> None:
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        self.pip = [self.bin / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        self.options = pip
        venv.create(folder / "venv", with_pip=True)
        self.install(wheel)

    def install(self, *what: str | Path) -> None:
        subprocess.run([*self.pip, *self.options, *what], check=True)

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.bin), "HOME": str(self.folder), "LANG": "C.UTF-8"}

    def run(self, command: str, *words: str | Path, fine: tuple[int, ...] = (0,)) -> str:
        """What the command prints."""
        done = subprocess.run(
            [self.bin / command, *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        if done.returncode not in fine:
            line = " ".join([command, *map(str, words)])
            raise SystemExit(f"✗ {line}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    @contextmanager
    def server(self, kind: str) -> Iterator[str]:
        """The URL of a reference server of the wheel."""
        words = [self.bin / "jostle-reference", kind, "--port", "0"]
        with subprocess.Popen(words, env=self.environment, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                yield f"http://{server.stdout.readline().split()[-1]}/"
            finally:
                server.terminate()


def hit(wheel: Wheel) -> str:
    with wheel.server("null") as url:
        words = [url, "-n", str(REQUESTS), "-c", "4", "--format", "json"]
        result = json.loads(wheel.run("jostle", "hit", *words, fine=MEASURED))
    outcomes = result["summaries"][0]["outcomes"]
    if outcomes != {"ok": REQUESTS}:
        raise SystemExit(f"✗ jostle hit: {outcomes} of {REQUESTS} requests")
    return f"{REQUESTS} requests, all answered"


def plan(wheel: Wheel) -> str:
    (wheel.folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    wheel.run("jostle", "check", "plan.toml")
    output = wheel.run("jostle", "run", "plan.toml", "--into", "runs", fine=MEASURED)
    if not (pages := [*wheel.folder.glob("runs/*/report.html")]):
        raise SystemExit(f"✗ jostle run plan.toml wrote no page:\n{output}")
    return f"checked, run, and reported on a page of {pages[0].stat().st_size:,} bytes"


def golden(wheel: Wheel) -> str:
    """With the wheel's code: of the clone only the tests are there."""
    shutil.copytree(ROOT / "tests", wheel.folder / "tests")
    wheel.install(*TEST_PACKAGES)
    files = [f"tests/unit/test_{name}.py" for name in GOLDEN]
    options = ["--import-mode=importlib", "-p", "no:cacheprovider", "-o", "pythonpath=tests", "--quiet"]
    return wheel.run("python", "-m", "pytest", *options, *files).strip().splitlines()[-1]


def main(words: list[str]) -> int:
    if not words:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        wheel = Wheel(Path(words[0]).resolve(), Path(folder), words[1:])
        engine = wheel.run("python", "-c", "import jostle._engine; print(jostle._engine.__file__)")
        assert engine.startswith(folder), engine
        print(f"✓ installed and imported on {platform.machine()}, Python {platform.python_version()}")
        print(f"✓ {wheel.run('jostle', '--version').strip()}")
        for what, part in (("hit", hit), ("plan", plan), ("golden reports", golden)):
            print(f"✓ {what}: {part(wheel)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

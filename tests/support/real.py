"""The real command and real servers, on port 0 and loopback."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jostle.contestant.tools import REFERENCE

REFERENCE_PROTO = Path(__file__).parents[2] / "crates" / "reference" / "src" / "echo.proto"
Jostle = Callable[..., subprocess.CompletedProcess[str]]


@contextlib.contextmanager
def reference_server(*arguments: str) -> Iterator[str]:
    """Start `jostle-reference` with these arguments on a free port; its URL."""
    process = subprocess.Popen([REFERENCE, *arguments, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"listening on (127\.0\.0\.1:\d+)\n", line)
        assert found, f"jostle-reference {arguments} said {line!r}"
        yield f"http://{found[1]}"
    finally:
        process.terminate()
        process.wait(10)


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "jostle", *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}


def as_json(finished: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON on standard output; fails with everything that was said when there is none."""
    try:
        parsed: dict[str, Any] = json.loads(finished.stdout)
    except json.JSONDecodeError:
        pytest.fail(f"exit code {finished.returncode}, no JSON:\n{finished.stdout}\n{finished.stderr}")
    return parsed


def recorded(base: Path, bytes_there: int = 20_000) -> None:
    """Return once a run under `base` has recorded some seconds of a trial."""
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        if any(file.stat().st_size >= bytes_there for file in base.glob("*/trials/*/intervals.hlog")):
            return
        time.sleep(0.05)
    pytest.fail(f"nothing was recorded under {base}")

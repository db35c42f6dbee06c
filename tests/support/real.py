"""The real command and real servers, on port 0 and loopback."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jostle.contestant.tools import REFERENCE
from support.waiting import eventually

REFERENCE_PROTO = Path(__file__).parents[2] / "crates" / "reference" / "src" / "echo.proto"
Jostle = Callable[..., subprocess.CompletedProcess[str]]
SILENTLY: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
"""For `jostle_running`, where nobody reads what it says."""


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


@contextlib.contextmanager
def jostle_running(*arguments: str | Path, **more: Any) -> Iterator["subprocess.Popen[str]"]:
    """`jostle …` beside the test, with pipes unless `more` says otherwise; it is ended with the block."""
    settings: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()}
    with subprocess.Popen(command(*arguments), text=True, **(settings | more)) as process:
        try:
            yield process
        finally:
            process.kill()  # ends it even if it is stopped


def as_json(finished: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON on standard output; fails with everything that was said when there is none."""
    try:
        parsed: dict[str, Any] = json.loads(finished.stdout)
    except json.JSONDecodeError:
        pytest.fail(f"exit code {finished.returncode}, no JSON:\n{finished.stdout}\n{finished.stderr}")
    return parsed


def recorded(base: Path, bytes_there: int = 20_000) -> None:
    """Return once a run under `base` has recorded some seconds of a trial."""

    def has_intervals() -> bool:
        return any(file.stat().st_size >= bytes_there for file in base.glob("*/trials/*/intervals.hlog"))

    eventually(has_intervals, f"nothing was recorded under {base}", 60)

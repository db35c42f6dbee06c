"""Programs of this folder that measure by themselves: the engine alone, and its floor in C."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["ENGINE", "printed"]

ENGINE = [sys.executable, str(Path(__file__).parent / "engine.py")]


def printed(command: Sequence[str]) -> dict[str, Any]:
    """What it prints, one object of JSON, once it has ended."""
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found

"""Files in docs/ that are made from the code are up to date."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "docs.py"


@pytest.mark.parametrize(("argument", "code"), [("--check", 0), ("--chek", 2)])
def test_what_is_made_from_the_code_is_up_to_date(argument: str, code: int) -> None:
    finished = subprocess.run([sys.executable, SCRIPT, argument], capture_output=True, text=True, check=False)
    assert finished.returncode == code, finished.stderr

"""Commands of jostle in this process."""

import contextlib
import io
from pathlib import Path

from jostle.cli import command


def run_command(name: str, *words: str | Path) -> tuple[int, str]:
    """Exit code and standard output of `jostle NAME WORDS…`. Raises what the command raises."""
    code, output = 0, io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            command(name)(args=list(map(str, words)), prog_name=f"jostle {name}")
    except SystemExit as left:
        code = int(left.code or 0)
    return code, output.getvalue()

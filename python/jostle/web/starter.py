"""Starts runs as processes of their own: `python -m jostle.web.starter`, a line of JSON for each.

It begins before the page steps back from the cores of generators, so what it starts is not held back. A run
that was started goes on when the page ends.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path

__all__ = ["Starter"]


class Starter:
    """The process that starts runs."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "jostle.web.starter"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def run(self, plan: Path, into: Path) -> Path:
        """Start `jostle run`. What it says goes to the file that is returned; a file beside it, ".ended",
        appears when it has ended."""
        said = plan.with_suffix(".log")
        argv = [sys.executable, "-m", "jostle", "run", str(plan), "--into", str(into), "--quiet"]
        assert self._process.stdin is not None
        print(json.dumps({"argv": argv, "said": str(said)}), file=self._process.stdin, flush=True)
        return said


def main() -> None:
    """Returns when the page is gone; what was started goes on."""
    for line in sys.stdin:
        job = json.loads(line)
        said = Path(job["said"])
        with said.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(
                job["argv"], stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )
        threading.Thread(target=_wait, args=(process, said), daemon=True).start()


def _wait(process: "subprocess.Popen[bytes]", said: Path) -> None:
    process.wait()
    said.with_suffix(".ended").touch()


if __name__ == "__main__":
    main()

"""The page of `jostle web`, and those who watch a run on it: on the server's core, where it puts itself."""

import contextlib
import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from watched import SERVER_CORE, Watched, watched

__all__ = ["page", "port_of", "viewers"]

VIEWERS = Path(__file__).with_name("viewers.py")
PATIENCE_S = 30


@contextlib.contextmanager
def page(runs: Path, folder: Path) -> Iterator[tuple[Watched, int]]:
    """The process of a page on `runs`, and its port. `folder` is for what it says."""
    folder.mkdir()
    command: list[str | Path] = [sys.executable, "-m", "jostle", "web", runs, "--port", "0"]
    with watched(command, folder, SERVER_CORE) as process:
        yield process, port_of(process)


def port_of(process: Watched) -> int:
    """Where the page of a command is, once it says so."""
    give_up = time.monotonic() + PATIENCE_S
    while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/", process.said())):
        process.check()
        if time.monotonic() > give_up:
            raise RuntimeError(f"the page does not say where it is: {process.said()}")
        time.sleep(0.05)
    return int(found[1])


@contextlib.contextmanager
def viewers(port: int, run: str, count: int, folder: Path) -> Iterator[list[int]]:
    """So many viewers of a run; afterwards the list has how many events each of them got.

    Raises `RuntimeError` if one got none.
    """
    folder.mkdir()
    events: list[int] = []
    with watched([sys.executable, VIEWERS, str(port), run, str(count)], folder, SERVER_CORE) as them:
        yield events
        them.check()
        them.end()
        events += json.loads(them.said())
    if not all(events):
        raise RuntimeError(f"not all of {count} viewers saw the run: {events}")

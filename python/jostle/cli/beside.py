"""`--web`: the page of a run, served by a process of its own as long as the command measures."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from jostle.cli.options import OUTPUT, option
from jostle.errors import JostleError

__all__ = ["ShownInBrowser", "page_beside"]

ShownInBrowser = Annotated[
    bool,
    option("--web", help="Show the run in a browser while it goes on, at the address printed.", group=OUTPUT),
]

PATIENCE_S = 10
"""How long the page may take to tell its viewers how the run ended."""


@contextlib.contextmanager
def page_beside(folder: Path, *, shown: bool) -> Iterator[None]:
    """Inside, a page shows the runs that are recorded in `folder`, if it is to be `shown`."""
    if not shown:
        yield
        return
    from jostle.extras import require

    require("web", "--web")
    # In a session of its own, Ctrl-C is none of its business; it ends when this process lets go of it.
    command = [sys.executable, "-P", "-m", "jostle.web.beside", str(folder)]
    page = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert page.stdout is not None
        address = page.stdout.readline().strip()
        if not address:
            raise JostleError(
                "the page for --web did not start", "run it without --web, and jostle web beside"
            )
        print(f"page        {address}", file=sys.stderr, flush=True)
        yield
    finally:
        assert page.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            page.stdin.close()
        try:
            page.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            page.kill()
            page.wait()
        assert page.stdout is not None
        page.stdout.close()

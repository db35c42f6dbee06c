"""The page beside a command that measures: `python -m jostle.web.beside FOLDER`.

It writes the address to open to standard output, and ends when standard input does.
"""

import sys
from pathlib import Path

from jostle.web.access import Access
from jostle.web.app import Web
from jostle.web.listener import listen
from jostle.web.runs import Runs
from jostle.web.serving import give_way, serve

__all__ = ["main"]


def main(folder: Path) -> None:
    """Returns when whoever started it is gone."""
    with listen() as listener:
        access = Access()
        web = Web(Runs.at(folder), access)
        cores = give_way()
        print(listener.url(access.token, "live"), flush=True)
        serve(web, listener, beside=cores)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

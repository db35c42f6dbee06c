"""`jostle history [FOLDER]`: runs over time."""

import json
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["history"]

HELP = """List the runs in a folder by plan, server and workload, newest last, and say
since when a figure has been higher or lower.

\b
  jostle history                            all runs in ./runs
  jostle history runs --contestants node    only this server

Figures are kept in FOLDER/index.ndjson and computed again when a run has
changed, or when you have deleted that file.
"""


def history(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Folder of runs (runs).")] = Path("runs"),
    contestants: Annotated[
        str | None, typer.Option("--contestants", metavar="A,B,…", help="Only these servers.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> int:
    from dataclasses import asdict

    from jostle.analysis.history import history as read
    from jostle.analysis.history import only
    from jostle.cli.options import split_contestants

    entries, unreadable = read(folder)
    nothing = "no run was found"
    if entries and (whom := split_contestants(contestants)) is not None:
        entries, nothing = only(entries, whom), "none of these contestants was measured"
    if as_json:
        print(
            json.dumps({"runs": [asdict(e) for e in entries], "unreadable": [asdict(u) for u in unreadable]})
        )
        return 0
    from rich.console import Console

    from jostle.report.history import render_history

    render_history(entries, unreadable, Console(), nothing)
    return 0

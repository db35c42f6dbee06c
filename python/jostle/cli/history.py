"""`jostle history [FOLDER]`: runs over time."""

import json
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["history"]

HELP = """Show the runs in a folder over time: by plan, contestant and workload, the newest last.

\b
  jostle history                            all runs in ./runs
  jostle history runs --contestants node    only this contestant
  jostle history runs --json                for machines

The figures of each run are kept in FOLDER/index.ndjson and made anew when a run has changed; --rebuild makes
all of them anew.
"""


def history(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Holds the folders of runs.")] = Path(
        "runs"
    ),
    contestants: Annotated[
        str | None, typer.Option("--contestants", help="Only these, comma-separated.")
    ] = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Analyse every run again.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on standard output.")] = False,
) -> int:
    from dataclasses import asdict

    from jostle.analysis.history import history as read
    from jostle.cli.options import split_contestants

    entries, unreadable = read(folder, rebuild=rebuild)
    if as_json:
        print(
            json.dumps({"runs": [asdict(e) for e in entries], "unreadable": [asdict(u) for u in unreadable]})
        )
        return 0
    from rich.console import Console

    from jostle.report.history import render_history

    render_history(entries, unreadable, split_contestants(contestants), Console())
    return 0

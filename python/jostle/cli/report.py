"""`jostle report RUN`: what a run on disk says."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["report"]

HELP = """Analyse a run on disk again and show it; a run that was cut short too.

\b
  jostle report runs/2026-11-21T18-52-34-starvation                   table, page and pictures
  jostle report runs/2026-11-21T18-52-34-starvation --format json     one form, on standard output
"""


class Format(StrEnum):
    """Forms that go to standard output."""

    html = "html"
    md = "md"
    csv = "csv"
    json = "json"


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs.")],
    form: Annotated[
        Format | None, typer.Option("--format", help="html, md, csv or json on standard output.")
    ] = None,
) -> int:
    from jostle.cli.carry_out import show

    if form is None:
        return max(show(folder, as_json=False, pages=True) for folder in folders)
    for folder in folders:
        _write(folder, form)
    return 0


def _write(folder: Path, form: Format) -> None:
    from jostle import report as reports
    from jostle.analysis.run import analyse
    from jostle.record import RunRecord

    result = analyse(RunRecord.open(folder), distributions=True)
    match form:
        case Format.html:
            print(reports.page(result))
        case Format.md:
            print(reports.to_markdown(result), end="")
        case Format.csv:
            print(reports.to_csv(result), end="")
        case Format.json:
            print(json.dumps(reports.to_json(result), indent=2))


report.__doc__ = HELP

"""`jostle report RUN`: what a run on disk says."""

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["report"]

HELP = """Analyse a run on disk again and show it; a run that was cut short too.

\b
  jostle report runs/2026-11-21T18-52-34-starvation                   table, page and pictures
  jostle report runs/2026-11-21T18-52-34-starvation --format json     one form, on standard output
  jostle report runs/2026-11-21T18-52-34-starvation --format png      files in its folder; svg too

junit has a test case for each requirement of the plan and for the validity of each workload; hgrm is
HdrHistogram's percentile output, a file per contestant and workload. The form of json is in
docs/result.schema.json.
"""


class Format(StrEnum):
    """Forms that go to standard output, and files that go into the run's folder."""

    html = "html"
    md = "md"
    csv = "csv"
    json = "json"
    junit = "junit"
    png = "png"
    svg = "svg"


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs.")],
    form: Annotated[
        Format | None, typer.Option("--format", help="html, md, csv, json, junit; files: png, svg.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Print all tables, reasons and claims, not the answer alone.")
    ] = False,
) -> int:
    from jostle.cli.carry_out import show

    if form is None:
        return max(show(folder, as_json=False, pages=True, full=full) for folder in folders)
    for folder in folders:
        _write(folder, form)
    return 0


def _write(folder: Path, form: Format) -> None:
    from jostle import report as reports
    from jostle.analysis.run import analyse
    from jostle.cli.carry_out import report_written
    from jostle.record import RunRecord

    record = RunRecord.open(folder)
    result = analyse(record, distributions=True)
    match form:
        case Format.html:
            print(reports.page(result))
        case Format.md:
            print(reports.to_markdown(result), end="")
        case Format.csv:
            print(reports.to_csv(result), end="")
        case Format.json:
            print(json.dumps(reports.to_json(result), indent=2))
        case Format.junit:
            print(reports.to_junit(result), end="")
        case Format.png | Format.svg:
            with report_written(folder):
                _list(path for path in reports.write_pictures(result, folder) if path.suffix == f".{form}")


def _list(paths: Iterable[Path]) -> None:
    for path in paths:
        print(path)

"""`jostle report RUN`: shows a recorded run."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.exit_codes import ExitCode, exit_code_of_all
from jostle.cli.options import OUTPUT, run_folders
from jostle.cli.output import FORMS, Form, OutputFile, UndecidedAs, put, report_written
from jostle.errors import PlanError

__all__ = ["report"]

HELP = """Analyse a recorded run again and show it, even an interrupted one.

\b
  jostle report runs/2026-…                       result, page and pictures
  jostle report runs/2026-… --full                every table in the terminal
  jostle report runs/2026-… --format json         one format, on standard output
  jostle report runs/2026-… -o result.xml         JUnit, into a file
  jostle report runs/2026-… --format svg          pictures, into the run's folder

JUnit has a test case for each requirement of the plan and for the validity
of each workload. docs/result.schema.json describes the JSON. With --format or
-o the exit code says only whether the file was written.
"""


class Shape(StrEnum):
    """The forms of `jostle.cli.output.Form`, and pictures, which are files in the run's folder."""

    text = "text"
    html = "html"
    md = "md"
    csv = "csv"
    json = "json"
    junit = "junit"
    png = "png"
    svg = "svg"


PICTURES = (Shape.png, Shape.svg)
ONE_DOCUMENT = (Shape.html, Shape.csv, Shape.json, Shape.junit)
"""Forms of which two in a row are no document any more."""


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs.")],
    form: Annotated[
        Shape | None,
        typer.Option(
            "--format",
            metavar="FORM",
            help=f"Format: {', '.join(Shape)}.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output: OutputFile = None,
    full: Annotated[
        bool, typer.Option("--full", help="Print all tables, reasons and claims.", rich_help_panel=OUTPUT)
    ] = False,
    undecided: UndecidedAs = None,
) -> int:
    folders = run_folders(folders)
    if form is None and output is None:
        from jostle.cli.carry_out import show

        return exit_code_of_all(
            [show(folder, Form.text, None, pages=True, undecided=undecided, full=full) for folder in folders]
        )
    if output is not None and (len(folders) > 1 or form in PICTURES):
        raise PlanError("--output takes one form of one run", "pictures are written into the run's folder")
    if form in ONE_DOCUMENT and len(folders) > 1:
        raise PlanError(
            f"--format {form} is one document of one run, and {len(folders)} are named",
            f'for run in {" ".join(map(str, folders[:2]))} …; do jostle report "$run" --format {form}; done',
        )
    for folder in folders:
        _write(folder, form, output, full=full)
    return ExitCode.DONE


def _write(folder: Path, form: Shape | None, output: Path | None, *, full: bool) -> None:
    from jostle.analysis.run import analyse
    from jostle.record import RunRecord

    result = analyse(RunRecord.open(folder), distributions=True)
    if form in PICTURES:
        again = f"the record is complete; when there is room: jostle report {folder}"
        from jostle.report import write_pictures

        with report_written(f"the pictures in {folder}", again):
            for path in write_pictures(result, folder):
                if path.suffix == f".{form}":
                    print(path)
        return
    put(result, Form(form) if form is not None else FORMS[output.suffix], output, full=full)  # type: ignore[union-attr]

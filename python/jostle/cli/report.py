"""`jostle report RUN`: shows a recorded run."""

from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.exit_codes import ExitCode, exit_code_of_all
from jostle.cli.options import OUTPUT, option, run_folders, unfold
from jostle.cli.output import ReportOutput, UndecidedAs, report_written, write
from jostle.errors import PlanError
from jostle.report.export import PICTURES, Form

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


IN_A_ROW = (Form.text, Form.md, *PICTURES)
"""Forms of which several are a document too, or files of their own."""


@unfold
def report(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs.")],
    *,
    output: ReportOutput,
    full: Annotated[
        bool, option("--full", help="Print all tables, reasons and claims.", group=OUTPUT)
    ] = False,
    undecided: UndecidedAs = None,
) -> int:
    from jostle.cli.execution import show

    folders = run_folders(folders)
    if output == ReportOutput():
        return exit_code_of_all(
            [show(folder, output, pages=True, undecided=undecided, full=full) for folder in folders]
        )
    if output.file is not None and (len(folders) > 1 or output.printed in PICTURES):
        raise PlanError("--output takes one form of one run", "pictures are written into the run's folder")
    if len(folders) > 1 and output.printed not in IN_A_ROW:
        raise PlanError(
            f"--format {output.printed} is one document of one run, and {len(folders)} are named",
            f"for run in {' '.join(map(str, folders[:2]))} …; "
            f'do jostle report "$run" --format {output.printed}; done',
        )
    for folder in folders:
        _write(folder, output, full=full)
    return ExitCode.DONE


def _write(folder: Path, output: ReportOutput, *, full: bool) -> None:
    from jostle.analysis.run import analyse
    from jostle.record import RunRecord
    from jostle.report import document_of
    from jostle.report.files import write_pictures

    record = RunRecord.open(folder)
    result = analyse(record, distributions=True)
    if output.printed not in PICTURES:
        write(document_of(result, full=full, trials=record.trials), output)
        return
    again = f"the record is complete; when there is room: jostle report {folder}"
    with report_written(f"the pictures in {folder}", again):
        for path in write_pictures(result, folder, [output.printed]):
            print(path)

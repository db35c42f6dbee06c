"""What `hit`, `race` and `run` have in common: run a plan or what is left of it, and show the result."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jostle.cli.beside import page_beside
from jostle.cli.display import Display
from jostle.cli.exit_codes import (
    ExitCode,
    Undecided,
    exit_code,
    is_valid,
    undecided_of,
    was_measured,
)
from jostle.cli.output import ResultOutput, RunOutput, report_written, write
from jostle.cli.progress import RunProgress
from jostle.errors import JostleError, NotARun, RecordLost
from jostle.extras import install_command, is_installed
from jostle.generator import executor_for
from jostle.plan import Plan
from jostle.report.export import Form
from jostle.runner.experiment import resume_experiment, run_experiment
from jostle.runner.interrupt import let_signals_stop_like_ctrl_c
from jostle.runner.observer import Observer, RunFolder, together

if TYPE_CHECKING:
    from jostle.analysis.results import Decision, RunResult

__all__ = ["has_intervals", "resume_run", "run_plan", "show"]


def run_plan(
    plan: Plan, base: Path, slug: str, *, seed: int | None, output: RunOutput, kept: bool = True
) -> int:
    """Run `plan` and show its result. Returns the exit code. `kept`: the record stays in `base`."""
    executor = executor_for(plan)
    with page_beside(base, shown=output.web):
        return _execute(
            lambda observer: run_experiment(plan, base, slug, seed, executor, observer),
            plan,
            output,
            kept=kept,
        )


def resume_run(folder: Path, output: RunOutput) -> int:
    """Finish the run in `folder` and show its result. Returns the exit code."""
    from jostle.record import RunRecord
    from jostle.runner.resume import unfinished

    run = unfinished(folder)
    if run is None:
        state = "complete" if RunRecord.open(folder).complete else "damaged, but has ended"
        print(f"{folder} is {state}: nothing to do", file=sys.stderr)
        return show(folder, output, pages=output.pages, undecided=output.undecided_as)
    print(f"{len(run.left)} of {len(run.trials)} trials are left", file=sys.stderr)
    executor = executor_for(run.plan)
    with page_beside(folder, shown=output.web):
        return _execute(lambda observer: resume_experiment(run, executor, observer), run.plan, output)


def _execute(work: Callable[[Observer], Path], plan: Plan, output: RunOutput, *, kept: bool = True) -> int:
    """Show what was measured, whatever ended the run. If nothing was, the error is raised."""
    folder, display = RunFolder(), Display(sys.stderr, quiet=output.quiet)
    let_signals_stop_like_ctrl_c()
    pages = output.pages
    try:
        work(together(folder, RunProgress(display, verbose=output.verbose)))
        display.close()
        if plan.explain is not None and folder.path is not None:
            from jostle.explain.documents.folder import explain_contestants

            explain_contestants(plan, folder.path, lambda text: print(text, file=sys.stderr, flush=True))
    except KeyboardInterrupt:
        if not has_intervals(folder.path):
            raise
    except JostleError as error:
        if not has_intervals(folder.path):
            raise
        print(f"jostle: {error}", file=sys.stderr)
        pages = pages and not isinstance(error, RecordLost)  # pages could not be written either
    finally:
        display.close()
    assert folder.path is not None
    return show(folder.path, output, pages=pages, undecided=output.undecided_as, kept=kept)


def has_intervals(folder: Path | None) -> bool:
    """Whether any of the load was recorded. `folder`: the run's, None if it had none yet."""
    from jostle.record import RunRecord

    if folder is None:
        return False
    try:
        return any(next(trial.intervals, None) for trial in RunRecord.open(folder).trials)
    except NotARun:
        return False


def show(
    folder: Path,
    output: ResultOutput,
    *,
    pages: bool,
    undecided: Undecided | None,
    full: bool = False,
    kept: bool = True,
) -> ExitCode:
    """Analyse the run in `folder`, write its result and its pages. Returns the exit code.

    `full`: as text, everything is shown. `kept`: the folder stays, so the result may name it.
    """
    from jostle.analysis.run import analyse
    from jostle.record import RunRecord
    from jostle.report import document_of

    record = RunRecord.open(folder)
    result = analyse(record)
    shown = result if kept else replace(result, folder="", finish="")
    write(document_of(shown, full=full, trials=record.trials), output)
    say = output.printed is Form.text
    if pages:
        _write_pages(result, folder, say=say)
    elif kept and say:
        print(f"\nrecord      {folder}\npage        jostle report {folder}")
    names = undecided_of(result)
    if names and say:
        print(f"undecided   {', '.join(names)}")
    decisions: list[Decision] = [requirement.verdict for requirement in result.requirements]
    decisions += ["undecided" for _ in names]
    return exit_code(decisions, measured=was_measured(result), valid=is_valid(result), undecided=undecided)


def _write_pages(result: "RunResult", folder: Path, *, say: bool) -> None:
    from jostle.report.files import write_page, write_pictures

    page = folder / "report.html"
    again = f"the record is complete; when there is room: jostle report {folder}"
    with report_written(f"the report in {folder}", again):
        write_page(result, page)
        if is_installed("pictures"):
            write_pictures(result, folder)
    if say:
        gap = "" if result.claims else "\n"  # the tally of claims is a line like these two
        print(f"{gap}report      {page}\ndetails     jostle report --full {folder}")
        if not is_installed("pictures"):
            print(f"pictures    as PNG and SVG files, too: {install_command('pictures')}")

"""What `hit`, `race` and `run` have in common: run a plan or what is left of it, show the result."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jostle.cli.progress import observer_for
from jostle.errors import JostleError, NotARun, RecordLost
from jostle.generator import executor_for
from jostle.plan import Plan
from jostle.record import outcomes
from jostle.record.verdict import Verdict
from jostle.runner.experiment import Outcome, resume_experiment, run_experiment
from jostle.runner.interrupt import let_signals_stop_like_ctrl_c
from jostle.runner.observer import Silent, UntilItFails
from jostle.text import reason

if TYPE_CHECKING:
    from jostle.analysis.results import RunResult

__all__ = ["carry_out", "go_on", "report_written", "show"]


def carry_out(plan: Plan, base: Path, slug: str, *, seed: int | None, as_json: bool, pages: bool) -> int:
    """Run `plan`, print its result, write its pages when asked to; the exit code."""
    executor = executor_for(plan)
    return _carried_out(
        lambda observer: run_experiment(plan, base, slug, seed, executor, observer),
        as_json=as_json,
        pages=pages,
    )


def go_on(folder: Path, *, as_json: bool, pages: bool) -> int:
    """Finish the run in `folder`, print its result, write its pages when asked to; the exit code."""
    from jostle.runner.resume import unfinished

    run = unfinished(folder)
    if run is None:
        print(f"{folder} is complete: nothing to do (jostle report {folder} shows it)", file=sys.stderr)
        return 0
    print(f"{len(run.left)} of {len(run.trials)} trials are left", file=sys.stderr)
    executor = executor_for(run.plan)
    return _carried_out(
        lambda observer: resume_experiment(run, executor, observer), as_json=as_json, pages=pages
    )


def _carried_out(work: Callable[[Silent], Outcome], *, as_json: bool, pages: bool) -> int:
    """What was measured is shown whatever ended the run; an error is raised where nothing was."""
    observer = UntilItFails(Silent() if as_json else observer_for(sys.stderr))
    let_signals_stop_like_ctrl_c()
    complete = False
    try:
        complete = work(observer).complete
    except KeyboardInterrupt:
        if observer.folder is None:
            raise
    except JostleError as error:
        if observer.folder is None or not _has_intervals(observer.folder):
            raise
        print(f"jostle: {error}", file=sys.stderr)
        pages = pages and not isinstance(error, RecordLost)  # where the record cannot be written, nothing can
    finally:
        observer.close()
    assert observer.folder is not None
    code = show(observer.folder, as_json=as_json, pages=pages)
    return code if complete else 1


def _has_intervals(folder: Path) -> bool:
    """Whether anything of the load was recorded."""
    from jostle.record import RunRecord

    try:
        return any(next(trial.intervals, None) for trial in RunRecord.open(folder).trials)
    except NotARun:
        return False


def show(folder: Path, *, as_json: bool, pages: bool, full: bool = False) -> int:
    """Analyse the run in `folder` and show it, with `full` all its tables; the exit code.

    1 when it is invalid, a requirement fails, or nothing was answered; else 0.
    """
    from jostle import report
    from jostle.analysis.run import analyse
    from jostle.record import RunRecord

    result = analyse(RunRecord.open(folder), distributions=pages or not as_json)
    if as_json:
        print(json.dumps(report.to_json(result)))
    else:
        _print(result, full=full)
    if pages:
        _write_pages(result, folder, quiet=as_json)
    failed = any(requirement.verdict == "fail" for requirement in result.requirements)
    unanswered = not any(cell.outcomes.get(outcomes.Outcome.OK) for cell in result.summaries)
    return 1 if failed or unanswered or result.verdict is Verdict.INVALID else 0


def _print(result: "RunResult", *, full: bool) -> None:
    from rich.console import Console

    from jostle import report

    report.render_terminal(result, Console(), full=full)


@contextlib.contextmanager
def report_written(folder: Path) -> Iterator[None]:
    """Where a file of the report cannot be written, one message says so, and what to do."""
    try:
        yield
    except OSError as error:
        raise JostleError(
            f"the report in {folder} could not be written: {reason(error)}",
            f"the record is not touched; when there is room: jostle report {folder}",
        ) from None


def _write_pages(result: "RunResult", folder: Path, *, quiet: bool) -> None:
    from jostle import report

    page = folder / "report.html"
    with report_written(folder):
        report.write_page(result, page)
        pictures = report.write_pictures(result, folder)
    if not quiet:
        print(f"\nreport    {page}")
        for picture in pictures:
            print(f"picture   {picture}")

"""`jostle compare`: two runs, or two contestants of one run."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.beside import ShownInBrowser, page_beside
from jostle.cli.exit_codes import ExitCode, Undecided, exit_code
from jostle.cli.options import IntoOfBoth, is_given, option, run_folders, unfold
from jostle.cli.output import ComparisonOutput, UndecidedAs, write
from jostle.errors import JostleError, PlanError, UserError
from jostle.report.export import Form, render
from jostle.text import reason

if TYPE_CHECKING:
    from jostle.analysis.results import CompareResult
    from jostle.api import Comparison
    from jostle.report.document import Document

__all__ = ["compare"]

HELP = """Compare two contestants of a run, or two runs: which is slower, where, by how much.

\b
  jostle compare RUN --contestants before,after    1 if 'after' is slower
  jostle compare RUN --contestants before,after --fail-if "slower by 3 %"
  jostle compare RUN --contestants node,go --fail-if "p99 > +5 %"
  jostle compare runs/before runs/after            side by side
  jostle compare A1 A2 A3 vs B1 B2 B3              three or more runs on each side
  jostle compare --interleaved old.toml new.toml   measure both plans in one run
  jostle compare --commits main,HEAD plan.toml     measure two commits in one run

'slower' is one test of the mean, p50, p75, p90, p95, p99, errors and CPU per
request, and of the throughput where the plan does not give the rate. Of equal
servers it fails in 2.5 % of runs, however many metrics and workloads there
are. 'faster' and 'changed' are tested likewise. 'slower by 3 %': only a change
that surely is larger fails; where that is not decided, the exit code is 4.

A limit is about the change of one metric, any that plans know: in percent, or
in the metric's unit ("p50 > +2 ms"); for errors in percentage points. It is met
(exit code 1) if the whole 95 % interval of the change meets it, and undecided
(4) if only part of the interval does.

Two single runs cannot tell a change from chance, unless three more runs of the
plan are in the same folder, which say how much runs differ: use --interleaved
to measure both in one run, or give three runs on each side. On GitHub the result is added
to the job summary.

With --commits, the folders of the plan's contestants are those of two commits of
its repository, which are checked out elsewhere for the time of the run.
"""


VERSUS = Path("vs")
"""Separates the runs of the first side from those of the second."""

WHAT = "Comparison"


@unfold
def compare(
    context: typer.Context,
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN [RUN …]",
            help="One run (with --contestants), two runs, or A… vs B…; with --interleaved, two plans; with "
            "--commits, one.",
        ),
    ],
    *,
    contestants: Annotated[
        str | None,
        option(
            "--contestants",
            metavar="A,B",
            help="Two contestants of one run: node,go.",
            group=WHAT,
        ),
    ] = None,
    fail_if: Annotated[
        list[str],
        option(
            "--fail-if",
            metavar="CONDITION",
            help='For example "slower by 3 %" or "p99 > +5 %"; repeatable (default: slower).',
            show_default=False,
            group=WHAT,
        ),
    ] = ["slower"],  # noqa: B006 (typer copies it)
    interleaved: Annotated[
        bool,
        option(
            "--interleaved",
            help="Measure two plans alternately in one run, and compare them.",
            group=WHAT,
        ),
    ] = False,
    commits: Annotated[
        str | None,
        option(
            "--commits",
            metavar="A,B",
            help="Measure a plan's servers as they are in two commits of its repository, in one run: "
            "branches, tags or hashes.",
            group=WHAT,
        ),
    ] = None,
    into: IntoOfBoth = Path("runs"),
    web: ShownInBrowser = False,
    output: ComparisonOutput,
    undecided: UndecidedAs = None,
) -> int:
    from jostle import api
    from jostle.cli.options import split_contestants
    from jostle.report import document_of

    sides: list[Path] | list[list[Path]] = folders
    if interleaved or commits is not None:
        if interleaved and (len(folders) != 2 or contestants is not None or commits is not None):
            raise PlanError("--interleaved takes two plans", "jostle compare --interleaved old.toml new.toml")
        if interleaved:
            measure = partial(api.compare_plans, *folders)
        else:
            measure = partial(api.compare_commits, *_one_plan(folders, contestants, commits or ""))
        with page_beside(into, shown=web):
            result, run = _measured(measure, into, fail_if)
        folders = [run]
    elif name := next((name for name in ("into", "web") if is_given(context, name)), None):
        raise PlanError(
            f"--{name} is for the run that --interleaved or --commits makes", "give both, or leave it out"
        )
    else:
        folders = sides = run_folders(folders)
        if VERSUS in folders:
            at = folders.index(VERSUS)
            sides = [folders[:at], folders[at + 1 :]]
        elif len(folders) > 2:
            raise PlanError(
                f"{len(folders)} runs, and nothing says which are compared with which",
                "jostle compare A1 A2 A3 vs B1 B2 B3",
            )
        result = api.compare(*sides, contestants=split_contestants(contestants), fail_if=fail_if).result
    document = document_of(_with_undecided(result, undecided))
    write(document, output)
    _add_to_job_summary(document)
    decisions = (condition.verdict for condition in result.conditions)
    complete = _are_complete(folder for folder in folders if folder != VERSUS)
    return exit_code(decisions, measured=complete, undecided=undecided)


def _one_plan(folders: Sequence[Path], contestants: str | None, commits: str) -> tuple[Path, str, str]:
    """The plan of --commits, and the two commits."""
    names = [name.strip() for name in commits.split(",")]
    if len(folders) != 1 or contestants is not None or len(names) != 2 or not all(names):
        raise PlanError(
            "--commits takes two commits and one plan", "jostle compare --commits main,HEAD plan.toml"
        )
    return folders[0], names[0], names[1]


def _measured(
    measure: "Callable[..., Comparison]", into: Path, fail_if: Sequence[str]
) -> "tuple[CompareResult, Path]":
    """Measure two sides in one run. Returns their comparison, and the folder of the run."""
    from jostle.cli.display import Display
    from jostle.cli.execution import has_intervals
    from jostle.cli.progress import RunProgress
    from jostle.runner.interrupt import let_signals_stop_like_ctrl_c
    from jostle.runner.observer import RunFolder, together

    folder, display = RunFolder(), Display(sys.stderr)
    observer = together(folder, RunProgress(display))
    let_signals_stop_like_ctrl_c()
    try:
        result = measure(into=into, fail_if=fail_if, observer=observer).result
    except KeyboardInterrupt:
        if not has_intervals(folder.path):
            raise
        raise JostleError(
            f"stopped before there was a comparison; what was measured is in {folder.path}",
            f"jostle report {folder.path} shows it",
        ) from None
    except UserError as error:
        if not has_intervals(folder.path):
            raise
        raise JostleError(error.message, f"jostle report {folder.path} shows what was measured") from None
    finally:
        display.close()
    assert folder.path is not None
    return result, folder.path


def _are_complete(runs: Iterable[Path]) -> bool:
    """Whether all of the runs are complete; those that are not are named."""
    from jostle.record import RunRecord

    cut_short = [record for run in runs if not (record := RunRecord.open(run)).complete]
    for record in cut_short:
        print(f"{record.folder} is not complete: {record.incomplete_why}", file=sys.stderr)
    return not cut_short


def _with_undecided(result: "CompareResult", undecided: Undecided | None) -> "CompareResult":
    """The result with a note that names the conditions that are not decided, and what that means."""
    names = [f"{c.condition} ({c.workload})" for c in result.conditions if c.verdict == "undecided"]
    if not names:
        return result
    means = {
        None: f"Exit code {ExitCode.UNDECIDED}; --undecided pass makes it {ExitCode.DONE}.",
        Undecided.ok: "That passes, because of --undecided pass.",
        Undecided.fail: "That fails, because of --undecided fail.",
    }
    named = ", ".join(dict.fromkeys(names))
    return replace(result, notes=[f"Undecided: {named}. {means[undecided]}", *result.notes])


def _add_to_job_summary(document: "Document") -> None:
    """Append the result to the file that GitHub shows as the job summary, if there is one.

    If that fails, the comparison is decided all the same.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(render(document, Form.md))
    except OSError as error:
        print(f"the job summary {path} could not be written: {reason(error)}", file=sys.stderr)

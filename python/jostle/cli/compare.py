"""`jostle compare`: two runs, or two contestants of one run."""

import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from jostle.cli.exit_codes import exit_code
from jostle.cli.options import OUTPUT, IntoOfBoth, is_given, run_folders
from jostle.cli.output import UndecidedAs, output_option, report_written
from jostle.errors import JostleError, PlanError, UserError
from jostle.host.files import write_whole
from jostle.text import reason

if TYPE_CHECKING:
    from jostle.analysis.results import CompareResult

__all__ = ["compare"]

HELP = """Compare two contestants of a run, or two runs: what differs, and by how much.

\b
  jostle compare RUN --contestants node,go         go against node
  jostle compare RUN --contestants node,go --fail-if "p99 > +5 %"
  jostle compare runs/before runs/after            side by side, nothing decided
  jostle compare A1 A2 A3 vs B1 B2 B3              three or more runs on each side
  jostle compare --interleaved old.toml new.toml   measure both plans in one run

Two single runs cannot tell a change from chance: use --interleaved to measure
both in one run, or give three runs on each side.

A --fail-if condition is about the change from the first to the second in
throughput, p50, p90, p99, p99.9 or errors: in percent, or in the metric's unit
("p50 > +2 ms"); for errors in percentage points. It is met (exit code 1) if the
whole 95 % interval of the change meets it, and undecided (4) if only part of
the interval does. With two single runs it is always undecided. On GitHub the
result is added to the job summary.
"""


class Format(StrEnum):
    """Forms of the result."""

    text = "text"
    md = "md"
    json = "json"
    junit = "junit"


VERSUS = Path("vs")
"""Separates the runs of the first side from those of the second."""

WHAT = "Comparison"

FORMS = {".txt": Format.text, ".md": Format.md, ".json": Format.json, ".xml": Format.junit}
"""The forms by the suffix of `--output`."""


def compare(
    context: typer.Context,
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN [RUN …]",
            help="One run (with --contestants), two runs, or A… vs B…; with --interleaved, two plans.",
        ),
    ],
    contestants: Annotated[
        str | None,
        typer.Option(
            "--contestants",
            metavar="A,B",
            help="Two contestants of one run: node,go.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help='For example "p99 > +5 %"; repeatable.',
            rich_help_panel=WHAT,
        ),
    ] = None,
    interleaved: Annotated[
        bool,
        typer.Option(
            "--interleaved",
            help="Measure two plans alternately in one run, and compare them.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    into: IntoOfBoth = Path("runs"),
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            metavar="FORM",
            help=f"Format: {', '.join(Format)} (default: text, or by the suffix of --output).",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output: Annotated[Path | None, output_option(FORMS)] = None,
    undecided: UndecidedAs = None,
) -> int:
    from jostle import api
    from jostle.cli.options import split_contestants

    if output is not None and output.suffix not in FORMS:
        raise PlanError(
            f"--output: a comparison cannot be written as {output.suffix}", f"use one of {', '.join(FORMS)}"
        )
    chosen = form or (FORMS[output.suffix] if output is not None else Format.text)
    sides: list[Path] | list[list[Path]] = folders
    if interleaved:
        if len(folders) != 2 or contestants is not None:
            raise PlanError("--interleaved takes two plans", "jostle compare --interleaved old.toml new.toml")
        result, run = _measured(folders, into, fail_if or ())
        folders = [run]
    elif is_given(context, "into"):
        raise PlanError("--into is for the run that --interleaved makes", "give both, or leave it out")
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
        result = api.compare(*sides, contestants=split_contestants(contestants), fail_if=fail_if or ()).result
    if output is None:
        _print(result, chosen, sys.stdout)
    else:
        written = io.StringIO()
        _print(result, chosen, written)
        with report_written(str(output), "choose another place for --output"):
            write_whole(output, written.getvalue())
    _add_to_job_summary(result)
    decisions = (condition.verdict for condition in result.conditions)
    trusted = _are_complete(folder for folder in folders if folder != VERSUS) and _is_valid(result)
    return exit_code(decisions, trusted=trusted, undecided=undecided)


def _measured(plans: Sequence[Path], into: Path, fail_if: Sequence[str]) -> "tuple[CompareResult, Path]":
    """Measure two plans as one. Returns their comparison, and the folder of the run."""
    from jostle import api
    from jostle.cli.carry_out import has_intervals
    from jostle.cli.progress import observer_for
    from jostle.runner.interrupt import let_signals_stop_like_ctrl_c
    from jostle.runner.observer import UntilItFails

    observer = UntilItFails(observer_for(sys.stderr))
    let_signals_stop_like_ctrl_c()
    try:
        result = api.compare_plans(*plans, into=into, fail_if=fail_if, observer=observer).result
    except KeyboardInterrupt:
        if not has_intervals(observer.folder):
            raise
        raise JostleError(
            f"stopped before there was a comparison; what was measured is in {observer.folder}",
            f"jostle report {observer.folder} shows it",
        ) from None
    except UserError as error:
        if not has_intervals(observer.folder):
            raise
        raise JostleError(error.message, f"jostle report {observer.folder} shows what was measured") from None
    finally:
        observer.close()
    assert observer.folder is not None
    return result, observer.folder


def _are_complete(runs: Iterable[Path]) -> bool:
    """Whether all of the runs are complete; those that are not are named."""
    from jostle.record import RunRecord

    cut_short = [record for run in runs if not (record := RunRecord.open(run)).complete]
    for record in cut_short:
        print(f"{record.folder} is not complete: {record.incomplete_why}", file=sys.stderr)
    return not cut_short


def _is_valid(result: "CompareResult") -> bool:
    """Whether all that was asked for can be answered by valid trials.

    With `--fail-if`, only that is asked for, and an invalid figure leaves its condition undecided.
    """
    from jostle.record.verdict import Verdict

    return bool(result.conditions) or all(c.verdict is not Verdict.INVALID for c in result.comparisons)


def _print(result: "CompareResult", form: Format, file: IO[str]) -> None:
    from jostle import report

    match form:
        case Format.text:
            from rich.console import Console

            report.render_comparison(result, Console(file=file))
        case Format.md:
            file.write(report.compare_to_markdown(result))
        case Format.json:
            file.write(json.dumps(report.compare_to_json(result), indent=2) + "\n")
        case Format.junit:
            file.write(report.compare_to_junit(result))


def _add_to_job_summary(result: "CompareResult") -> None:
    """Append the result to the file that GitHub shows as the job summary, if there is one.

    If that fails, the comparison is decided all the same.
    """
    from jostle import report

    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(report.compare_to_markdown(result))
    except OSError as error:
        print(f"the job summary {path} could not be written: {reason(error)}", file=sys.stderr)

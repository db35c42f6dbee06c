"""`jostle compare`: two runs, or two contestants of one run."""

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from jostle.analysis.results import CompareResult

__all__ = ["compare"]

HELP = """Compare two runs, or two contestants of one run: what differs, by how much, how surely.

\b
  jostle compare runs/before runs/after                            the second against the first
  jostle compare runs/2026-… --contestants node,go                 go against node, in one run
  jostle compare RUN --contestants a,b --fail-if "p99 > +5 %"     exit code 1 where that surely holds

A condition names throughput, p50, p90, p99, p99.9 or errors, and a change of the second against the first:
in percent, or in the quantity's own unit ("p50 > +2 ms"); of errors in percentage points.
On GitHub the result is added to the job's summary.
"""


class Format(StrEnum):
    """Forms of the result, on standard output."""

    text = "text"
    md = "md"
    json = "json"
    junit = "junit"


def compare(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN [RUN]", help="One or two folders of runs.")],
    contestants: Annotated[
        str | None, typer.Option("--contestants", help="Two contestants of one run: node,go.")
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option("--fail-if", metavar="CONDITION", help='For example "p99 > +5 %"; may be repeated.'),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="text, md, json or junit.")] = Format.text,
) -> int:
    from jostle import api
    from jostle.cli.options import split_contestants

    result = api.compare(*folders, contestants=split_contestants(contestants), fail_if=fail_if or ()).result
    _print(result, form)
    _add_to_job_summary(result)
    return 1 if any(condition.verdict == "fail" for condition in result.conditions) else 0


def _print(result: "CompareResult", form: Format) -> None:
    from jostle import report

    match form:
        case Format.text:
            from rich.console import Console

            report.render_comparison(result, Console())
        case Format.md:
            print(report.compare_to_markdown(result), end="")
        case Format.json:
            print(json.dumps(report.compare_to_json(result), indent=2))
        case Format.junit:
            print(report.compare_to_junit(result), end="")


def _add_to_job_summary(result: "CompareResult") -> None:
    """Where GitHub says that it shows Markdown of each step."""
    from jostle import report

    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(report.compare_to_markdown(result))

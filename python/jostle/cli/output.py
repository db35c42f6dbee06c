"""What happens to a result: its options, its form, and where it is written."""

import contextlib
import errno
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from jostle.cli.exit_codes import Undecided
from jostle.cli.options import OUTPUT
from jostle.errors import JostleError, PlanError
from jostle.text import reason

if TYPE_CHECKING:
    from rich.console import Console

    from jostle.analysis.results import RunResult
    from jostle.report.document import Document

__all__ = [
    "FORMS",
    "DocumentFile",
    "Form",
    "OutputFile",
    "PlanOutput",
    "RunOutput",
    "UndecidedAs",
    "console",
    "form_of",
    "put",
    "put_document",
    "report_written",
    "say_where",
]


class Form(StrEnum):
    """The forms in which a result can be written."""

    text = "text"
    html = "html"
    md = "md"
    csv = "csv"
    json = "json"
    junit = "junit"


FORMS = {
    ".txt": Form.text,
    ".html": Form.html,
    ".md": Form.md,
    ".csv": Form.csv,
    ".json": Form.json,
    ".xml": Form.junit,
}
"""The forms by the suffix of `--output`."""


def _known(file: Path | None) -> Path | None:
    """Refuse a file that cannot be written, before anything is measured."""
    if file is None:
        return None
    if file.suffix not in FORMS:
        raise PlanError(
            f"--output: {file.name!r} does not end in a known suffix", f"use one of {', '.join(FORMS)}"
        )
    if file.is_dir():
        raise PlanError(f"--output: {file} is a folder", "name a file")
    if not file.absolute().parent.is_dir():
        raise PlanError(f"--output: there is no folder {file.parent}", "create it first")
    return file


def form_of(output: Path | None, *, as_json: bool) -> Form:
    """The form that `--output` and `--json` ask for. Raises `PlanError` if they disagree."""
    named = None if output is None else FORMS[output.suffix]
    if as_json and named not in (None, Form.json):
        raise PlanError(f"--json and --output {output}: which form?", "leave --json out, or write to .json")
    return Form.json if as_json else named or Form.text


def output_option(suffixes: Iterable[str]) -> Any:
    """The option `--output` of a command whose result has the forms of these suffixes."""
    listed = " ".join(suffixes).replace(".xml", ".xml (JUnit)")
    return typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        callback=_known,
        help=f"Write the result to FILE. The suffix selects the format: {listed}.",
        rich_help_panel=OUTPUT,
    )


OutputFile = Annotated[Path | None, output_option(FORMS)]
DocumentFile = Annotated[
    Path | None, output_option(suffix for suffix, form in FORMS.items() if form not in (Form.csv, Form.junit))
]
"""`--output` for a result that is a document other than a run's, without tables or test cases."""
UndecidedAs = Annotated[
    Undecided | None,
    typer.Option(
        "--undecided",
        metavar="pass|fail",
        help="Exit with 0 (pass) or 1 (fail) instead of 4 (undecided).",
        rich_help_panel=OUTPUT,
    ),
]


@dataclass(frozen=True, kw_only=True)
class RunOutput:
    """The output options of every command that measures. `jostle hit` has just these."""

    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUTPUT)
    ] = False
    output: OutputFile = None
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Show no progress.", rich_help_panel=OUTPUT)
    ] = False
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Print a line for every trial.", rich_help_panel=OUTPUT)
    ] = False

    def __post_init__(self) -> None:
        form_of(self.output, as_json=self.as_json)  # refuses before anything is measured

    @property
    def pages(self) -> bool:
        """Whether report.html and the pictures are written."""
        return False

    @property
    def undecided_as(self) -> Undecided | None:
        return None

    @property
    def form(self) -> Form:
        return form_of(self.output, as_json=self.as_json)


@dataclass(frozen=True, kw_only=True)
class PlanOutput(RunOutput):
    """`jostle run` and `race` also write pages, and may have requirements."""

    no_pages: Annotated[
        bool,
        typer.Option(
            "--no-pages",
            help="Write no report.html and no pictures; `jostle report` can do so later.",
            rich_help_panel=OUTPUT,
        ),
    ] = False
    undecided: UndecidedAs = None

    @property
    def pages(self) -> bool:
        return not self.no_pages

    @property
    def undecided_as(self) -> Undecided | None:
        return self.undecided


def say_where(output: Path) -> None:
    """Name the file that has the result, below what was shown of it."""
    print(f"\nresult      {output}")


def put(result: "RunResult", form: Form, output: Path | None, *, full: bool = False) -> None:
    """Write the result in its form, to standard output or to a file."""
    if output is not None:
        from jostle.host.files import write_whole

        with report_written(str(output), "choose another place for --output"):
            write_whole(output, _text(result, form, full=full))
    elif form is Form.text:
        _print(result, console(sys.stdout), full=full)
    else:
        sys.stdout.write(_text(result, form, full=full))


def put_document(
    document: "Document", data: Callable[[], dict[str, Any]], form: Form, output: Path | None
) -> None:
    """Write a document other than a run's to standard output, or to a file and show it as well. `data`: its
    JSON form.
    """
    from jostle.report.render import html, markdown, terminal

    def text() -> str:
        match form:
            case Form.html:
                return html.page(document)
            case Form.md:
                return markdown.render(document)
            case Form.json:
                return json.dumps(data(), indent=2) + "\n"
        written = io.StringIO()
        terminal.render(document, console(written))
        return written.getvalue()

    if output is not None:
        from jostle.host.files import write_whole

        with report_written(str(output), "choose another place for --output"):
            write_whole(output, text())
        terminal.render(document, console(sys.stdout))
        say_where(output)
    elif form is Form.text:
        terminal.render(document, console(sys.stdout))
    else:
        sys.stdout.write(text())


def _text(result: "RunResult", form: Form, *, full: bool) -> str:
    from jostle import report

    match form:
        case Form.text:
            written = io.StringIO()
            _print(result, console(written), full=full)
            return written.getvalue()
        case Form.html:
            return report.page(result)
        case Form.md:
            return report.to_markdown(result)
        case Form.csv:
            return report.to_csv(result)
        case Form.json:
            return json.dumps(report.to_json(result), indent=2) + "\n"
        case Form.junit:
            return report.to_junit(result)


def console(file: IO[str]) -> "Console":
    from rich.console import Console

    class Piped(Console):
        """Leaves a closed pipe to `main`. Rich would exit with 1, which means a failed requirement."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    return Piped(file=file)


def _print(result: "RunResult", console: "Console", *, full: bool) -> None:
    from jostle import report

    report.render_terminal(result, console, full=full)


@contextlib.contextmanager
def report_written(what: str, remedy: str) -> Iterator[None]:
    """Inside, an OSError becomes one message that says what could not be written, and what to do."""
    try:
        yield
    except OSError as error:
        raise JostleError(f"{what} could not be written: {reason(error)}", remedy) from None

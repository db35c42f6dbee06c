"""What happens to a result: its options, its form, and where it is written."""

import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

from jostle.cli.beside import ShownInBrowser
from jostle.cli.exit_codes import Undecided
from jostle.cli.options import OUTPUT, option
from jostle.errors import JostleError, PlanError
from jostle.formatting import listed
from jostle.report.export import PICTURES, Form, render
from jostle.text import reason

if TYPE_CHECKING:
    from rich.console import Console

    from jostle.report.document import Document

__all__ = [
    "ComparisonOutput",
    "PlanOutput",
    "Quiet",
    "ReportOutput",
    "ResultOutput",
    "RunOutput",
    "UndecidedAs",
    "console",
    "report_written",
    "write",
]

COMMON_FORMS = (Form.text, Form.html, Form.md, Form.json)
"""The forms of every result; some have more."""

COMPARISON_FORMS = (*COMMON_FORMS, Form.junit)
RUN_FORMS = (*COMMON_FORMS, Form.csv, Form.junit)


def _form_option(forms: Sequence[Form]) -> Any:
    """The option `--format` of a command whose result has these forms."""

    def read(name: str) -> Form:
        if name not in forms:
            raise PlanError(f"--format {name}: the result can only be {listed(forms, 'or')}")
        return Form(name)

    return option(
        "--format",
        metavar="FORM",
        parser=read,
        autocompletion=lambda incomplete: [form for form in forms if form.startswith(incomplete)],
        help=f"Print the result as {listed(forms, 'or')} (default: text).",
        group=OUTPUT,
    )


def _file_option(forms: Sequence[Form]) -> Any:
    """The option `--output` of a command whose result has these forms."""
    suffixes = [form.suffix for form in forms]

    def check(file: Path | None) -> Path | None:
        """Refuse a file that cannot be written, before anything is measured."""
        if file is None:
            return None
        if file.suffix not in suffixes:
            raise PlanError(f"--output {file}: the file can only be a {listed(suffixes, 'or')}")
        if file.is_dir():
            raise PlanError(f"--output: {file} is a folder", "name a file")
        if not file.absolute().parent.is_dir():
            raise PlanError(f"--output: there is no folder {file.parent}", "create it first")
        return file

    return option(
        "-o",
        "--output",
        metavar="FILE",
        callback=check,
        help="Also write the result into FILE, in the form of its suffix: "
        f"{' '.join(suffixes).replace('.xml', '.xml (JUnit)')}.",
        group=OUTPUT,
    )


Quiet = Annotated[bool, option("-q", "--quiet", help="Show no progress.", group=OUTPUT)]
UndecidedAs = Annotated[
    Undecided | None,
    option(
        "--undecided",
        metavar="pass|fail",
        help="Exit with 0 (pass) or 1 (fail) instead of 4 (undecided) or 3 (invalid).",
        group=OUTPUT,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ResultOutput:
    """Where the result of a command goes: to standard output, and into a file if one is named."""

    form: Annotated[Form | None, _form_option(COMMON_FORMS)] = None
    as_json: Annotated[bool, option("--json", help="The same as --format json.", group=OUTPUT)] = False
    file: Annotated[Path | None, _file_option(COMMON_FORMS)] = None

    def __post_init__(self) -> None:
        if self.as_json and self.form not in (None, Form.json):
            raise PlanError(f"--json and --format {self.form}: which of them?", "give one")

    @property
    def printed(self) -> Form:
        """The form on standard output."""
        return Form.json if self.as_json else self.form or Form.text


@dataclass(frozen=True, kw_only=True)
class ComparisonOutput(ResultOutput):
    """`jostle compare`."""

    form: Annotated[Form | None, _form_option(COMPARISON_FORMS)] = None
    file: Annotated[Path | None, _file_option(COMPARISON_FORMS)] = None


@dataclass(frozen=True, kw_only=True)
class ReportOutput(ResultOutput):
    """`jostle report`, which also makes pictures."""

    form: Annotated[Form | None, _form_option((*RUN_FORMS, *PICTURES))] = None
    file: Annotated[Path | None, _file_option(RUN_FORMS)] = None


@dataclass(frozen=True, kw_only=True)
class RunOutput(ResultOutput):
    """Every command that measures a run. `jostle hit` has just these."""

    form: Annotated[Form | None, _form_option(RUN_FORMS)] = None
    file: Annotated[Path | None, _file_option(RUN_FORMS)] = None
    quiet: Quiet = False
    web: ShownInBrowser = False
    verbose: Annotated[
        bool, option("-v", "--verbose", help="Print a line for every trial.", group=OUTPUT)
    ] = False

    @property
    def pages(self) -> bool:
        """Whether report.html and the pictures are written."""
        return False

    @property
    def undecided_as(self) -> Undecided | None:
        return None


@dataclass(frozen=True, kw_only=True)
class PlanOutput(RunOutput):
    """`jostle run` and `race` also write pages, and may have requirements."""

    no_pages: Annotated[
        bool,
        option(
            "--no-pages",
            help="Write no report.html and no pictures; `jostle report` can do so later.",
            group=OUTPUT,
        ),
    ] = False
    undecided: UndecidedAs = None

    @property
    def pages(self) -> bool:
        return not self.no_pages

    @property
    def undecided_as(self) -> Undecided | None:
        return self.undecided


def write(document: "Document", output: ResultOutput) -> None:
    """Write the document into the file, if one is named, and in any case to standard output."""
    from jostle.report.export import text

    try:
        if output.file is not None:
            _write_file(document, output.file)
    finally:  # what was measured is shown even if the file cannot be written
        if output.printed is Form.text:
            text.show(document, console(sys.stdout))
        else:
            sys.stdout.write(render(document, output.printed))
    if output.file is not None:
        # beside a document for another program, the name of the file would be in its way
        print(f"\nresult      {output.file}", file=sys.stdout if output.printed is Form.text else sys.stderr)


def _write_file(document: "Document", file: Path) -> None:
    from jostle.host.files import write_whole

    form = next(form for form in Form if form.suffix == file.suffix)
    with report_written(str(file), "choose another place for --output"):
        write_whole(file, render(document, form))


def console(file: IO[str]) -> "Console":
    from rich.console import Console

    class Piped(Console):
        """Leaves a closed pipe to `main`. Rich would exit with 1, which means a failed requirement."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    return Piped(file=file)


@contextlib.contextmanager
def report_written(what: str, remedy: str) -> Iterator[None]:
    """Inside, an OSError becomes one message that says what could not be written, and what to do."""
    try:
        yield
    except OSError as error:
        raise JostleError(f"{what} could not be written: {reason(error)}", remedy) from None

"""`jostle capacity TARGET --slo …`: how much load a server can carry."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jostle.cli.beside import ShownInBrowser, page_beside
from jostle.cli.display import Display
from jostle.cli.exit_codes import ExitCode
from jostle.cli.hit import RequestOptions
from jostle.cli.options import LOAD, OUTPUT, Into, Seed, option, option_names, unfold
from jostle.cli.output import Quiet, ResultOutput, report_written, write
from jostle.errors import PlanError
from jostle.report.export import Form, render

if TYPE_CHECKING:
    from jostle.capacity.question import CapacityQuestion

__all__ = ["capacity"]

HELP = """Find the highest load at which a server meets an SLO, with its interval.

\b
  jostle capacity http://localhost:8080/search --slo "p99 < 100 ms"
  jostle capacity node/fast/44 --slo "p99 < 20 ms" --slo "errors < 1 %"
  jostle capacity http://localhost:8080/ --slo "p99 < 1 s" --clients
  jostle capacity http://localhost:8080/ --slo "p99 < 100 ms" --quick

TARGET is a URL, or a contestant with its variants and a path. The rate is doubled
until the SLO is missed; then rates around the limit are measured in random order,
each until a sequential test decides whether the SLO holds. With --clients the
load is a closed loop, and the response is a number of clients. If jostle itself
was the limit, the result says so. The search overloads the server: load only
your own.
"""


@unfold
def capacity(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET", help="A URL, CONTESTANT[:VARIANT][/PATH], or a curl command behind --."
        ),
    ],
    *,
    slo: Annotated[
        list[str],
        option(
            "--slo",
            metavar="SLO",
            help="What must hold: 'p99 < 100 ms', 'errors < 1 %'. Repeatable.",
            group=LOAD,
        ),
    ],
    clients: Annotated[
        bool,
        option("--clients", help="Closed loop: find a number of clients instead of a rate.", group=LOAD),
    ] = False,
    think: Annotated[
        str | None,
        option(
            "--think",
            metavar="TIME",
            help="With --clients: pause between response and next request.",
            group=LOAD,
        ),
    ] = None,
    most: Annotated[
        str | None,
        option("--most", metavar="LEVEL", help="Try no level above this: 2000/s, 500 clients.", group=LOAD),
    ] = None,
    budget: Annotated[
        str | None,
        option(
            "--budget", metavar="TIME", help="Time for the search (default 4m; with --quick: 1m).", group=LOAD
        ),
    ] = None,
    quick: Annotated[
        bool,
        option(
            "--quick",
            help="A shorter search: a wider interval, and no model for 'jostle what-if'.",
            group=LOAD,
        ),
    ] = False,
    options: RequestOptions,
    seed: Seed = None,
    into: Into = Path("runs"),
    output: ResultOutput,
    quiet: Quiet = False,
    web: ShownInBrowser = False,
    no_pages: Annotated[bool, option("--no-pages", help="Write no capacity.html.", group=OUTPUT)] = False,
) -> int:
    from jostle.cli.foreign import foreign_hints
    from jostle.cli.target import target_of

    if think is not None and not clients:
        message = "--think needs --clients: with a rate, no client waits for a response"
        raise PlanError(message, "add --clients")
    names = option_names(context)
    with foreign_hints(context):
        given = options.given() | {"think": think}
        target = target_of(words, "capacity")
        question = _question(
            target, slo, given, clients, most, budget, quick, lambda name: names.get(name, name)
        )
    with page_beside(into, shown=web):
        return _measured(question, into, seed, output, quiet=quiet, pages=not no_pages)


def _question(
    target: str | list[str],
    slo: list[str],
    given: dict[str, Any],
    clients: bool,
    max_level_text: str | None,
    budget: str | None,
    quick: bool,
    name_of: Any,
) -> "CapacityQuestion":
    from jostle.capacity.question import question_of

    highest = float("inf") if max_level_text is None else _max_level(max_level_text, clients=clients)
    return question_of(
        target, slo, given, closed=clients, most=highest, budget=budget, quick=quick, name_of=name_of
    )


def _max_level(text: str, *, clients: bool) -> float:
    """The highest level to try: a rate, or with `clients` a number of them, "500" or "500 clients"."""
    from jostle import units

    named = re.fullmatch(r"(.*\S)\s*clients?", text.strip())
    if named is not None and not clients:
        raise PlanError(
            f"--most: {text!r} is a number of clients, but a rate is searched for",
            "add --clients, or write for example 2000/s",
        )
    number = named[1] if named is not None else text
    highest = float(units.count(number)) if clients else units.rate(number, bare="s")
    if highest <= 0:
        raise PlanError(f"--most: {text!r} leaves no load", "write for example 2000/s, or 500 clients")
    return highest


def _measured(
    question: "CapacityQuestion",
    into: Path,
    seed: int | None,
    output: ResultOutput,
    *,
    quiet: bool,
    pages: bool,
) -> int:
    """Measure, and show what is known, whatever ended the run."""
    from jostle.capacity.answer import capacity_of
    from jostle.capacity.fitted import with_model
    from jostle.capacity.recorded import RecordedSearch
    from jostle.capacity.run import measure
    from jostle.cli.execution import has_intervals
    from jostle.cli.terminal.view import LiveView
    from jostle.host.files import write_whole
    from jostle.record import RunRecord
    from jostle.report import document_of
    from jostle.runner.interrupt import let_signals_stop_like_ctrl_c
    from jostle.runner.observer import RunFolder, together

    folder = RunFolder()
    let_signals_stop_like_ctrl_c()
    stopped = False
    with Display(sys.stderr, quiet=quiet) as display:
        try:
            measure(question, into, seed, display.tell, together(folder, LiveView(display)))
        except KeyboardInterrupt:
            if not has_intervals(folder.path):
                raise
            stopped = True
    assert folder.path is not None
    search = RecordedSearch(RunRecord.open(folder.path))
    result = with_model(search, capacity_of(search))
    document = document_of(result)
    write(document, output)
    if pages:
        page = folder.path / "capacity.html"
        with report_written(f"the page in {folder.path}", "the record is complete"):
            write_whole(page, render(document, Form.html))
        if output.printed is Form.text:
            print(f"\npage      {page}")
            if result.model is not None and result.model.accepted:
                print(f"predict   jostle what-if {folder.path} workers=…")
    if stopped or result.answer in ("none", "generator"):
        return ExitCode.INVALID_RESULT
    return ExitCode.DONE if result.answer == "found" else ExitCode.UNDECIDED

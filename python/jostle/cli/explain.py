"""`jostle explain`: how a server behaves, and why."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle import units
from jostle.cli.exit_codes import ExitCode
from jostle.cli.options import GENERATOR, OUTPUT, REQUEST, TLS
from jostle.cli.output import FORMS, Form, OutputFile, put_document, report_written
from jostle.errors import PlanError

if TYPE_CHECKING:
    from jostle.explain.results import Explanation

__all__ = ["explain"]

HELP = """Say how a server behaves, and why: how many requests progress at once,
who is served when, who waits behind whom.

\b
  jostle explain http://localhost:8080/ --slow /report --wait /proxy
  jostle explain http://localhost:8080/search -o explain.html
  jostle explain node

One route is enough; a slow one tells much more, and one that waits for a
database or another service tells the rest. A contestant's contract names its
routes. Each finding is decided, or says why not and what would tell.

It sends bursts of requests at stated times and compares when they are answered
with what every known way of serving them would give, for 3 minutes at most. A
server that jostle did not start is treated gently: what is allowed is said
before it begins. docs/EXPLAIN.md teaches how to read it.
"""

PROBES = "Probes"


def explain(
    server: Annotated[
        str, typer.Argument(metavar="URL|CONTESTANT", help="A server that runs, or one that jostle starts.")
    ],
    *,
    slow: Annotated[
        list[str] | None,
        typer.Option(
            "--slow",
            metavar="PATH",
            help="A route that takes long (10 to 500 ms); repeatable: several sizes tell more.",
            rich_help_panel=PROBES,
        ),
    ] = None,
    wait: Annotated[
        str | None,
        typer.Option(
            "--wait",
            metavar="PATH",
            help="A route that waits for something else, without computing.",
            rich_help_panel=PROBES,
        ),
    ] = None,
    gentle: Annotated[
        bool | None,
        typer.Option(
            "--gentle/--thorough",
            help="How much is asked of it (gentle, unless jostle starts the server).",
            rich_help_panel=PROBES,
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            "--budget", metavar="TIME", help="At most this long: 30s, 3m (3m).", rich_help_panel=PROBES
        ),
    ] = "3m",
    overload: Annotated[
        bool,
        typer.Option(
            "--overload", help="Also overload it: queue limit, shedding, recovery.", rich_help_panel=PROBES
        ),
    ] = False,
    headers: Annotated[
        list[str] | None,
        typer.Option(
            "-H", "--header", metavar="HEADER", help="'Name: value'; repeatable.", rich_help_panel=REQUEST
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=0.1,
            max=60,
            help="Give up on an answer after this time.",
            rich_help_panel=REQUEST,
        ),
    ] = 10.0,
    insecure: Annotated[
        bool,
        typer.Option("-k", "--insecure", help="Do not verify the server's certificate.", rich_help_panel=TLS),
    ] = False,
    share_cores: Annotated[
        bool,
        typer.Option(
            "--share-cores",
            help="Give a contestant all cores, those of the generator too.",
            rich_help_panel=GENERATOR,
        ),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="DIR",
            help="Keep the page and the record of all bursts in a new folder in DIR.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the explanation as JSON.", rich_help_panel=OUTPUT)
    ] = False,
    output: OutputFile = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Show no progress.", rich_help_panel=OUTPUT)
    ] = False,
) -> int:
    form = Form.json if as_json else FORMS[output.suffix] if output is not None else Form.text
    if form in (Form.csv, Form.junit):
        raise PlanError(f"--output: an explanation has no {form} form", "use .txt, .html, .md or .json")
    from jostle.explain.document import explanation_document
    from jostle.explain.run import explain as examined
    from jostle.runner.interrupt import let_signals_stop_like_ctrl_c

    let_signals_stop_like_ctrl_c()
    with _Progress(quiet=quiet) as progress:
        explanation = examined(
            server,
            slow=slow or (),
            wait=wait,
            intensity=None if gentle is None else "gentle" if gentle else "thorough",
            budget=_seconds(budget),
            overload=overload,
            headers=headers or (),
            insecure=insecure,
            timeout=timeout,
            share_cores=share_cores,
            tell=progress.tell,
        )
    put_document(explanation_document(explanation), explanation.as_json, form, output)
    if save is not None:
        _save(explanation, save)
    return ExitCode.DONE if any(finding.decided for finding in explanation.findings) else ExitCode.UNTRUSTED


LEAST_S, MOST_S = 20.0, 3600.0


def _seconds(text: str) -> float:
    seconds = units.duration(text, bare="s")
    if not LEAST_S <= seconds <= MOST_S:
        raise PlanError(f"--budget: {text} is not between 20 s and an hour", "3m is what it usually takes")
    return seconds


def _save(explanation: "Explanation", base: Path) -> None:
    from jostle.explain.document import explanation_document
    from jostle.host.files import write_whole
    from jostle.report.render.html import page

    folder = base / f"{time.strftime('%Y-%m-%dT%H-%M-%S', time.gmtime())}-explain"
    with report_written(str(folder), "choose another place for --save"):
        folder.mkdir(parents=True)
        write_whole(folder / "explanation.json", json.dumps(explanation.as_json(), indent=2) + "\n")
        write_whole(folder / "explain.html", page(explanation_document(explanation)))
    print(f"\nkept in {folder}", file=sys.stderr)


class _Progress:
    """What is being asked: one line that changes where standard error is a terminal, else a line each."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._show: Callable[[str], None] | None = None
        self._close: Callable[[], None] = lambda: None
        self._said_limits = False

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def tell(self, text: str) -> None:
        """What is allowed stays; what is asked gives way to the next question."""
        if self._quiet:
            return
        if not self._said_limits or not sys.stderr.isatty():
            print(text if not self._said_limits else f"asking {text}", file=sys.stderr, flush=True)
            self._said_limits = True
            return
        if self._show is None:
            from rich.console import Console

            status = Console(stderr=True).status("")
            status.start()
            self._show, self._close = lambda said: status.update(f"asking {said}"), status.stop
        self._show(text)

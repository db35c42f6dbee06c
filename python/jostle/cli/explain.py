"""`jostle explain`: how a server behaves, and why."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle import units
from jostle.cli.display import Display
from jostle.cli.exit_codes import ExitCode
from jostle.cli.explain_options import PROBES, ProbedRequest, ProbeOptions
from jostle.cli.options import OUTPUT, option, refuse_beside, unfold
from jostle.cli.output import Quiet, ResultOutput, report_written, write
from jostle.errors import PlanError
from jostle.report.export import Form, render
from jostle.url import has_scheme

if TYPE_CHECKING:
    from jostle.explain.results import Explanation
    from jostle.report.document import Document

__all__ = ["explain"]

HELP = """Find out what makes a server's requests slow, and how it serves them otherwise:
pools, what holds up all others, rare slow responses, pauses, limits.

\b
  jostle explain http://localhost:8080/ --slow /report --wait /proxy
  jostle explain http://localhost:8080/search -o explain.html
  jostle explain grpc://localhost:50051/shop.Shop/Buy --slow shop.Shop/Report
  jostle explain tcp://localhost:6379 --send 'PING\\r\\n' --until '\\r\\n'
  jostle explain node
  jostle explain runs/2026-…                  slow requests of a run, from its record
  jostle explain --all                        all that speak HTTP/1.1, in one table
  jostle explain --all node go --budget 10m   these, in ten minutes

One route is enough, but more questions can be decided with a slow route, and
with one that waits for a database or another service. jostle knows the routes
of contestants. If a question cannot be decided, it says why and what would help.

It sends a light load and bursts of requests for at most 3 minutes (--budget). It
first prints the limits of what it sends; they are low for a server that jostle
did not start. Of a run it reads the rows (rows = true in the plan), or else the
intervals, and sends nothing.
docs/EXPLAIN.md explains how to read the result.
"""

RUN_TAKES = ("servers", "into", "quiet", "form", "as_json", "file")

ALL_TAKES = ("servers", "budget", "timeout", "share_cores", "into", "quiet")


@unfold
def explain(
    context: typer.Context,
    servers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL|CONTESTANT|RUN",
            help="A running server, one that jostle starts, or the folder of a run, whose record is read; "
            "with --all, any number of contestants.",
        ),
    ] = None,
    *,
    everything: Annotated[
        bool,
        option(
            "--all",
            help="Explain every contestant that speaks HTTP/1.1, or the named ones, and compare with the "
            "discipline that its contestant.toml declares.",
            group=PROBES,
        ),
    ] = False,
    probes: ProbeOptions,
    request: ProbedRequest,
    into: Annotated[
        Path | None,
        option(
            "--into",
            metavar="DIR",
            help="Keep the page and the record of all bursts, in a new folder in DIR. With --all, DIR itself "
            "is the table's folder; contestants already in it are not measured again.",
            group=OUTPUT,
        ),
    ] = None,
    output: ResultOutput,
    quiet: Quiet = False,
) -> int:
    names = servers or []
    if everything:
        why = "it asks every contestant as its contract says"
        refuse_beside("--all", context, ALL_TAKES, why, "explain one of them by name")
        return _all(names, into, probes, request, quiet=quiet)
    if into is not None and into.exists() and not into.is_dir():
        raise PlanError(f"--into: {into} is not a folder", "choose another place")
    if len(names) != 1:
        raise PlanError(
            "which server?" if not names else f"{len(names)} servers",
            "name one, or several contestants with --all",
        )
    (server,) = names
    from jostle.explain.documents.document import explanation_document

    if not has_scheme(server) and Path(server).is_dir():
        refuse_beside("a run", context, RUN_TAKES, "nothing is sent", "explain a server by its URL")
        from jostle.explain.recorded import explain_run
        from jostle.record import RunRecord

        recorded = explanation_document(explain_run(RunRecord.open(server)))
        write(recorded, output)
        if into is not None:
            _keep(recorded, into)
        return ExitCode.DONE
    from jostle.explain.run import explain as examined
    from jostle.runner.interrupt import let_signals_stop_like_ctrl_c

    let_signals_stop_like_ctrl_c()
    with Display(sys.stderr, quiet=quiet) as display:
        explanation = examined(server, **probes.given(), **request.given(), tell=_tell_on(display))
    document = explanation_document(explanation)
    write(document, output)
    if into is not None:
        _keep(document, into)
    return (
        ExitCode.DONE if any(finding.decided for finding in explanation.findings) else ExitCode.INVALID_RESULT
    )


def _all(
    names: list[str], into: Path | None, probes: ProbeOptions, request: ProbedRequest, *, quiet: bool
) -> int:
    from jostle.cli.explain_all import MIN_BUDGET_S, explain_all
    from jostle.explain.run import explain as examined

    timeout_s, cores, budget = request.timeout_s, request.share_cores, probes.budget

    def one(label: str, seconds: float) -> "Explanation":
        with Display(sys.stderr, quiet=quiet) as display:
            tell = _tell_on(display)
            return examined(label, budget=seconds, timeout=timeout_s, share_cores=cores, tell=tell)

    for name in names:
        if has_scheme(name):
            raise PlanError(f"--all is for contestants, and {name} is a URL", f"jostle explain {name}")
    seconds = None if budget is None else units.duration(budget, bare="s")
    if seconds is not None and seconds < MIN_BUDGET_S:
        hint = f"give at least {units.exact_duration(MIN_BUDGET_S)}; each takes 3m or less"
        raise PlanError(f"--budget: {budget} is too short for even one contestant", hint)
    folder = into or Path("runs") / time.strftime("%Y-%m-%dT%H-%M-%S-explain-all")
    return explain_all(folder, names, seconds, one)


def _keep(document: "Document", base: Path) -> None:
    from jostle.host.files import write_whole

    folder = base / f"{time.strftime('%Y-%m-%dT%H-%M-%S')}-explain"
    with report_written(str(folder), "choose another place for --into"):
        folder.mkdir(parents=True)
        write_whole(folder / "explanation.json", render(document, Form.json))
        write_whole(folder / "explain.html", render(document, Form.html))
    print(f"\nkept in {folder}", file=sys.stderr)


def _tell_on(display: Display) -> Callable[[str, bool], None]:
    """In a log, where nothing is replaced, every question stays."""
    return lambda text, stays: display.tell(text, stays or not display.live)

"""`jostle contestants`: the servers that come with jostle."""

import json
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jostle.cli.exit_codes import ExitCode
from jostle.cli.help import Command, group

if TYPE_CHECKING:
    from jostle.contestant import Contestant
    from jostle.database import Database

__all__ = ["app"]

app = group(
    help="""The servers that jostle comes with.

\b
  jostle contestants list                 all of them, and which can run here
  jostle contestants list node            one of them: versions, variants, routes
  jostle contestants install node go      install what they need, and build them
  jostle contestants verify node go       check every route
  jostle contestants start node           run one, to try it with curl
""",
)


@app.command("list", cls=Command)
def list_them(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME…]", help="Show these in full.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List contestants: runtime, which can run here, and discipline."""
    from jostle import contestant, roster

    found = [contestant.find(name) for name in names or roster.names()]
    if as_json:
        print(json.dumps([_described(one) for one in found], indent=2))
    elif names:
        for one in found:
            _show(_described(one))
    else:
        _table(found)


def _table(found: "list[Contestant]") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("contestant", "runtime", "ready", "discipline"):
        table.add_column(column, no_wrap=column != "discipline")
    lacking = []
    for one in found:
        missing = one.missing()
        if missing:
            lacking.append(one.name)
        table.add_row(
            one.name,
            one.file.runtime.removeprefix("jostle-"),
            "no" if missing else "yes",
            one.file.discipline.partition(";")[0].replace("c workers, ", "workers, ").partition(", conn")[0],
        )
    Console().print(table)
    if lacking:
        print(f"\njostle contestants install {' '.join(lacking)}   installs what is missing")


def _described(one: "Contestant") -> "dict[str, Any]":
    """The facts about a contestant for JSON; `_show` prints the same."""
    from jostle.roster.lines_of_code import lines_of_code

    missing = one.missing()
    lines = lines_of_code(one.file, one.folder) if one.folder is not None else None
    return {
        "name": one.name,
        "title": one.file.title,
        "runtime": one.file.runtime,
        "discipline": one.file.discipline,
        "speaks": list(one.file.speaks),
        "ready": not missing,
        "missing": {need.command: need.install for need in missing},
        "versions": {} if missing else one.versions(),
        "variants": {name: variant.about for name, variant in one.file.variants.items()},
        "absent": dict(one.file.absent),
        "code lines": lines.as_record() if lines else {},
        "folder": str(one.folder),
    }


def _show(described: "dict[str, Any]") -> None:
    """Print one line for each fact, wrapped at 80 columns."""
    import textwrap

    for label, value in described.items():
        if label == "ready" or not value:
            continue
        rows = [", ".join(value)] if isinstance(value, list) else [value]
        if isinstance(value, dict):
            rows = [f"{key}: {text}" for key, text in value.items()]
        for lead, row in zip([label, *[""] * len(rows)], rows, strict=False):
            print(textwrap.fill(row, 80, initial_indent=f"{lead:<12}", subsequent_indent=" " * 14))
    print()


@app.command(cls=Command)
def install(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME…]", help="Contestants.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every contestant of the roster.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be done.")] = False,
) -> None:
    """Install contestants' Debian packages, and build them."""
    from jostle import contestant, database, roster
    from jostle.contestant import install as installing
    from jostle.errors import PlanError

    if not names and not everything:
        raise PlanError("which contestants?", "name some, or give --all")
    chosen = [contestant.find(label) for label in names or roster.names()]
    if dry_run:
        plan = installing.what_is_missing(chosen, database.missing)
        steps = [*("$ " + " ".join(command) for command in plan.commands()), *plan.by_hand]
        print("\n".join(steps) or "nothing is missing")
        return
    left = installing.install(chosen, database.missing, lambda step: print(step, flush=True))
    for need in left:
        print(f"install by hand: {need}", file=sys.stderr)
    raise typer.Exit(ExitCode.FAILED if left else ExitCode.DONE)


@app.command(cls=Command)
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME…]", help="All when none is named.")
    ] = None,
) -> None:
    """Build and start contestants, check every route, and stop."""
    from jostle import contestant, roster

    chosen = [contestant.find(label) for label in names or roster.names()]
    with _database_for(chosen) as database:
        passed = [_verified(found, database) for found in chosen]
    raise typer.Exit(ExitCode.DONE if all(passed) else ExitCode.FAILED)


def _verified(found: "Contestant", database: "Database | None") -> bool:
    """Print the result of one contestant. Returns whether every check passed."""
    from jostle.contestant.contract import verify as verify_contract
    from jostle.errors import ContestantError

    try:
        placeholders = database.placeholders() if database else None
        with found.start(database=placeholders) as server:
            pages, stock = (database.pages(), database.stock()) if database else (None, None)
            checks = verify_contract(server, found.file, pages=pages, stock=stock)
    except ContestantError as error:
        print(f"✗ {found.label}: {error}")
        return False
    failed = [result for result in checks if not result.ok]
    mark = "✗" if failed else "✓"
    print(f"{mark} {found.label}: {len(checks) - len(failed)} of {len(checks)} checks passed", flush=True)
    for result in failed:
        print(f"    {result.part}: {result.message}")
    return not failed


@contextmanager
def _database_for(chosen: "Iterable[Contestant]") -> "Iterator[Database | None]":
    """A private database if one is used; None, with a message, if none can be started."""
    from jostle import database
    from jostle.errors import ContestantError

    started = None
    if any(found.file.database for found in chosen):
        try:
            started = database.start()
        except ContestantError as error:
            print(f"/orders and /shop are not checked, as there is no database: {error}", file=sys.stderr)
    try:
        yield started
    finally:
        if started is not None:
            started.stop()


@app.command(cls=Command)
def start(
    label: Annotated[str, typer.Argument(metavar="NAME", help="For example go, or go:procs=1.")],
    port: Annotated[
        int,
        typer.Option(
            "-p", "--port", metavar="PORT", min=0, max=65535, show_default=False, help="Port (a free one)."
        ),
    ] = 0,
) -> None:
    """Run a contestant until Ctrl-C, to try it with curl."""
    from jostle import contestant

    found = contestant.find(label)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with (
        _database_for([found]) as database,
        found.start(port=port, database=database.placeholders() if database else None) as server,
    ):
        try:
            print(f"{label} listens on {server.url} (Ctrl-C stops it)", flush=True)
            while server.alive():
                time.sleep(0.2)
        except KeyboardInterrupt:
            return
        print(f"{label} exited; {server.printed()}", file=sys.stderr)
        raise typer.Exit(ExitCode.INVALID_RESULT)

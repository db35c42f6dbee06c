"""`jostle contestants`: the servers that come with jostle."""

import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.options import PLAIN

if TYPE_CHECKING:
    from jostle.contestant import Contestant
    from jostle.database import Database

__all__ = ["app"]

app = typer.Typer(
    **PLAIN,
    no_args_is_help=True,
    help="""The servers that come with jostle: list them, verify them, start one to try it with curl.

\b
  jostle contestants list                 name, runtime, discipline, ready or what is missing
  jostle contestants install node go      bring what is missing, and build them
  jostle contestants verify node go       build, start, ask every route, stop
  jostle contestants start node           leave it running until Ctrl-C
  jostle contestants stop                 stop the ones that `start` left running
""",
)


@app.command("list")
def list_them() -> None:
    """Every contestant: what it is, discipline, version, and what it still needs."""
    from rich.console import Console
    from rich.table import Table

    from jostle import contestant, roster

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("contestant", "what it is", "discipline", "version", "ready"):
        table.add_column(column, overflow="fold")
    for name in roster.names():
        found = contestant.find(name)
        missing = found.missing()
        ready = (
            "yes" if not missing else "; ".join(f"needs {need.command}: {need.install}" for need in missing)
        )
        version = "" if missing else found.versions_in_words()
        table.add_row(name, found.file.title, found.file.discipline, version, ready)
    Console(width=None if sys.stdout.isatty() else 160).print(table)


@app.command()
def install(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME…]")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every contestant of the roster.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
) -> None:
    """Install what contestants need (Debian packages) and build them, each step said before it is taken."""
    from jostle import contestant, database, roster
    from jostle.contestant import install as installing
    from jostle.errors import PlanError

    if not names and not everything:
        raise PlanError("install whom?", "name contestants, or give --all")
    chosen = [contestant.find(label) for label in names or roster.names()]
    if dry_run:
        plan = installing.what_is_missing(chosen, database.missing)
        steps = [*("$ " + " ".join(command) for command in plan.commands()), *plan.by_hand]
        print("\n".join(steps) or "nothing is missing")
        return
    left = installing.install(chosen, database.missing, lambda step: print(step, flush=True))
    for need in left:
        print(f"to be installed by hand: {need}", file=sys.stderr)
    raise typer.Exit(1 if left else 0)


@app.command()
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME…]", help="All when none is named.")
    ] = None,
) -> None:
    """Build, start, ask every route, stop. Exit code 1 when a route answers wrongly."""
    from jostle import contestant, roster

    chosen = [contestant.find(label) for label in names or roster.names()]
    with _database_for(chosen) as database:
        passed = [_verified(found, database) for found in chosen]
    raise typer.Exit(0 if all(passed) else 1)


def _verified(found: "Contestant", database: "Database | None") -> bool:
    """Tell how one contestant did; whether all was right."""
    from jostle.contestant.contract import verify as verify_contract
    from jostle.errors import ContestantError

    try:
        placeholders = database.placeholders() if database else None
        with found.start(database=placeholders) as server:
            checks = verify_contract(server, found.file, pages=database.pages() if database else None)
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
    """A private database while somebody uses one; None, and a word about it, when there can be none."""
    from jostle import database
    from jostle.errors import ContestantError

    started = None
    if any(found.file.database for found in chosen):
        try:
            started = database.start()
        except ContestantError as error:
            print(f"/orders will do without a database: {error}", file=sys.stderr)
    try:
        yield started
    finally:
        if started is not None:
            started.stop()


@app.command()
def start(
    label: Annotated[str, typer.Argument(metavar="NAME", help="For example go, or go:procs=1.")],
    port: Annotated[int, typer.Option("-p", "--port", help="0 takes a free one.")] = 0,
) -> None:
    """Start one, with its database, and leave it running until Ctrl-C, for trying with curl."""
    from jostle import contestant
    from jostle.contestant.registry import registered

    found = contestant.find(label)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with (
        _database_for([found]) as database,
        found.start(port=port, database=database.placeholders() if database else None) as server,
        registered(label, server.url),
    ):
        print(f"{label} listens on {server.url} (Ctrl-C stops it)", flush=True)
        try:
            while server.alive():
                time.sleep(0.2)
        except KeyboardInterrupt:
            return
        print(f"{label} ended by itself; {server.printed()}", file=sys.stderr)
        raise typer.Exit(1)


@app.command()
def stop() -> None:
    """Stop the contestants that `jostle contestants start` left running, in whatever terminal."""
    from jostle.contestant.registry import stop_all

    stopped = stop_all()
    for label, url in stopped:
        print(f"stopped {label} on {url}")
    if not stopped:
        print("none is running")

"""`jostle contestants`: the servers that come with jostle."""

import signal
import sys
import time
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="""The servers that come with jostle: list them, verify them, start one to try it with curl.

\b
  jostle contestants list                 name, runtime, discipline, ready or what is missing
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
        version = "" if missing else ", ".join(found.versions().values())
        table.add_row(name, found.file.title, found.file.discipline, version, ready)
    Console(width=None if sys.stdout.isatty() else 160).print(table)


@app.command()
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME…]", help="All when none is named.")
    ] = None,
) -> None:
    """Build, start, ask every route, stop. Exit code 1 when a route answers wrongly."""
    from jostle import contestant, roster
    from jostle.errors import ContestantError
    from jostle.verify import verify as check

    wrong = 0
    for label in names or roster.names():
        found = contestant.find(label)
        try:
            with found.start() as server:
                checks = check(server)
        except ContestantError as error:
            print(f"✗ {label}: {error}")
            wrong += 1
            continue
        failed = [route for route in checks if not route.ok]
        print(f"{'✗' if failed else '✓'} {label}: {len(checks) - len(failed)} of {len(checks)} checks passed")
        for route in failed:
            print(f"    {route.route}: {route.says}")
        wrong += bool(failed)
    raise typer.Exit(1 if wrong else 0)


@app.command()
def start(
    label: Annotated[str, typer.Argument(metavar="NAME", help="For example go, or go:procs=1.")],
    port: Annotated[int, typer.Option("-p", "--port", help="0 takes a free one.")] = 0,
) -> None:
    """Start one and leave it running until Ctrl-C, for trying with curl."""
    from jostle import contestant
    from jostle.running import Register

    with contestant.find(label).start(port=port) as server, Register(label, server.url):
        print(f"{label} listens on {server.url} (Ctrl-C stops it)", flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        try:
            while server.alive():
                time.sleep(0.2)
        except KeyboardInterrupt:
            return
        print(f"{label} ended by itself:\n{server.last_output()}", file=sys.stderr)
        raise typer.Exit(1)


@app.command()
def stop() -> None:
    """Stop the contestants that `jostle contestants start` left running, in whatever terminal."""
    from jostle.running import stop_all

    stopped = stop_all()
    for label, url in stopped:
        print(f"stopped {label} on {url}")
    if not stopped:
        print("none is running")

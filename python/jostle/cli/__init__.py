"""The command line: one file per command. This module only finds them and turns errors into messages.

Exit codes: 0 done and valid; 1 done, but something is invalid, failed, or was not measured; 2 the user's
mistake.
"""

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from jostle import __version__
from jostle.cli.options import PLAIN
from jostle.errors import JostleError, UserError

__all__ = ["app", "main"]

COMMANDS = (
    "hit", "race", "run", "report", "collect", "compare", "history", "doctor", "contestants", "cluster"
)  # fmt: skip
"""Modules of this package: each has `HELP` and a function of its name, or an `app` of several commands."""


class Commands(TyperGroup):
    """Imports a command when it is asked for: a user of one does not wait for the others."""

    def list_commands(self, _context: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _context: Any, name: str) -> Any:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"jostle.cli.{name}")
        found = getattr(module, "app", None)
        if found is None:
            found = typer.Typer(**PLAIN)
            found.command(name, help=module.HELP)(_leaving(getattr(module, name)))
        return typer.main.get_command(found)

    def format_commands(self, _context: Any, _formatter: Any) -> None:
        """The help text of `jostle` lists them with an example each."""


app = typer.Typer(
    name="jostle",
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Show how a server behaves in a crowd.

\b
  jostle hit http://localhost:8080/ -c 50 -d 10s   load a server now: table and verdict
  jostle hit http://localhost:8080/ --rate 2000/s  open loop: requests are due whatever happens
  jostle race starvation                           rerun a published experiment on real servers
  jostle run my-plan.toml                          an experiment of your own, your servers included
  jostle report runs/2026-…                        page, pictures, CSV, JSON of a run
  jostle compare runs/before runs/after            what changed, and how surely
  jostle history                                   all runs over time
  jostle contestants list                          the servers that come with jostle
  jostle doctor                                    can this machine do it?
  jostle cluster                                   many machines that generate one load together
  jostle collect runs/2026-…                       what generators recorded and could not give
""",
    **PLAIN,
)


def _leaving(command: Callable[..., int]) -> Callable[..., None]:
    """The command, leaving with the exit code that it returns."""

    @functools.wraps(command)
    def leave(*args: Any, **kwargs: Any) -> None:
        raise typer.Exit(command(*args, **kwargs))

    return leave


def _version(asked: bool) -> None:
    if asked:
        print(f"jostle {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Options of every command."""


def main() -> None:
    """Entry point: runs a command and leaves with its exit code. Our own bugs keep their traceback."""
    try:
        app()
    except JostleError as error:
        print(f"jostle: {error.message}", file=sys.stderr)
        for line in error.hint.splitlines():
            print(f"  {line}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UserError) else 1)

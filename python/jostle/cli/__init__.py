"""The command line: one file per command. This module only finds them and turns errors into messages.

Exit codes: 0 done and valid; 1 done, but something is invalid, failed, or was not measured; 2 the user's
mistake.
"""

import errno
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from jostle import __version__
from jostle.errors import JostleError, UserError, nearest

if TYPE_CHECKING:
    import typer

__all__ = ["COMMANDS", "HELP", "command", "main"]

HELP = """Usage: jostle COMMAND [OPTIONS]

  Show how a server behaves in a crowd.

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

Options:
  --version   Show the version and leave.
  -h, --help  Show this text, or that of a COMMAND.
"""

COMMANDS = (
    "hit", "race", "run", "report", "collect", "compare", "history", "doctor", "contestants", "cluster"
)  # fmt: skip
"""Modules of this package: each has `HELP` and a function of its name, or an `app` of several commands."""


def command(name: str) -> "typer._click.Command":
    """One of `COMMANDS`; its module is imported now, so that a user of one does not wait for the others."""
    import typer

    from jostle.cli.options import PLAIN

    module = importlib.import_module(f"jostle.cli.{name}")
    app = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(**PLAIN)
        app.command(name, help=module.HELP, context_settings=PLAIN["context_settings"])(
            _leaving(getattr(module, name))
        )
    return typer.main.get_command(app)


def _leaving(function: Callable[..., int]) -> Callable[..., None]:
    """The command, leaving with the exit code that it returns."""
    import functools

    import typer

    @functools.wraps(function)
    def leave(*args: Any, **kwargs: Any) -> None:
        raise typer.Exit(function(*args, **kwargs))

    return leave


NO_PLACE_TO_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPIPE, errno.EIO)
"""The other end of a pipe is gone, a terminal is closed, a disk is full: nothing of ours is wrong."""


def _leave_without_a_place_to_write(error: OSError) -> NoReturn:
    where = f"{error.filename}: " if error.filename else ""
    if error.errno not in (errno.EPIPE, errno.EIO):
        print(f"jostle: {where}{error.strerror}", file=sys.stderr)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more as it leaves
    sys.exit(1)


def main(words: Sequence[str] | None = None) -> None:
    """Entry point: runs a command and leaves with its exit code. Our own bugs keep their traceback."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # nobody's plugins concern a plan
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that knows ASCII alone gets "?" for a "✓"
            stream.reconfigure(errors="replace")
    try:
        try:
            _run(sys.argv[1:] if words is None else list(words))
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in NO_PLACE_TO_WRITE:
            raise
        _leave_without_a_place_to_write(error)
    except JostleError as error:
        print(f"jostle: {error.message}", file=sys.stderr)
        for line in error.hint.splitlines():
            print(f"  {line}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UserError) else 1)


def _run(words: list[str]) -> None:
    """Help and version are told without the library for command lines: it takes longer to load than that."""
    match words:
        case []:
            print(HELP, end="")
            sys.exit(2)
        case ["-h" | "--help", *_]:
            print(HELP, end="")
        case ["--version", *_]:
            print(f"jostle {__version__}")
        case [name, *rest] if name in COMMANDS:
            command(name)(args=rest, prog_name=f"jostle {name}")
        case [name, *_]:
            raise UserError(f"there is no command {name!r}", nearest(name, COMMANDS))

"""The command line: one file per command. This module only finds them, and turns errors into messages.

For exit codes see `jostle.cli.exit_codes`.
"""

import errno
import gc
import importlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from jostle import __version__
from jostle.errors import JostleError, UserError, nearest

if TYPE_CHECKING:
    import typer

__all__ = ["COMMANDS", "HELP", "command", "main"]

HELP = """Usage: jostle COMMAND [OPTIONS]

Load HTTP servers, compare them with confidence intervals, and know when not to
trust a result.

Measure:
  jostle hit http://localhost:8080/ -c 50 -d 10s   load one URL now
  jostle hit http://localhost:8080/ --rate 2000/s  open loop: 2,000 requests/s,
                                                   however fast it answers
  jostle init                                      write a first plan.toml
  jostle check plan.toml                           what it would run; sends each
                                                   journey once
  jostle run plan.toml                             compare your servers
  jostle race starvation                           rerun a published experiment
  jostle simulate plan.toml                        calculate results for servers
                                                   that the plan describes

Understand one server:
  jostle explain http://localhost:8080/ --slow /report
                                                   which requests run at once,
                                                   and which wait for which
  jostle capacity http://localhost:8080/ --slo "p99 < 100 ms"
                                                   its capacity under an SLO
  jostle what-if runs/2026-… workers=8             predict a change

Look at runs:
  jostle report runs/2026-…                        page, pictures, CSV, JSON
  jostle compare RUN --contestants a,b             what differs, with intervals
  jostle history                                   all runs over time
  jostle web                                       watch and open them in a
                                                   browser
  jostle steer runs/2026-… rate=500/s              change a load while it runs

This machine, and others:
  jostle doctor                                    check whether this machine
                                                   can measure
  jostle contestants list                          list the bundled servers
  jostle cluster                                   send the load from many
                                                   machines
  jostle collect runs/2026-…                       fetch records of generators
                                                   that lost contact
  jostle completion bash                           print shell completion

Options:
  --version   Show the version and exit.
  -h, --help  Show this help, or that of a COMMAND.

Exit codes: 0 done (also if some figures are suspect); 1 a requirement failed, a
--fail-if condition was met, or a test made by doctor, check or contestants
failed; 2 a mistake in the command or the plan; 3 the result is invalid or
incomplete; 4 undecided. A command that differs says so in its own help.
"""

COMMANDS = (
    "hit", "capacity", "what-if", "init", "check", "run", "race", "simulate", "explain", "report",
    "compare", "history", "web", "steer", "doctor", "contestants", "cluster", "collect", "completion",
)  # fmt: skip
"""Modules of this package (with underscores for dashes). Each has `HELP` and a function of its own name, or
an `app` with several commands."""

STOPPED_BY_CTRL_C = 130
"""The exit code as in shells: 128 plus the number of the signal."""

COMPLETING = "_JOSTLE_COMPLETE"
"""The variable that the shell's completion function sets; see `jostle.cli.completion`."""


def command(name: str) -> "typer._click.Command":
    """One of `COMMANDS`. Its module is imported only now, so that nobody waits for the other commands."""
    import typer

    from jostle.cli.help import PLAIN, Command

    function = name.replace("-", "_")
    module = importlib.import_module(f"jostle.cli.{function}")
    app = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(**PLAIN)
        app.command(name, help=module.HELP, cls=Command, context_settings=PLAIN["context_settings"])(
            _leaving(getattr(module, function))
        )
    return typer.main.get_command(app)


def _leaving(function: Callable[..., int]) -> Callable[..., None]:
    """The command, which exits with the code that `function` returns."""
    import functools

    import typer

    @functools.wraps(function)
    def leave(*args: Any, **kwargs: Any) -> None:
        try:
            code = int(function(*args, **kwargs))
        except KeyboardInterrupt:
            print("jostle: stopped before there was a result", file=sys.stderr)
            code = STOPPED_BY_CTRL_C
        raise typer.Exit(code)

    return leave


NO_PLACE_TO_WRITE = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS),
    *(errno.EACCES, errno.EPIPE, errno.EIO),
)
"""The pipe's reader is gone, the terminal is closed, the disk is full: errors that are not ours."""


def _leave_without_a_place_to_write(error: OSError) -> NoReturn:
    where = f"{error.filename}: " if error.filename else ""
    if error.errno not in (errno.EPIPE, errno.EIO):
        print(f"jostle: {where}{error.strerror}", file=sys.stderr)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more on exit
    sys.exit(INVALID_RESULT)


TYPERS_BROKEN_PIPE = 1
"""How Typer exits when the reader of its output has gone. It would mean a failed requirement here."""

INVALID_RESULT, USAGE = 3, 2
"""As in `jostle.cli.exit_codes`, which is not imported here, to keep `--help` fast."""


def main(words: Sequence[str] | None = None) -> None:
    """Entry point: run a command and exit with its code. Our own bugs keep their traceback."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # plans need no plugins
    gc.set_threshold(20_000)  # imports create many long-lived objects, which need not be rescanned
    _open_what_is_closed()
    if os.environ.get("COLUMNS") == "0":  # it says that the width is not known
        del os.environ["COLUMNS"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ASCII terminal gets "?" for "✓"
            stream.reconfigure(errors="replace")
    try:
        try:
            _run(_readable(sys.argv[1:] if words is None else list(words)))
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in NO_PLACE_TO_WRITE:
            traceback.print_exc()
            sys.exit(INVALID_RESULT)
        _leave_without_a_place_to_write(error)
    except JostleError as error:
        _leave_with(error)
    except Exception as error:  # instead of Python's 1, which means a failed requirement
        if isinstance(error, ImportError):
            from jostle._platform import engine_missing

            if missing := engine_missing(error):
                _leave_with(missing)
        traceback.print_exc()
        sys.exit(INVALID_RESULT)


def _leave_with(error: JostleError) -> NoReturn:
    print(f"jostle: {error.message}", file=sys.stderr)
    for line in error.hint.splitlines():
        print(f"  {line}", file=sys.stderr)
    sys.exit(USAGE if isinstance(error, UserError) else INVALID_RESULT)


def _open_what_is_closed() -> None:
    """Give closed standard streams a place, or the next file that is opened would be taken for one."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115


def _readable(words: list[str]) -> list[str]:
    """Refuse what nothing can be made of: words that are not UTF-8, and a folder that is gone."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(word).decode(errors="backslashreplace")
            raise UserError(f"{shown} is not UTF-8", "text from a file may have any bytes: @FILE") from None
    try:
        os.getcwd()  # noqa: PTH109 (pathlib takes time to import)
    except FileNotFoundError:
        raise UserError("the current folder no longer exists", "change to another one") from None
    return words


def _called(name: str, words: list[str]) -> int:
    """Run a command. Returns its exit code. Mistakes in its options are reported like any other."""
    from typer._click.exceptions import ClickException, NoArgsIsHelpError

    try:
        return int(command(name).main(args=words, prog_name=f"jostle {name}", standalone_mode=False) or 0)
    except SystemExit as ended:
        if ended.code == TYPERS_BROKEN_PIPE:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None
        raise
    except NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except ClickException as error:
        message = error.format_message()
        hint = _habit(name, words) or f"jostle {name} --help"
        raise UserError(message[:1].lower() + message[1:].rstrip("."), hint) from None


def _habit(name: str, words: list[str]) -> str:
    """What a word that was refused is called here, if it is one of another load tester."""
    from jostle.cli.foreign import foreign_hint, options_of

    return foreign_hint(words, options_of(command(name))) if name in ("hit", "capacity") else ""


def _run(words: list[str]) -> None:
    """Run the words of a command line. Help and version avoid loading the slow command-line library."""
    if COMPLETING in os.environ:
        from jostle.cli.completion import complete

        sys.exit(complete())
    match words:
        case []:
            print(HELP, end="")
            sys.exit(USAGE)
        case ["-h" | "--help", *_]:
            print(HELP, end="")
        case ["--version", *_]:
            print(f"jostle {__version__}")
        case [name, *rest] if name in COMMANDS:
            sys.exit(_called(name, rest))
        case [name, *_]:
            raise UserError(f"there is no command {name!r}", nearest(name, COMMANDS))

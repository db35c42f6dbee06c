"""`jostle init`: a first plan, with comments, that runs as it is."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.exit_codes import ExitCode
from jostle.errors import PlanError

__all__ = ["init"]

HELP = """Write a first plan, with comments, that runs as it is.

\b
  jostle init                     writes plan.toml
  jostle init api/load.toml
  jostle run plan.toml            about 20 seconds

It measures two small servers that come with jostle. Replace them with yours.
"""


def init(
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="The plan to write (plan.toml).")] = Path(
        "plan.toml"
    ),
) -> int:
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(files("jostle.cli").joinpath("first-plan.toml").read_text(encoding="utf-8"))
    except FileExistsError:
        raise PlanError(f"{file} exists already", "name another file: jostle init FILE") from None
    except OSError as error:
        raise PlanError(f"{file} cannot be written: {error.strerror}", "name another file") from None
    print(f"wrote {file}\n  jostle check {file}   what it would run\n  jostle run {file}     run it")
    return ExitCode.DONE

"""`jostle completion SHELL`: the script by which a shell completes commands, options and names."""

from enum import StrEnum
from typing import Annotated

import typer

from jostle.cli.exit_codes import ExitCode

__all__ = ["complete", "completion"]

HELP = """Print the completion script for a shell.

\b
  jostle completion bash      in ~/.bashrc: eval "$(jostle completion bash)"
  jostle completion zsh       in ~/.zshrc:  eval "$(jostle completion zsh)"
  jostle completion fish      into ~/.config/fish/completions/jostle.fish
"""


class Shell(StrEnum):
    """The supported shells."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> int:
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    from jostle.cli import COMPLETING

    print(get_completion_script(prog_name="jostle", complete_var=COMPLETING, shell=shell.value))
    return ExitCode.DONE


def complete() -> int:
    """Answer the completion script, whose request is in the environment."""
    import os

    from typer.completion import completion_init, shell_complete  # type: ignore[attr-defined]
    from typer.core import TyperGroup

    from jostle.cli import COMMANDS, COMPLETING, command

    completion_init()
    everything = TyperGroup(name="jostle", commands={name: command(name) for name in COMMANDS})
    return shell_complete(everything, {}, "jostle", COMPLETING, os.environ[COMPLETING])

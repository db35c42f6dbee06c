"""The reference pages that are generated from the code: commands, checks, and the options of `jostle.hit`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jostle import cli

__all__ = ["commands", "files"]

MADE = "<!-- Made by scripts/docs. -->"
OPTIONS = re.compile(r"(<!-- options of hit: begin -->\n).*?(<!-- options of hit: end -->)", re.DOTALL)


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and subcommand, with the words that call it."""
    from typer.core import TyperGroup

    def below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield name, command
        if isinstance(command, TyperGroup):
            for word, inner in command.commands.items():
                yield from below(f"{name} {word}", inner)

    for name in cli.COMMANDS:
        yield from below(f"jostle {name}", cli.command(name))


def files(docs: Path) -> dict[Path, str]:
    """The content of each page in `docs`. Commands show their help as printed at this terminal's width."""
    python = docs / "reference/python.md"
    return {
        docs / "reference/cli.md": _cli(),
        docs / "reference/checks.md": _checks(),
        python: OPTIONS.sub(lambda found: f"{found[1]}{_options()}\n{found[2]}", python.read_text("utf-8")),
    }


def _cli() -> str:
    parts = ["# Commands", MADE, "As `--help` prints them.", _fenced(cli.HELP.strip())]
    for name, command in commands():
        context = command.make_context(name, [], resilient_parsing=True)
        parts += [f"## {name}", _fenced(context.get_help().strip())]
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    lines = (line.rstrip() for line in text.splitlines())
    return "```text\n" + "\n".join(lines) + "\n```"


def _checks() -> str:
    from jostle.analysis.validity.catalogue import CATALOGUE

    rows = [f"| {e.name} | {e.asks} | {e.suspect} | {e.invalid} |" for e in CATALOGUE]
    about = (
        "Each trial is checked for whether its figures can be trusted. A slow server passes: the checks "
        "are about the generator, the machine, the plan, and whether enough responses were right. "
        "[The verdict](../explanation/verdict.md) explains them."
    )
    head = ["| check | asks | suspect | invalid |", "|---|---|---|---|"]
    return "\n\n".join(["# Checks", MADE, about, "\n".join([*head, *rows])]) + "\n"


def _options() -> str:
    """The options of `jostle.hit` with their names on the command line and in a plan."""
    from jostle.plan.hit.plan import PLACES, WORKLOAD

    typed = {
        parameter.name: ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
        for parameter in cli.command("hit").params
    }
    places = {name: place.replace(WORKLOAD, "workload.NAME") for name, place in PLACES.items()}
    places["pid"] = "contestant.NAME.pid"
    rows = [f"| `{name}` | {typed.get(name, '')} | `{place}` |" for name, place in places.items()]
    return "\n".join(["| in Python | `jostle hit` | in a plan |", "|---|---|---|", *rows])

"""The reference pages that are made from the code: commands, and checks with their thresholds.

python -m jostle.cli.reference --check      fails when a page in docs/reference is out of date
python -m jostle.cli.reference --write      writes them
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jostle import cli

__all__ = ["commands", "main", "pages"]

FOLDER = Path(__file__).parents[3] / "docs" / "reference"
WIDTH = 80
MADE = "<!-- Made by `python -m jostle.cli.reference --write`. -->"


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and subcommand, by the words that call it."""
    from typer.core import TyperGroup

    def below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield name, command
        if isinstance(command, TyperGroup):
            for word, inner in command.commands.items():
                yield from below(f"{name} {word}", inner)

    for name in cli.COMMANDS:
        yield from below(f"jostle {name}", cli.command(name))


def pages() -> dict[Path, str]:
    """What each page says."""
    return {FOLDER / "cli.md": _cli(), FOLDER / "checks.md": _checks()}


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
        "Each trial is checked for whether its figures can be trusted. A server that does badly passes: the "
        "checks are about the generator, the machine, the plan, and whether answers were right. "
        "[The verdict](../explanation/verdict.md) explains them."
    )
    head = ["| check | asks | suspect | invalid |", "|---|---|---|---|"]
    return "\n\n".join(["# Checks", MADE, about, "\n".join([*head, *rows])]) + "\n"


def main(arguments: list[str]) -> int:
    """0; 1 where `--check` finds a page out of date; 2 for other arguments."""
    if arguments not in (["--check"], ["--write"]):
        print(__doc__, file=sys.stderr)
        return 2
    os.environ["COLUMNS"] = str(WIDTH)
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if arguments == ["--write"]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pages()[path], encoding="utf-8")
        else:
            print(f"{path} is out of date: run `python -m jostle.cli.reference --write`", file=sys.stderr)
    return 1 if stale and arguments == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

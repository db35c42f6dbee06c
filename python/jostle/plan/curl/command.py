"""One command of a pasted text: its words, and what it reads from standard input."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jostle.errors import PlanError
from jostle.text import reason

__all__ = [
    "ShellCommand",
    "check_characters",
    "file_bytes",
    "from_terminal",
    "nothing_to_read",
    "value_of",
]


_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")


def nothing_to_read() -> bytes:
    """What a pasted command finds on standard input: the text does not say."""
    raise PlanError(
        "the curl command reads standard input, which is not part of the text",
        "write @FILE in place of @-, or < FILE behind the command",
    )


def from_terminal() -> bytes:
    """What a command given as words finds on standard input: that of jostle."""
    return file_bytes(Path("/dev/stdin"))


@dataclass(frozen=True)
class ShellCommand:
    """A command that a shell would run."""

    words: Sequence[str]
    """The first is the program."""
    stdin: Callable[[], bytes] = nothing_to_read
    """Reads standard input; raises `PlanError`."""


def file_bytes(path: Path) -> bytes:
    """The content of a file that a curl command names. Raises `PlanError`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise PlanError(
            f"{path} cannot be read: {reason(error)}", "the curl command names this file"
        ) from None


def value_of(name: str, environment: Mapping[str, str]) -> str:
    """The value of a variable in a pasted text. Raises `PlanError` if it is not set."""
    if name not in environment:
        raise PlanError(
            f"the curl command needs the variable {name}, which is not set", f"export {name} first"
        )
    return environment[name]


def check_characters(text: str) -> None:
    """Raise `PlanError` for what no program can be given: U+0000, or half a pair of surrogates."""
    if found := _NO_CHARACTER.search(text):
        raise PlanError(
            f"the curl command has U+{ord(found[0]):04X}, which is no character",
            "data that are not text come from a file: --data-binary @FILE",
        )

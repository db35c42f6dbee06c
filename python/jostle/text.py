"""Reading texts, and making foreign text safe to show."""

import errno
import re
from pathlib import Path

__all__ = [
    "first_line",
    "one_line",
    "plain_lines",
    "quoted",
    "read_text",
    "reason",
    "shortened",
    "tied",
]


_SPACES = "\N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}"


def one_line(text: object) -> str:
    """Foreign text made safe for one line: without control characters, line breaks or bidi marks."""
    return "".join(c if c.isprintable() or c in _SPACES else "·" for c in str(text))


def plain_lines(text: str) -> list[str]:
    """The lines of a foreign text, each made safe; tabs become spaces."""
    return [one_line(line.expandtabs(4)) for line in text.splitlines()]


def quoted(text: str) -> str:
    """Lines of foreign origin, each after a bar.

    GitHub's runner takes a log line that begins with "::" for a command, even after spaces.
    """
    return "\n".join(f"│ {line}" for line in text.split("\n"))


MAX_SHOWN = 200
"""A longer name or URL is cut in its middle where a report shows it."""


def shortened(text: str) -> str:
    """A text of at most `MAX_SHOWN` characters: the middle of a longer one is left out."""
    if len(text) <= MAX_SHOWN:
        return text
    half = (MAX_SHOWN - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def first_line(why: str) -> str:
    """The first line of why something failed, without the words that announce the output below it."""
    return why.partition("\n")[0].removesuffix(":").removesuffix("; its last output")


_GIVEN = ("/dev/stdin", "/dev/fd/")
"""How the paths begin of files that are open already: standard input, and <(…) of a shell."""


def read_text(path: Path) -> str:
    """The UTF-8 text of a regular file, or of one that is open already, without a byte order mark.

    Raises `OSError` for other FIFOs and devices, which may never begin or never end.
    """
    if path.exists() and not (path.is_file() or path.is_dir() or str(path).startswith(_GIVEN)):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return path.read_text(encoding="utf-8-sig")


def reason(error: OSError | UnicodeDecodeError) -> str:
    """Why an operation failed, as part of a sentence: "connection refused"."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return error.strerror.lower() if error.strerror else str(error)


_BEFORE_A_UNIT = re.compile(r"(?<=\d) (?=(?:%|µs|ms|s|min|h|[kMGT]?i?B)(?![\w-]))")


def tied(text: str) -> str:
    """Keep figures and their units on one line."""
    return _BEFORE_A_UNIT.sub("\N{NO-BREAK SPACE}", text)

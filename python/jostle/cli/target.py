"""What is loaded: a URL, or a pasted curl command in its place."""

import sys
from collections.abc import Sequence
from pathlib import Path

from jostle.errors import PlanError
from jostle.plan.curl import has_curl, is_curl
from jostle.text import read_text, reason
from jostle.url import shown

__all__ = ["target_of"]


def target_of(words: Sequence[str], command: str) -> str | list[str]:
    """The URL, the text of curl commands, or the words of one. Raises `PlanError`.

    A text is given as it is, as @FILE, or on standard input (-). `command`: the one of jostle, for messages.
    """
    if not words:
        return ""
    if is_curl(words[0]) and len(words) > 1:
        return list(words)
    if len(words) > 1:
        raise PlanError(
            f"{shown(words[0])!r} and {shown(words[1])!r} are two URLs, and jostle {command} loads one",
            "--urls FILE loads those of a list; quote a URL that contains spaces or &",
        )
    if words[0] == "-" or words[0].startswith("@"):
        return _text(words[0].removeprefix("@"), command)
    return words[0]


def _text(name: str, command: str) -> str:
    """The curl commands in a file, or on standard input for "-"."""
    try:
        text = sys.stdin.read() if name == "-" else read_text(Path(name))
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(
            f"@{name} cannot be read: {reason(error)}", "it is a file with a curl command"
        ) from None
    if not has_curl(text):
        raise PlanError(
            f"{'standard input' if name == '-' else name} has no curl command",
            f"a list of URLs is read by: jostle {command} --urls {'/dev/stdin' if name == '-' else name}",
        )
    return text

"""TOML of any origin: whatever is wrong with it is one kind of error."""

import re
import tomllib
from typing import Any

__all__ = ["TOMLDecodeError", "read_toml"]

TOMLDecodeError = tomllib.TOMLDecodeError

DEEPEST = 50
"""Tables within tables; a plan has four."""


CHAIN = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}""" % DEEPEST  # noqa: UP031 (braces)
)
"""A dotted key so long that tomllib, which walks to its end for each part, would take minutes or days."""


def read_toml(text: str) -> dict[str, Any]:
    """Raises `TOMLDecodeError`, also for brackets by the thousand and for numbers of thousands of digits."""
    if CHAIN.search(text):
        raise TOMLDecodeError("it is nested too deeply")
    try:
        found = tomllib.loads(text)
    except TOMLDecodeError:
        raise
    except RecursionError:
        raise TOMLDecodeError("it is nested too deeply") from None
    except ValueError as error:  # of Python's int, for one
        raise TOMLDecodeError(str(error).partition(":")[0]) from None
    _check_depth(found)
    return found


def _check_depth(found: dict[str, Any]) -> None:
    """Dotted keys nest without recursion: whoever walks through them later would run out of it."""
    level: list[Any] = [found]
    for _ in range(DEEPEST):
        level = [inner for table in level for inner in (table.values() if isinstance(table, dict) else table)]
        level = [inner for inner in level if isinstance(inner, dict | list)]
    if level:
        raise TOMLDecodeError("it is nested too deeply")

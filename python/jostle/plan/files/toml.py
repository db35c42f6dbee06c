"""Reading TOML of any origin: every fault in it raises the same kind of error."""

import re
import tomllib
from typing import Any

__all__ = ["TOMLDecodeError", "read_toml"]

TOMLDecodeError = tomllib.TOMLDecodeError

MAX_DEPTH = 50
"""How deep tables may be nested; a plan needs four levels."""


CHAIN = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}""" % MAX_DEPTH  # noqa: UP031 (braces)
)
"""A dotted key so long that tomllib, which walks all of it for each part, would take minutes or days."""


def read_toml(text: str) -> dict[str, Any]:
    """Read TOML. Raises `TOMLDecodeError`, also for thousands of nested brackets or of digits in a number.

    A byte order mark, which some editors write, is passed over.
    """
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    if CHAIN.search(text):
        raise TOMLDecodeError("it is nested too deeply")
    try:
        found = tomllib.loads(text)
    except TOMLDecodeError:
        raise
    except RecursionError:
        raise TOMLDecodeError("it is nested too deeply") from None
    except ValueError as error:  # from Python's int, for example
        raise TOMLDecodeError(str(error).partition(":")[0]) from None
    _check_depth(found)
    return found


def _check_depth(found: dict[str, Any]) -> None:
    """Refuse deep nesting. tomllib reads dotted keys without recursion, but later readers would recurse."""
    level: list[Any] = [found]
    for _ in range(MAX_DEPTH):
        level = [inner for table in level for inner in (table.values() if isinstance(table, dict) else table)]
        level = [inner for inner in level if isinstance(inner, dict | list)]
    if level:
        raise TOMLDecodeError("it is nested too deeply")

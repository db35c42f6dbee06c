"""How a curl command is known, apart from what reads it: most targets are plain URLs."""

import re

__all__ = ["has_curl", "is_curl"]

_CURL = re.compile(
    r"(?:^|[|;&])[ \t]*(?:[$%>] +)?(?:[\w./\\:-]*[/\\])?curl(?:\.exe)?\s", re.MULTILINE | re.IGNORECASE
)


def has_curl(text: str) -> bool:
    """Whether a text has a curl command, as copied from a browser or a document."""
    return _CURL.search(text) is not None


def is_curl(word: str) -> bool:
    """Whether a command's first word runs curl."""
    name = word.replace("\\", "/").rpartition("/")[2].lower()
    return name.removesuffix(".exe") == "curl"

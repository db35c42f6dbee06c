"""Text that comes from elsewhere, made safe to show."""

import re

__all__ = ["one_line", "without_password"]

_PASSWORD = re.compile(r"(\w+://[^:/?#@\s]*):[^/?#\s]*@|([?&]password=)[^&#\s]*")


def without_password(text: str) -> str:
    """`postgresql://me:secret@here/shop` → `postgresql://me@here/shop`, wherever in `text` it stands."""
    return _PASSWORD.sub(lambda found: f"{found[1]}@" if found[1] else found[2], text)


def one_line(text: object) -> str:
    """Text of foreign origin made safe for one line of a terminal: no control characters, no line breaks."""
    return "".join(c if c.isprintable() else "·" for c in str(text))

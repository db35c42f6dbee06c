"""Addresses as they may be shown: without the password that may stand in them."""

import re

__all__ = ["without_password"]

_PASSWORD = re.compile(r"(\w+://[^:/?#@\s]*):[^/?#\s]*@|([?&]password=)[^&#\s]*")


def without_password(text: str) -> str:
    """`postgresql://me:secret@here/shop` → `postgresql://me@here/shop`, wherever in `text` it stands."""
    return _PASSWORD.sub(lambda found: f"{found[1]}@" if found[1] else found[2], text)

"""The command `jostle-reference`: servers of known behaviour, which are a program of their own."""

import os
import sys

from jostle.contestant.tools import REFERENCE

__all__ = ["main"]


def main() -> None:
    """Become that program, with the same arguments."""
    try:
        os.execv(REFERENCE, ["jostle-reference", *sys.argv[1:]])
    except FileNotFoundError:
        sys.exit(f"{REFERENCE} is missing: install jostle again, or run scripts/setup.sh")

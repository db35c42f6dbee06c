"""Where a user keeps caches and configuration."""

import os
from pathlib import Path

__all__ = ["xdg_folder"]


def xdg_folder(variable: str, default: Path) -> Path:
    """The folder of jostle in the one that the variable names, such as XDG_CACHE_HOME, else in the default.

    As the XDG base directory specification says, a path that is not absolute does not count.
    """
    named = Path(os.environ.get(variable, ""))
    return (named if named.is_absolute() else default) / "jostle"

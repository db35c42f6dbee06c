"""Where builds and the files of running servers are: never in the package or the run folder."""

import errno
import os
from pathlib import Path

from jostle.errors import UserError
from jostle.host.xdg import xdg_folder
from jostle.text import reason

__all__ = ["cache_folder"]


def cache_folder(*parts: str, writing: bool = False) -> Path:
    """A folder in `$JOSTLE_CACHE`, else in jostle of `$XDG_CACHE_HOME`; by default that is
    /var/cache for root and ~/.cache for others.

    It is created if needed, and readable by all, since the server may run as another user. `writing`: files
    will be made in it. Raises `UserError`.
    """
    if chosen := os.environ.get("JOSTLE_CACHE"):
        base = Path(chosen).absolute()
    else:
        usual = Path("/var/cache") if os.geteuid() == 0 else Path.home() / ".cache"
        base = xdg_folder("XDG_CACHE_HOME", usual)
    folder = base
    try:
        for part in (None, *parts):
            folder = folder / part if part else folder
            if not folder.is_dir():
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(0o755)
        if writing and not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise UserError(
            f"cannot make {'files in ' if folder.is_dir() else ''}the cache folder {folder}: {reason(error)}",
            "set JOSTLE_CACHE to a folder that you may write to",
        ) from None
    return folder

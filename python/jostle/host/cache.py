"""Where builds and the files of running servers are: never in the package or the run folder."""

import os
from pathlib import Path

from jostle.errors import UserError
from jostle.text import reason

__all__ = ["cache_folder"]


def cache_folder(*parts: str) -> Path:
    """A folder in `$JOSTLE_CACHE`, else in /var/cache/jostle for root, else in ~/.cache/jostle.

    It is created if needed, and readable by all, since the server may run as another user. Raises
    `UserError`.
    """
    if chosen := os.environ.get("JOSTLE_CACHE"):
        base = Path(chosen).absolute()
    elif os.geteuid() == 0:
        base = Path("/var/cache/jostle")
    else:
        base = Path.home() / ".cache" / "jostle"
    folder = base
    try:
        for part in (None, *parts):
            folder = folder / part if part else folder
            if not folder.is_dir():
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(0o755)
    except OSError as error:
        raise UserError(
            f"cannot make the cache folder {folder}: {reason(error)}",
            "set JOSTLE_CACHE to a folder that you may write to",
        ) from None
    return folder

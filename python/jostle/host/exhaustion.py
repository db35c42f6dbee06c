"""When no further process, thread or descriptor is to be had: which limit was reached, and what to do."""

import contextlib
import errno
from collections.abc import Iterator

from jostle.errors import StartRefused
from jostle.host.limits import open_files, task_limits

__all__ = ["used_up", "within_limits"]

TASKS = (errno.EAGAIN, errno.ENOMEM)
FILES = (errno.EMFILE, errno.ENFILE)
HINT = "end other programs, raise the limit, or use fewer threads and generator processes"


def used_up(code: int | None) -> str:
    """What a system error means when something is started; "" if no limit was reached."""
    if code in TASKS:
        limit = str(task_limits())
        return "no further process or thread can be started here" + (f": {limit}" if limit else "")
    if code in FILES:
        return f"no further file can be opened here: a process may have {open_files().hard} (ulimit -Hn)"
    return ""


@contextlib.contextmanager
def within_limits() -> Iterator[None]:
    """For code that starts processes or threads. Raises `StartRefused` if the machine allows no more."""
    try:
        yield
    except OSError as error:
        if reason := used_up(error.errno):
            raise StartRefused(reason, HINT) from None
        raise
    except RuntimeError as error:
        if "can't start new thread" not in str(error):  # threading has no error type of its own for this
            raise
        raise StartRefused(used_up(errno.EAGAIN), HINT) from None

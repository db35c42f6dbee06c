"""When the machine gives no further process, thread or descriptor: which limit it was, and how to go on."""

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
    """What an error of the system means where something is started; "" where it is another kind of error."""
    if code in TASKS:
        told = str(task_limits())
        return "no further process or thread can be started here" + (f": {told}" if told else "")
    if code in FILES:
        return f"no further file can be opened here: a process may have {open_files().hard} (ulimit -Hn)"
    return ""


@contextlib.contextmanager
def within_limits() -> Iterator[None]:
    """Around what starts processes and threads. Raises `StartRefused` where the machine gives no more."""
    try:
        yield
    except OSError as error:
        if told := used_up(error.errno):
            raise StartRefused(told, HINT) from None
        raise
    except RuntimeError as error:
        if "can't start new thread" not in str(error):  # threading has no error of its own for it
            raise
        raise StartRefused(used_up(errno.EAGAIN), HINT) from None

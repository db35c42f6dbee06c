"""How many connections a server can hold here, given the limit of open files per process.

Checked before anything starts, so that a server at this limit is not taken for a slow one.
"""

import math

from jostle.contestant.contestant import Contestant
from jostle.errors import CannotServe
from jostle.host.limits import connections_within, open_files
from jostle.units import format_count

__all__ = ["check_connections", "max_connections"]


def max_connections(contestant: Contestant, files: int) -> int:
    """How many connections all its processes can hold together, if each may have `files` open files."""
    return connections_within(files) * _processes(contestant)


def check_connections(contestant: Contestant, connections: int) -> None:
    """Raise `CannotServe` if it cannot hold that many connections here, or by design anywhere.

    The limits of a server that jostle does not start are not known, so it passes.
    """
    _check_own_limit(contestant, connections)
    files = open_files().hard
    if not contestant.is_started_here or files is None:
        return
    if max_connections(contestant, files) >= connections:
        return
    processes = _processes(contestant)
    where = f"{processes} processes" if processes > 1 else "one process"
    raise CannotServe(
        f"{contestant.label} holds its connections in {where}, and a process may open {format_count(files)} "
        f"files here: too few for {format_count(connections)} clients",
        _remedy(contestant, connections, files),
    )


def _check_own_limit(contestant: Contestant, connections: int) -> None:
    limit = contestant.file.limit
    if limit is None or connections <= limit.connections or contestant.variants.get(limit.unless):
        return
    raise CannotServe(
        f"{contestant.label} holds at most {format_count(limit.connections)} connections, and "
        f"{format_count(connections)} clients are needed: {limit.because}",
        f"{contestant.name}:{limit.unless} has no such limit" if limit.unless else "",
    )


def _remedy(contestant: Contestant, connections: int, files: int) -> str:
    spread, each = contestant.file.processes, connections_within(files)
    if isinstance(spread, str) and each > 0:
        return f"{contestant.name}:{spread.strip('{}')}={math.ceil(connections / each)} can hold them"
    return "raise the limit (ulimit -Hn), or set processes = N in its file if N of them hold connections"


def _processes(contestant: Contestant) -> int:
    spread = contestant.file.processes
    if isinstance(spread, int):
        return spread
    return max(1, int(contestant.variants[spread.strip("{}")]))

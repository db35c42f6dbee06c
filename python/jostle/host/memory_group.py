"""A control group of its own for a process tree, with a limit of memory, as a container has one.

It is made here and removed by the tree's supervisor. That takes the right to make groups, in the control
group that jostle runs in or in one above it: root has it, but in most containers nobody does.
"""

import contextlib
import itertools
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jostle.host.limits import cgroup_folders
from jostle.text import reason

__all__ = ["MemoryGroup", "limit_memory"]

LIMITS = ("memory.max", "memory.limit_in_bytes")
"""Of version 2 and 1: the file that holds the limit. In version 2 it is there where the group above it
controls memory."""

SWAP = ("memory.swap.max", "memory.memsw.limit_in_bytes")
"""Of version 2 without memory, of version 1 with it; not there where the kernel does not count swap."""


@dataclass(frozen=True)
class MemoryGroup:
    """What came of a limit: the folder of the group; None where the limit could not be set, and `why`."""

    limit_bytes: int
    folder: Path | None
    why: str = ""


def limit_memory(
    limit_bytes: int, membership: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")
) -> MemoryGroup:
    """A fresh group, still empty, with this limit and no swap; or the reason why there can be none."""
    why = "this machine has no control groups for memory"
    for parent in _places(membership, mount):
        folder = parent / f"jostle-{secrets.token_hex(4)}"
        try:
            folder.mkdir()
        except OSError as error:
            why = f"no control group can be made in {parent}: {reason(error)}"
            continue
        try:
            if _set(folder, limit_bytes):
                return MemoryGroup(limit_bytes, folder)
            why = f"{parent} does not control memory"
        except OSError as error:
            why = f"the limit cannot be set in {parent}: {reason(error)}"
        folder.rmdir()
    return MemoryGroup(limit_bytes, None, why)


def _places(membership: Path, mount: Path) -> Iterator[Path]:
    """Where a group may be made: from the own group upwards, in the trees that know of memory."""
    try:
        text = membership.read_text(encoding="utf-8")
    except OSError:
        return
    for folder in itertools.chain(*cgroup_folders(text, mount)):
        if (folder / "cgroup.procs").exists() and _controls_memory(folder):
            yield folder


def _controls_memory(folder: Path) -> bool:
    """In version 2 a group says so itself; in version 1 the tree of "memory" holds the file everywhere."""
    with contextlib.suppress(OSError):
        return "memory" in (folder / "cgroup.subtree_control").read_text(encoding="utf-8").split()
    return (folder / LIMITS[1]).exists()


def _set(folder: Path, limit_bytes: int) -> bool:
    """False where the group has no such limit. Raises OSError."""
    limits = [folder / name for name in LIMITS if (folder / name).exists()]
    for file in limits:
        file.write_text(str(limit_bytes))
    for name, most in zip(SWAP, ("0", str(limit_bytes)), strict=True):
        if limits and (folder / name).exists():
            (folder / name).write_text(most)
    return bool(limits)

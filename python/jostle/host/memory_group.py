"""A control group of its own for a process tree, with a memory limit like that of a container.

It is created here and removed by the tree's supervisor. That requires permission to create groups in the
control group that jostle runs in, or in one above it: root has it, but in most containers nobody does.
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
"""The file with the limit in cgroup versions 2 and 1. In version 2 it exists only if the group above controls
memory."""

SWAP = ("memory.swap.max", "memory.memsw.limit_in_bytes")
"""The file that limits swap: alone in version 2, together with memory in version 1. It does not exist if the
kernel does not account for swap."""


@dataclass(frozen=True)
class MemoryGroup:
    """The result of setting a limit: the group's folder, or None with the reason in `why`."""

    limit_bytes: int
    folder: Path | None
    why: str = ""


def limit_memory(
    limit_bytes: int, membership: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")
) -> MemoryGroup:
    """Create a group, still empty, with this limit and no swap, or say why that is not possible."""
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
    """Where a group might be created: from the own group upwards, in trees that control memory."""
    try:
        text = membership.read_text(encoding="utf-8")
    except OSError:
        return
    for folder in itertools.chain(*cgroup_folders(text, mount)):
        if (folder / "cgroup.procs").exists() and _controls_memory(folder):
            yield folder


def _controls_memory(folder: Path) -> bool:
    """Whether a group controls memory: in version 2 it says so, in version 1 it has the limit's file."""
    with contextlib.suppress(OSError):
        return "memory" in (folder / "cgroup.subtree_control").read_text(encoding="utf-8").split()
    return (folder / LIMITS[1]).exists()


def _set(folder: Path, limit_bytes: int) -> bool:
    """Set the limit. Returns False if the group cannot limit memory. Raises OSError."""
    limits = [folder / name for name in LIMITS if (folder / name).exists()]
    for file in limits:
        file.write_text(str(limit_bytes))
    for name, limit in zip(SWAP, ("0", str(limit_bytes)), strict=True):
        if limits and (folder / name).exists():
            (folder / name).write_text(limit)
    return bool(limits)

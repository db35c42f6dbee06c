"""Control groups of our own, version 1 or 2, below the one that the tests run in. They take root."""

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jostle.host.limits import cgroup_folders

NAMES = {"memory": "memory.limit_in_bytes", "pids": "pids.max"}


@contextlib.contextmanager
def cgroup(controller: str, limit: int) -> Iterator[Path]:
    """A control group with this limit of "memory" (bytes) or "pids"; removed in the end."""
    folder = _parent(controller) / f"jostle-test-{secrets.token_hex(4)}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        names = [NAMES[controller], f"{controller}.max"]
        (file,) = [folder / name for name in dict.fromkeys(names) if (folder / name).exists()]
        file.write_text(str(limit))
        if (swap := folder / "memory.swap.max").exists():
            swap.write_text("0")
        yield folder
    finally:
        give_up = time.monotonic() + 10
        while (folder / "cgroup.procs").read_text() and time.monotonic() < give_up:
            time.sleep(0.02)
        folder.rmdir()


def _parent(controller: str) -> Path:
    """In version 2 only the root may hold processes as well as groups with limits."""
    if os.geteuid() != 0:
        pytest.skip("control groups take root")
    mount = Path("/sys/fs/cgroup")
    if (mount / "cgroup.controllers").exists():
        return mount
    ways = cgroup_folders(Path("/proc/self/cgroup").read_text(), mount)
    own = [way[0] for way in ways if way and mount / controller in (way[0], *way[0].parents)]
    if not own or not own[0].is_dir():
        pytest.skip(f"this machine has no control groups for {controller}")
    return own[0]


def inside(group: Path, *command: str | Path) -> list[str]:
    """The command, which begins its life in the group."""
    return ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", *map(str, command)]

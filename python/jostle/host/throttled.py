"""How long the CPU quota of this container, or of another cgroup, has kept its programs from running."""

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

from jostle.host.limits import cgroup_folders

__all__ = ["quotas", "throttled_s"]

NANOSECONDS = re.compile(rb"^throttled_time (\d+)$", re.MULTILINE)
MICROSECONDS = re.compile(rb"^throttled_usec (\d+)$", re.MULTILINE)
"""In version 1 and 2: the sum over all cores."""


def quotas(membership: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")) -> list[Path]:
    """The accounts of the cgroups of this process and of those above that may have a quota."""
    try:
        text = membership.read_text(encoding="utf-8")
    except OSError:
        return []
    folders = dict.fromkeys(itertools.chain(*cgroup_folders(text, mount)))
    return [account for folder in folders if (account := folder / "cpu.stat").exists()]


def throttled_s(accounts: Sequence[Path]) -> float | None:
    """CPU time withheld by the tightest quota since it was set; None if there is no account."""
    found = []
    for account in accounts:
        try:
            text = account.read_bytes()
        except OSError:
            continue
        for pattern, unit_s in ((NANOSECONDS, 1e-9), (MICROSECONDS, 1e-6)):
            found += [int(number) * unit_s for number in pattern.findall(text)]
    return round(max(found), 6) if found else None

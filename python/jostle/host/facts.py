"""What a reader must know about the machine to judge a run."""

import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

from jostle._version import __version__
from jostle.host.floor import MachineAndVersion, stored_floor
from jostle.host.limits import cgroup_limits, memory_bytes, open_files
from jostle.host.pressure import cpu_pressure
from jostle.redaction.commands import redact_command

__all__ = ["host_facts", "machine_and_version"]

SETTINGS = (
    "net/core/somaxconn",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_tw_reuse",
    "net/ipv4/tcp_max_syn_backlog",
    "kernel/sched_autogroup_enabled",
)


def host_facts(seed: int) -> dict[str, Any]:
    """Kernel, processor, memory, limits and versions; no names of machines or people."""
    return {
        **machine_and_version(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "distribution": _distribution(),
        "cores": os.cpu_count() or 1,
        "memory_bytes": memory_bytes(),
        "limits": {"open_files": open_files().as_record(), "cgroup": cgroup_limits().as_record()},
        "settings": {name: text for name in SETTINGS if (text := _setting(name))},
        "load_average": os.getloadavg()[0],
        **({"cpu_pressure": pressure} if (pressure := cpu_pressure()) is not None else {}),
        "python": platform.python_version(),
        "argv": redact_command(["jostle", *sys.argv[1:]]),
        "seed": seed,
        **({"floor": floor} if (floor := stored_floor(machine_and_version())) else {}),
    }


def machine_and_version() -> MachineAndVersion:
    """What identifies this machine, for figures that hold only for it."""
    return {
        "jostle": __version__,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu_model": _cpu_model(),
        "usable_cores": sorted(os.sched_getaffinity(0)),
    }


def _setting(name: str) -> str:
    try:
        return " ".join(Path("/proc/sys", name).read_text().split())
    except OSError:
        return ""


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()

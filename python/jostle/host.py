"""What a reader must know of the machine to judge a run."""

import os
import platform
import resource
import sys
import time
from pathlib import Path
from typing import Any

from jostle import __version__
from jostle.record import FORMAT

__all__ = ["host_facts"]

SETTINGS = (
    "net/core/somaxconn",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_tw_reuse",
    "net/ipv4/tcp_max_syn_backlog",
    "kernel/sched_autogroup_enabled",
)


def host_facts(seed: int) -> dict[str, Any]:
    """Kernel, processor, memory, limits and versions; no names of machines or people."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return {
        "format": FORMAT,
        "jostle": __version__,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "distribution": _distribution(),
        "cpu_model": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "usable_cores": sorted(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "limits": {"open_files": {"soft": soft, "hard": hard}},
        "settings": {name: text for name in SETTINGS if (text := _setting(name))},
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        "argv": ["jostle", *sys.argv[1:]],
        "seed": seed,
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

"""What makes two runs measure the same: their plan, and a machine that is the same one for figures."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jostle.errors import NotARun
from jostle.record.folder import read_host

__all__ = ["setting_in", "setting_of"]

MACHINE_KEYS = ("kernel", "cpu_model", "usable_cores", "memory_bytes")


def setting_of(plan_text: str, host: Mapping[str, Any]) -> str:
    """A checksum of the plan and the machine: runs with the same one measured the same."""
    machine = [host.get(key) for key in MACHINE_KEYS]
    return hashlib.sha256(json.dumps([plan_text, machine]).encode()).hexdigest()[:16]


def setting_in(folder: Path) -> str | None:
    """That of the run in a folder; None if it is not known."""
    try:
        plan_text, host = (folder / "plan.toml").read_text(encoding="utf-8"), read_host(folder)
    except (NotARun, OSError, UnicodeDecodeError):
        return None
    return None if host is None else setting_of(plan_text, host)

"""The contestants that `jostle contestants start` keeps running: a file for each, so that `stop` finds it."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from jostle.host.cache import cache_folder
from jostle.host.files import write_whole
from jostle.host.procfs import start_time

__all__ = ["registered", "stop_all"]

GRACE_S = 5.0


@contextlib.contextmanager
def registered(label: str, url: str) -> Iterator[None]:
    """While the context lasts, `stop_all` finds this process as the one that runs `label`."""
    file = _folder() / f"{os.getpid()}.json"
    write_whole(file, json.dumps({"label": label, "url": url, "started": start_time(os.getpid())}))
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def stop_all() -> list[tuple[str, str]]:
    """Stop every registered process and wait for it. Returns labels and URLs of those that stopped."""
    holders = []
    for file in _folder().glob("*.json"):
        pid = int(file.stem)
        known = json.loads(file.read_text())
        if known["started"] == start_time(pid):  # not another process with the same pid
            os.kill(pid, signal.SIGTERM)
            holders.append((pid, known))
        file.unlink(missing_ok=True)
    give_up = time.monotonic() + GRACE_S
    while time.monotonic() < give_up and any(start_time(pid) == known["started"] for pid, known in holders):
        time.sleep(0.02)
    return [(known["label"], known["url"]) for pid, known in holders if start_time(pid) != known["started"]]


def _folder() -> Path:
    return cache_folder("started")

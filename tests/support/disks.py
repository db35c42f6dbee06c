"""File systems that fill up."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(kilobytes: int) -> Iterator[Path]:
    """A file system of its own, in memory; unmounted in the end."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system takes root")
    with tempfile.TemporaryDirectory() as base:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "jostle-test", base]
        mounted = subprocess.run(mount, capture_output=True, text=True)
        if mounted.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
        try:
            yield Path(base)
        finally:
            subprocess.run(["umount", base], check=True)

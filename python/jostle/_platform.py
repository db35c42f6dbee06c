"""What is said where the engine cannot be loaded: it is compiled for one platform and one version."""

import platform
import sysconfig
from pathlib import Path

from jostle.errors import EngineMissing

__all__ = ["engine_missing"]

NAMES = ("jostle._engine", "_engine")
"""The module's, and what the loader of a shared object calls it."""


def engine_missing(error: ImportError) -> EngineMissing | None:
    """The error for a user if it is the engine that could not be imported; None if it is something else."""
    if error.name not in NAMES:
        return None
    here = Path(__file__).parent
    found = ", ".join(sorted(file.name for file in here.glob("_engine.*") if file.suffix != ".pyi"))
    why = f"{found} cannot be used: {error.msg}" if found else f"there is none in {here}"
    return EngineMissing(
        f"jostle's engine is not there for {_this_platform()}: {why}",
        "install the wheel for this platform: pip install --force-reinstall jostle-….whl\n"
        "in a clone: make setup",
    )


def _this_platform() -> str:
    """ "linux-x86_64 (glibc 2.36), Python 3.11"."""
    library, version = platform.libc_ver()
    python = ".".join(platform.python_version_tuple()[:2])
    return f"{sysconfig.get_platform()} ({library or 'no glibc'}{version and ' '}{version}), Python {python}"

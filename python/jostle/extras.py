"""Packages that only some need: `pip install 'jostle[rows]'` brings those of the extra `rows`."""

import sys
from importlib.util import find_spec

from jostle.errors import MissingExtra

__all__ = ["EXTRAS", "install_command", "is_installed", "require"]

EXTRAS = {
    "rows": ("polars",),
    "pictures": ("vl_convert",),
    "cluster": ("ray", "cryptography"),
    "web": ("starlette", "uvicorn"),
}
"""By name of the extra, the modules that it brings."""


def is_installed(extra: str) -> bool:
    """Whether all modules of the extra can be imported. It imports none."""
    return all(sys.modules.get(name) or _is_there(name) for name in EXTRAS[extra])


def require(extra: str, what: str) -> None:
    """Raises MissingExtra, which says that `what` needs the extra, unless it is installed."""
    if not is_installed(extra):
        message = f"{what} needs the extra {extra!r}, which is not installed"
        raise MissingExtra(message, install_command(extra))


def install_command(extra: str) -> str:
    """The command that installs the extra."""
    return f"pip install 'jostle[{extra}]'"


def _is_there(name: str) -> bool:
    """False for a module that `sys.modules` hides, too."""
    return name not in sys.modules and find_spec(name) is not None

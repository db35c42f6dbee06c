"""The commands that a contestant needs: where they are, their versions, and how to install missing ones."""

import functools
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jostle.host.exhaustion import within_limits
from jostle.host.users import User
from jostle.plan.servers.contestant import Need, fill

__all__ = ["OWN_PROGRAMS", "REFERENCE", "MissingTool", "Tool", "find_tool"]

OWN_PROGRAMS = Path(__file__).resolve().parent.parent / "bin"
"""Programs that come with the package."""

REFERENCE = OWN_PROGRAMS / "jostle-reference"
"""The reference servers."""

VERSION_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Tool:
    """A command that is installed. `own`: it comes with the package, and is copied into the build folder."""

    command: str
    path: Path
    version: str
    own: bool


@dataclass(frozen=True)
class MissingTool:
    """A command that is not installed or not usable. `install`: the full command that installs it."""

    command: str
    install: str
    package: str
    reason: str


def find_tool(need: Need, user: User) -> Tool | MissingTool:
    """The first candidate that the server's user can run and whose version command succeeds."""
    reason = "it is not installed"
    for path in _candidates(need):
        own = path.parent == OWN_PROGRAMS
        if not own and not user.can_run(path):
            reason = f"user {user.name!r} may not run {path}"
            continue
        try:
            with within_limits():
                version = _version(path, path.stat().st_mtime_ns, tuple(need.version))
        except (OSError, subprocess.SubprocessError) as error:
            reason = f"{path} was found, but its version command failed: {error}"
        else:
            return Tool(need.command, path, version, own)
    return MissingTool(need.command, need.install, need.package, reason)


def _candidates(need: Need) -> Iterator[Path]:
    for folder in (str(OWN_PROGRAMS), *os.get_exec_path()):
        path = Path(folder, need.command)
        if os.path.isfile(path):  # noqa: PTH113 (False also in a folder that may not be read)
            yield path
    yield from (Path(place) for place in need.paths if os.path.isfile(place))  # noqa: PTH113


@functools.cache
def _version(path: Path, _changed_ns: int, command: tuple[str, ...]) -> str:
    """The first line that the version command prints. Raises as subprocess does; failures are not cached."""
    if not command:
        return ""
    words = [fill(word, {"command": str(path)}) for word in command]
    done = subprocess.run(
        words, capture_output=True, text=True, errors="replace", timeout=VERSION_TIMEOUT_S, check=True,
        stdin=subprocess.DEVNULL, cwd="/", env={**os.environ, "LC_ALL": "C.UTF-8"},  # some are parsed
    )  # fmt: skip
    lines = [line.strip() for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()]
    return lines[0] if lines else ""

"""Which state of its repository a folder is in, if git knows it."""

import subprocess
from pathlib import Path

__all__ = ["revision"]

TIMEOUT_S = 5.0


def revision(folder: Path) -> dict[str, str | bool] | None:
    """The commit that is checked out in a folder, its branch ("" if none), and whether tracked files differ.

    None where there is no repository, no commit, or no git.
    """
    commit = _said(folder, "rev-parse", "--verify", "HEAD")
    if not commit:
        return None
    branch = _said(folder, "symbolic-ref", "--short", "--quiet", "HEAD") or ""
    changed = bool(_said(folder, "status", "--porcelain", "--untracked-files=no", "--", "."))
    return {"commit": commit, "branch": branch, "changed": changed}


def _said(folder: Path, *command: str) -> str | None:
    """What git prints; None if it fails."""
    try:
        found = subprocess.run(
            ["git", "-C", str(folder), *command],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() if found.returncode == 0 else None

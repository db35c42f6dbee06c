"""Commits of a repository, checked out beside it for as long as they are measured."""

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from jostle.errors import UserError
from jostle.text import first_line, reason

__all__ = ["checked_out"]


@contextmanager
def checked_out(folder: Path, refs: Sequence[str]) -> Iterator[tuple[Path, list[Path]]]:
    """The repository that `folder` is in, and a folder with the files of each commit, which all may enter.

    `refs`: branches, tags or commits. Raises `UserError` if there is no repository, or not these commits.
    """
    top = Path(_git(folder, "rev-parse", "--show-toplevel"))
    commits = [_commit(top, ref) for ref in refs]
    with tempfile.TemporaryDirectory(prefix="jostle-commits-") as name:
        Path(name).chmod(0o755)
        trees = [Path(name, str(number)) for number, _ in enumerate(commits, 1)]
        try:
            for tree, commit in zip(trees, commits, strict=True):
                _git(top, "worktree", "add", "--quiet", "--detach", str(tree), commit)
            yield top, trees
        finally:
            for tree in filter(Path.exists, trees):
                _git(top, "worktree", "remove", "--force", str(tree))


def _commit(top: Path, ref: str) -> str:
    try:
        return _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    except UserError:
        raise UserError(
            f"{ref} is no commit of the repository {top}",
            "fetch it first: git fetch origin; in GitHub Actions: actions/checkout with fetch-depth: 0",
        ) from None


def _git(folder: Path, *command: str) -> str:
    """What git prints. Raises `UserError`."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *command],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except OSError as error:
        raise UserError(f"git cannot be run: {reason(error)}", "install git") from None
    if done.returncode != 0:
        raise UserError(f"git {command[0]} failed in {folder}: {first_line(done.stderr.strip())}")
    return done.stdout.strip()

"""Users of this machine: if jostle is root, servers run as a user without privileges."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from jostle.errors import PlanError

__all__ = ["User"]


@dataclass(frozen=True)
class User:
    """A user of this machine."""

    name: str
    uid: int
    gid: int

    @classmethod
    def of(cls, name: str) -> "User":
        """The user as whom a server runs: `name` if jostle is root, otherwise the one who runs jostle.

        Raises `PlanError` if there is no user `name`.
        """
        uid = os.geteuid()
        if uid != 0:
            return cls(_name_of(uid), uid, os.getegid())
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            raise PlanError(
                f"there is no user {name!r} on this machine, as whom the server would run",
                f"useradd --system {name} adds it; the contestant's key 'user' names another one",
            ) from None
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)

    def take(self, *paths: Path) -> None:
        """Make this user the owner of `paths` if jostle is root; otherwise its user owns them already."""
        if os.geteuid() == 0:
            for path in paths:
                os.chown(path, self.uid, self.gid)

    def can_run(self, program: Path) -> bool:
        """Whether the file exists, and this user may execute it and enter every folder on the way to it."""
        try:
            return program.resolve(strict=True).is_file() and self.stopped_at(program) is None
        except OSError:
            return False

    def stopped_at(self, program: Path) -> Path | None:
        """The first folder on the way to a file that exists, or the file, that this user may not enter or
        execute; links are followed. Raises `OSError`.
        """
        real = program.resolve(strict=True)
        return next((p for p in (*reversed(real.parents), real) if not self._may_execute(p)), None)

    def can_enter(self, folder: Path) -> bool:
        """Whether this user may enter the folder and every folder above it."""
        try:
            return all(
                self._may_execute(part) for part in (folder.resolve(strict=True), *folder.resolve().parents)
            )
        except OSError:
            return False

    def _may_execute(self, path: Path) -> bool:
        if self.uid == os.geteuid():
            return os.access(path, os.X_OK)
        found = path.stat()
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)


def _name_of(uid: int) -> str:
    """The user's name; its number if it has none, as in a container that runs as any uid."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)

"""Builds in the cache: a folder for each combination of contestant, sources, settings and tool versions.

`builds/NAME-KEY/` is the build folder. Beside it, `.json` says that the build is complete (it is written
last, so an interrupted build is never taken for a complete one), `.lock` keeps two jostle processes from
building the same at once, and `.N.log` is what the N-th command printed.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jostle.contestant.tools import Tool
from jostle.errors import BuildFailed
from jostle.host.cache import cache_folder
from jostle.host.files import write_whole
from jostle.host.supervised import SupervisedProcess, Task
from jostle.plan.servers.contestant import Build, fill

__all__ = ["BuildJob"]

FORMAT = "1"
"""Part of every key; increased when builds of an older jostle can no longer be used."""

LEFT_OUT = shutil.ignore_patterns(".git", "__pycache__", "*.pyc")


@dataclass(frozen=True)
class BuildJob:
    """What is built, and from what. `settings`: the variants that the build's commands use."""

    label: str
    name: str
    sources: Path | None
    build: Build
    settings: Mapping[str, str]
    tools: Sequence[Tool]

    def folder(self) -> Path:
        """The folder of the build, which may not exist yet."""
        safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in self.name)
        return cache_folder("builds") / f"{safe}-{self._key()}"

    def is_done(self) -> bool:
        return _is_done(self.folder())

    def run(self, notify: Callable[[str], None]) -> Path:
        """Build if needed, and return the folder. Raises `BuildFailed` with the last lines of output."""
        folder = self.folder()
        if _is_done(folder):
            return folder
        cache_folder("builds", writing=True)
        with _locked(folder, notify) as lock:
            if not _is_done(folder):
                notify(f"building {self.label}")
                self._build(folder, lock)
        return folder

    def _build(self, folder: Path, lock: int) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        _mark(folder).unlink(missing_ok=True)
        folder.mkdir(parents=True)
        for name, file in self._sources().items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, folder / name, follow_symlinks=False)
        for tool in self.tools:
            if tool.own:
                (folder / "bin").mkdir(exist_ok=True)
                shutil.copy2(tool.path, folder / "bin" / tool.command)
        values = self._values(folder)
        for number, command in enumerate(self.build.commands, 1):
            self._run([fill(word, values) for word in command], folder, values, number, lock)
        _open_to_all(folder)
        facts = {"label": self.label, "tools": {tool.command: tool.version for tool in self.tools}}
        write_whole(_mark(folder), json.dumps(facts))

    def _run(
        self, command: list[str], folder: Path, values: Mapping[str, str], number: int, lock: int
    ) -> None:
        """Run one command, with the caller's environment, which may set proxies and registries.

        The supervisor holds the lock until nothing of the command is left.
        """
        log = folder.with_name(f"{folder.name}.{number}.log")
        env = {**os.environ, **{key: fill(text, values) for key, text in self.build.env.items()}}
        process = SupervisedProcess(Task(command, folder, env, log, hold=(lock,)))
        try:
            process.wait()
        finally:
            process.stop()
        if not process.start_error and process.exit is not None and process.exit.code == 0:
            return
        reason = f"could not be run: {process.start_error}" if process.start_error else str(process.exit)
        raise BuildFailed(
            f"{self.label} could not be built: `{' '.join(command)}` {reason}; {process.printed()}",
            f"in {folder}; all that it printed: {log}",
        )

    def _values(self, folder: Path) -> dict[str, str]:
        return {"build": str(folder), **self.settings, **tool_paths(self.tools, folder)}

    def _key(self) -> str:
        digest = hashlib.sha256()

        def add(*texts: str | bytes) -> None:
            for text in texts:
                data = text.encode(errors="surrogateescape") if isinstance(text, str) else text
                digest.update(len(data).to_bytes(8, "little") + data)

        add(FORMAT, json.dumps(self.build.commands), json.dumps(self.build.env, sort_keys=True))
        add(json.dumps(dict(self.settings), sort_keys=True))
        for tool in self.tools:
            add(tool.command, str(tool.path), tool.version)
            if tool.own:
                add(tool.path.read_bytes())
        for name, path in self._sources().items():
            add(name, oct(path.lstat().st_mode))
            add(str(path.readlink()) if path.is_symlink() else path.read_bytes())
        return digest.hexdigest()[:12]

    def _sources(self) -> dict[str, Path]:
        """The files that are copied into the build folder, by their path there: sources and includes."""
        if self.sources is None:
            return {}
        found = {str(file.relative_to(self.sources)): file for file in _files(self.sources)}
        for entry in self.build.include:
            shared = self.sources / entry
            if not shared.exists():
                raise BuildFailed(f"{self.label} includes {shared}, which does not exist")
            folder, files = (shared, _files(shared)) if shared.is_dir() else (shared.parent, [shared])
            for file in files:
                name = str(file.relative_to(folder))
                if name in found:
                    raise BuildFailed(f"{self.label} includes {file}, but has {found[name]} in its place")
                found[name] = file
        return found


def tool_paths(tools: Sequence[Tool], folder: Path) -> dict[str, str]:
    """The path of each needed command. The package's own are in the build folder, where all can run them."""
    return {tool.command: str(folder / "bin" / tool.command if tool.own else tool.path) for tool in tools}


def _files(folder: Path) -> Iterator[Path]:
    """All files that are copied, in a fixed order."""
    names = sorted(os.listdir(folder))  # noqa: PTH208
    left_out = LEFT_OUT(str(folder), names)
    for name in names:
        path = folder / name
        if name in left_out:
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        else:
            yield path


def _mark(folder: Path) -> Path:
    return folder.with_name(folder.name + ".json")


def _is_done(folder: Path) -> bool:
    return _mark(folder).is_file() and folder.is_dir()


@contextmanager
def _locked(folder: Path, notify: Callable[[str], None]) -> Iterator[int]:
    """Hold the build's lock; yields its descriptor."""
    lock = os.open(folder.with_name(folder.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            notify(f"waiting for another jostle that builds {folder.name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
    finally:
        os.close(lock)


def _open_to_all(folder: Path) -> None:
    """Let everybody read what was built, whatever the umask: the server may run as another user."""
    folder.chmod(folder.stat().st_mode | 0o555)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            mode = path.lstat().st_mode
            if not path.is_symlink():
                path.chmod(mode | (0o555 if path.is_dir() or mode & 0o100 else 0o444))

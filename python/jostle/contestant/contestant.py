"""A contestant: a server that can be measured, with its settings, from its commands to its description."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jostle.contestant.build import BuildJob, tool_paths
from jostle.contestant.server import Launch, Server, attach, start
from jostle.contestant.settings import as_text
from jostle.contestant.tools import MissingTool, Tool, find_tool
from jostle.errors import MissingRuntime
from jostle.host.ports import HOST
from jostle.host.users import User
from jostle.plan.servers.contestant import DATABASE_PLACES, ContestantFile, VariantValue, placeholders
from jostle.record.layout import ServerDescription
from jostle.roster.lines_of_code import lines_of_code

__all__ = ["Contestant"]


@dataclass(frozen=True)
class Contestant:
    """A server that can be measured, with its settings."""

    label: str
    """Its name in the record, with only the settings that differ from the defaults."""
    name: str
    file: ContestantFile
    variants: dict[str, VariantValue] = field(default_factory=dict)
    folder: Path | None = None
    """Its sources."""
    url: str | None = None
    """The address if it runs already."""
    copied: bool = True
    """It is built and started in the cache; otherwise it is started in `folder` itself."""

    @property
    def is_started_here(self) -> bool:
        """Whether jostle starts it: false for a server that runs already, and for one that is simulated."""
        return self.url is None and self.file.simulate is None

    def missing(self) -> list[MissingTool]:
        """The commands that it needs and that are not installed, each with how to install it."""
        return [need for need in self._find_tools() if isinstance(need, MissingTool)]

    def versions(self) -> dict[str, str]:
        """The first line that each needed command's version command prints. Raises `MissingRuntime`."""
        return {tool.command: tool.version for tool in self._tools()}

    def is_built(self) -> bool:
        """Whether `build` has nothing to do. False if it cannot build because something is missing."""
        if not self.copied:
            return True
        return not self.missing() and self._job(self._tools()).is_done()

    def build_folder(self) -> Path | None:
        """The folder in which it is or will be built; None if it runs in its own. Raises `MissingRuntime`.

        The folder changes whenever its sources, its settings or the versions of its tools change.
        """
        return self._job(self._tools()).folder() if self.copied and self.is_started_here else None

    def build(self, notify: Callable[[str], None] = lambda _: None) -> Path | None:
        """Build it in the cache if necessary. Returns the folder in which it is started.

        `notify` is called when something is built or waited for. Returns None for a server that runs already.
        Raises `MissingRuntime`, `BuildFailed`.
        """
        tools = self._tools()
        return self._job(tools).run(notify) if self.copied else self.folder

    def start(
        self,
        *,
        cores: Sequence[int] | None = None,
        output: Path | None = None,
        port: int = 0,
        host: str = HOST,
        database: Mapping[str, str] | None = None,
        connect_to: Sequence[str] = (),
        memory: int | None = None,
    ) -> Server:
        """Start it and wait until it is ready, building it first if needed.

        `output`: a file for what it prints. `port`: 0 for any free one. `memory`: the most bytes that its
        processes may hold together, if such a limit can be set. `connect_to`: where clients will connect
        instead of to the host of a `url`. `database`: the values of the placeholders `DATABASE_PLACES`; a
        contestant without a database ignores them. A simulated contestant is not started, and its label takes
        the place of its host. Raises `MissingRuntime`, `BuildFailed`, `StartFailed`; for a `url`
        `UnreachableTarget`.
        """
        if self.url is not None:
            return attach(self.label, self.url, self.file.pid, connect_to)
        if self.file.simulate is not None:
            return Server(self.label, self.label, 1, None)
        folder = self.build()
        assert folder is not None
        return start(
            self._launch(folder, database),
            cores=cores, output=output, port=port, host=host, memory=memory,
        )  # fmt: skip

    def describe(self, server: Server | None = None) -> ServerDescription:
        """For the record: what it is and, with its `server`, how it was started and with which versions."""
        about: ServerDescription = {
            "label": self.label,
            "title": self.file.title or self.name,
            "runtime": self.file.runtime or (server.text("runtime") if server else ""),
            "discipline": self.file.discipline,
            "slice": self.file.slice,
            "variants": dict(self.variants),
        }
        if self.folder is not None and (lines := lines_of_code(self.file, self.folder)) is not None:
            about["lines_of_code"] = lines.as_record()
        if self.file.simulate is not None:
            about["simulated"] = self.file.simulate.model_dump(by_alias=True, exclude_none=True, mode="json")
            return about
        if server is None:
            return about
        if server.memory is not None:
            about["memory_limit"] = {"bytes": server.memory.limit_bytes, "why_not": server.memory.why}
        return {
            **about,
            "version": server.text("version"),
            "command": server.command,
            "url": server.url,
            "pid": server.pid,
            "user": server.user,
            "cores": server.cores,
            "needs": dict(server.tool_versions),
        }

    def _launch(self, folder: Path, database: Mapping[str, str] | None) -> Launch:
        tools = self._tools()
        values = {
            "build": str(folder),
            **{name: as_text(value) for name, value in self.variants.items()},
            **tool_paths(tools, folder),
        }
        if self.file.database:
            values |= database or dict.fromkeys(DATABASE_PLACES, "")
        return Launch(
            self.label, self.name, folder, self.file.start_command(), self.file.start_env(), values,
            self.file.user, self.file.ready, self.file.takes_http1,
            {tool.command: tool.version for tool in tools},
        )  # fmt: skip

    def _find_tools(self) -> list[Tool | MissingTool]:
        if not self.is_started_here and not self.file.needs:
            return []  # its user, who runs nothing, may be missing on this machine
        user = User.of(self.file.user)
        return [find_tool(need, user) for need in self.file.needs]

    def _tools(self) -> list[Tool]:
        needs = self._find_tools()
        missing = [need for need in needs if isinstance(need, MissingTool)]
        if missing:
            wanted = "; ".join(f"{need.command!r}: {need.reason}" for need in missing)
            installs = dict.fromkeys(
                need.install or f"install {need.package or need.command}" for need in missing
            )
            raise MissingRuntime(f"{self.label} needs {wanted}", "\n".join(installs))
        if why := self._barred():
            raise MissingRuntime(f"{self.label} {why}", "or move its program to where everybody may run it")
        return [need for need in needs if isinstance(need, Tool)]

    def _barred(self) -> str:
        """Why its user may not run its program, as far as that is known before it is built; "" if he may."""
        program = next(iter(self.file.start_command()), "")
        if self.copied or self.folder is None or not program or "{" in program:
            return ""
        user = User.of(self.file.user)
        found = [self.folder / program] if "/" in program else _on_path(program)
        if not found or any(user.can_run(path) for path in found):
            return ""
        try:
            stopped = user.stopped_at(found[0])
        except OSError:
            return ""  # the start will tell that it is not there
        if stopped is None:
            return ""
        what = "run" if stopped.is_file() else "enter"
        return (
            f"would run as user {user.name!r}, who may not {what} {stopped}, where {program} leads: "
            f'user = "root" in [contestant.{self.name}] changes that'
        )

    def _job(self, tools: Sequence[Tool]) -> BuildJob:
        used = placeholders(self.file.build_texts())
        settings = {name: as_text(value) for name, value in self.variants.items() if name in used}
        return BuildJob(self.label, self.name, self.folder, self.file.build, settings, tools)


def _on_path(program: str) -> list[Path]:
    """The files of this name in the folders of PATH; the first one is started that its user may run."""
    places = [Path(folder, program) for folder in os.get_exec_path()]
    return [place for place in places if place.is_file()]

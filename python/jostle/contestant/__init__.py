"""A contestant's life: found, built, started, stopped.

    contestant = find("go:procs=1")
    with contestant.start(cores=[0]) as server:
        print(server.url, server.pid)

Builds are cached. A supervisor process of its own (`jostle.host.supervisor`) runs each server, so that
nothing of it stays running after a stop, Ctrl-C or `kill -9` of jostle.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jostle import roster
from jostle.contestant.build import BuildJob
from jostle.contestant.server import Server, attach, start
from jostle.contestant.settings import as_text, canonical, read_settings
from jostle.contestant.tools import Found, Missing, look_up
from jostle.errors import MissingRuntime, PlanError, UnknownName
from jostle.host.ports import HOST
from jostle.host.users import Account
from jostle.plan.contestant import ContestantFile, VariantValue, placeholders
from jostle.plan.labels import split

if TYPE_CHECKING:
    from jostle.database import Database

__all__ = ["Contestant", "Missing", "Server", "find"]


@dataclass(frozen=True)
class Contestant:
    """A server that can be raced, with its settings.

    `label`: as the record calls it, only what differs from the defaults. `folder`: its sources. `url`: of a
    server that runs already. `copied`: built and started in the cache; else started in `folder` itself.
    """

    label: str
    name: str
    file: ContestantFile
    variants: dict[str, VariantValue] = field(default_factory=dict)
    folder: Path | None = None
    url: str | None = None
    copied: bool = True

    def missing(self) -> list[Missing]:
        """The needed commands that are not there, each with the command that installs it."""
        return [need for need in self._look_up() if isinstance(need, Missing)]

    def versions(self) -> dict[str, str]:
        """Needed command → first line of what it says about its version. Raises `MissingRuntime`."""
        return {tool.command: tool.version for tool in self._tools()}

    def versions_in_words(self) -> str:
        """For a reader: "ruby 3.1.2, puma version 5.6.5". A text without the name gets it."""
        return ", ".join(
            text if name.partition("-")[0] in text.lower() else f"{name} {text}"
            for name, text in self.versions().items()
        )

    def is_built(self) -> bool:
        """Whether `build` has nothing to do. False when it cannot, because something is missing."""
        if not self.copied:
            return True
        return not self.missing() and self._job(self._tools()).is_done()

    def build(self, tell: Callable[[str], None] = lambda _: None) -> Path | None:
        """The folder that it is started in; built in the cache if that was not done before.

        `tell` hears when something is built or waited for. None for a server that runs already.
        Raises `MissingRuntime`, `BuildFailed`.
        """
        tools = self._tools()
        return self._job(tools).run(tell) if self.copied else self.folder

    def start(
        self,
        *,
        cores: Sequence[int] | None = None,
        output: Path | None = None,
        port: int = 0,
        host: str = HOST,
        database: "Database | None" = None,
        connect_to: Sequence[str] = (),
    ) -> Server:
        """Start it, wait until it is ready. `output`: file for what it prints; `port` 0: any free one.

        `connect_to`: where clients will connect to in place of the host of a `url`.

        `database`: handed to a contestant that uses one, no matter to others. Builds if needed.
        Raises `MissingRuntime`, `BuildFailed`, `StartFailed`; for a `url` `UnreachableTarget`.
        """
        if self.url is not None:
            return attach(self, self.url, connect_to)
        folder = self.build()
        assert folder is not None
        return start(
            self, folder, self._tools(), cores=cores, output=output, port=port, host=host,
            database=database if self.file.database else None,
        )  # fmt: skip

    def _look_up(self) -> list[Found | Missing]:
        account = Account.of(self.file.user)
        return [look_up(need, account) for need in self.file.needs]

    def _tools(self) -> list[Found]:
        needs = self._look_up()
        missing = [need for need in needs if isinstance(need, Missing)]
        if missing:
            wanted = "; ".join(f"{need.command!r}: {need.why}" for need in missing)
            installs = dict.fromkeys(
                need.install or f"install {need.package or need.command}" for need in missing
            )
            raise MissingRuntime(f"{self.label} needs {wanted}", "\n".join(installs))
        return [need for need in needs if isinstance(need, Found)]

    def _job(self, tools: Sequence[Found]) -> BuildJob:
        used = placeholders(self.file.build_texts())
        settings = {name: as_text(value) for name, value in self.variants.items() if name in used}
        return BuildJob(self.label, self.name, self.folder, self.file.build, settings, tools)


def find(
    label: str, tables: Mapping[str, ContestantFile] | None = None, base: Path | None = None
) -> Contestant:
    """The contestant that `label` (`name:key=value,flag`) names.

    The name is one of `tables` (a plan's own), of the roster, or, with a slash in it, the path of a folder
    with a contestant.toml. `base`: the folder that paths are relative to, the current one when not given.
    Raises `UnknownName` with the nearest, `PlanError`.
    """
    tables, base = tables or {}, (base or Path.cwd()).absolute()
    folder: Path | None
    name = split(label)[0]
    if name in tables:
        file, folder = _own(name, tables[name], base)
        copied = bool(file.build.commands or file.build.include)
    elif "/" in name:
        folder = (base / name).resolve()
        file = ContestantFile.load(folder / "contestant.toml")
        copied = bool(file.build.commands or file.build.include)
    elif name in roster.names():
        file, folder = roster.load(name)
        copied = True
    else:
        raise UnknownName("contestant", name, {*tables, *roster.names()})
    variants = read_settings(label, file.variants)
    return Contestant(
        canonical(name, variants, file.variants), name, file, variants, folder, file.url, copied
    )


def _own(name: str, table: ContestantFile, base: Path) -> tuple[ContestantFile, Path | None]:
    """A plan's table, over the contestant.toml of its folder when the table does not say how to start."""
    if table.url is not None:
        return table, None
    folder = (base / (table.folder or ".")).resolve()
    if table.folder is not None and not folder.is_dir():
        raise PlanError(f"contestant.{name}.folder: {folder} is not a folder")
    if table.start_command():
        return table, folder
    there = ContestantFile.load(folder / "contestant.toml")
    merged = {**there.model_dump(exclude_unset=True), **table.model_dump(exclude_unset=True)}
    return ContestantFile.of(merged, f"contestant.{name}"), folder

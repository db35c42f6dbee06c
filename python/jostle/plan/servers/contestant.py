"""The form of `contestant.toml`, and of a plan's `[contestant.NAME]` table: how a server is built and run.

The shortest table has only `command` (with `{port}` in it), or only `url` for a server that runs already.

A server whose /orders or /shop uses PostgreSQL says `database = true`. Only then may its start command and
environment contain `{database_url}`, `{database_host}`, `{database_port}`, `{database_name}`,
`{database_user}` and `{pool}` (the number of connections that each of its processes may hold). The URL may
contain a password, so it belongs in the environment, which is not recorded. The server is also started
without a database: all of these are then empty, and both routes answer 503 with a line of plain text. A
server that lacks such a route declares it absent instead.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema, model_validator

from jostle.errors import BadValue, PlanError, nearest
from jostle.plan.base import Table, in_own_words
from jostle.plan.connection import Protocol
from jostle.plan.files.toml import TOMLDecodeError, read_toml
from jostle.plan.servers.simulated import Simulated
from jostle.plan.values import PositiveCount, PositiveDuration
from jostle.text import reason
from jostle.url import read_url

__all__ = [
    "DATABASE_PLACES",
    "OPTIONAL_ROUTES",
    "Build",
    "ConnectionLimit",
    "ContestantFile",
    "Need",
    "Ready",
    "Start",
    "Variant",
    "VariantValue",
    "fill",
    "placeholders",
]

VariantValue = bool | int | float | str

PLACES = ("port", "host", "build", "tmp")
"""Placeholders that jostle itself fills in, besides the commands of `needs` and the variants."""

OptionalRoute = Literal["/events", "/ws"]
OPTIONAL_ROUTES: tuple[OptionalRoute, ...] = get_args(OptionalRoute)

DATABASE_PLACES = (
    "database_url",
    "database_host",
    "database_port",
    "database_name",
    "database_user",
    "pool",
)
"""Placeholders filled in from the database, for a server with `database = true`."""

_PLACEHOLDER = re.compile(r"\{([A-Za-z][A-Za-z0-9_.+-]*)\}")


def placeholders(texts: Iterable[str]) -> set[str]:
    """The names in braces in `texts`."""
    return {name for text in texts for name in _PLACEHOLDER.findall(text)}


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with every `{name}` replaced. All names are known: they were checked when the file was read."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _words(command: Any) -> Any:
    """A command may be written as one text, as in a shell, or as a list of words."""
    if not isinstance(command, str):
        return command
    try:
        return shlex.split(command)
    except ValueError as error:
        raise BadValue(f"{command!r}: {error}") from None


Command = Annotated[
    list[str],
    BeforeValidator(_words),
    Field(min_length=1),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
    ),
]


class Need(Table):
    """A command that must be there before the build."""

    command: str = Field(min_length=1, description="looked up on PATH, then in `paths`")
    paths: list[str] = Field(default=[], description="full paths where it may be, besides PATH")
    version: list[str] = Field(
        default=[], description="prints the version for the record; `{command}` is its path"
    )
    package: str = Field(default="", description="the Debian package that contains it")
    install: str = Field(default="", description="the full command that installs it")


class Build(Table):
    """Commands that run one after another in a copy of the folder."""

    include: list[str] = Field(
        default=[],
        description="other files and folders to copy into it, such as those that several servers share; "
        "relative to the folder",
    )
    commands: list[Command] = Field(
        default=[],
        description="run in a copy of the folder in the cache, once for each version of its sources",
    )
    env: dict[str, str] = Field(default={}, description="environment of the build")


class Start(Table):
    """How the server is started, in the foreground. From the caller's environment it gets only PATH."""

    command: Command = Field(description="words or one text; `{port}` is filled in")
    env: dict[str, str] = Field(default={}, description="environment of the server, in addition to PATH")


class Ready(Table):
    """A path that is requested until it answers 200. If `speaks` names only HTTP/2 or gRPC, the server is
    ready as soon as it accepts a connection over HTTP/2.
    """

    path: str = Field(default="/", pattern="^/", description="path of the GET request")
    timeout: PositiveDuration = Field(default=15.0, description="after this time the start counts as failed")


class Variant(Table):
    """A setting that a label may give: `name:key=value`. Its type is that of its default."""

    default: bool | int | float | str = Field(description="its value if the label does not set it")
    about: str = Field(default="", description="what it sets")


class ConnectionLimit(Table):
    """Connection limit built into the server, whatever the machine allows."""

    connections: PositiveCount = Field(description="the most it can hold")
    because: str = Field(min_length=1, description="what happens at the limit")
    unless: str = Field(default="", description="a variant without this limit")


class ContestantFile(Table):
    """A server that can be measured."""

    name: str = Field(default="", description="name of its folder, or of its table in a plan")
    title: str = Field(default="", description="title in reports")
    runtime: str = Field(default="", description="language or runtime")
    discipline: str = Field(
        default="",
        description='for reports: in which order it serves requests, and how many at once, such as "run '
        'to completion"; it changes no measurement',
    )
    slice: str = Field(
        default="",
        description='for reports: the time slice, if the runtime lets requests run in slices: "10 ms"',
    )
    articles: list[str] = Field(default=[], description="the articles that measured it")
    source: str = Field(default="", description="its main source file")
    needs: list[Need] = Field(default=[], description="commands that must be installed")
    build: Build = Field(default_factory=Build, description="how it is built")
    start: Start | None = Field(default=None, description="how it is started, in the foreground")
    command: Command | None = Field(
        default=None, description='short for `start.command`: "./server --port {port}", or a list of words'
    )
    ready: Ready = Field(default_factory=Ready, description="how to tell that it is ready")
    variants: dict[str, Variant] = Field(
        default={},
        description="settings that a label may give (go:procs=1), by name; `{name}` in command and env",
    )
    absent: dict[str, str] = Field(
        default={},
        description='routes that it lacks, each with the reason; "keep-alive" if it closes connections after '
        "each response",
    )
    also: list[OptionalRoute] = Field(
        default=[],
        description="routes it has that not every contestant of jostle has: /events, a stream of events; "
        "/ws, a WebSocket that echoes and pushes",
    )
    speaks: list[Protocol] = Field(
        default=[],
        description='what it speaks on its port without TLS, a list of "HTTP/1.1", "HTTP/2" and "gRPC": '
        "HTTP/2 means with prior knowledge (h2c). A workload in another protocol skips this server; if no "
        "server of the plan speaks that protocol, the plan is refused. If not given, no workload skips it",
    )
    processes: int | str = Field(
        default=1,
        description='how many of its processes hold clients\' connections: a number, or "{variant}"',
    )
    limit: ConnectionLimit | None = Field(default=None, description="connection limit built into the server")
    garbage: str = Field(
        default="",
        pattern="^(/.*)?$",
        description="path that returns the time spent in garbage collection since the start: "
        '{ "seconds": 0.4, "collections": 12 }; for workloads with garbage = true',
    )
    database: bool = Field(default=False, description="whether it uses the plan's database")
    user: str = Field(default="nobody", description="user who runs the server when jostle runs as root")
    folder: str | None = Field(
        default=None,
        description="the folder it is started in, relative to the plan; without a `command`, the folder's "
        "contestant.toml says how",
    )
    url: str | None = Field(
        default=None,
        description="a server that is already running: http://host:port, or udp://host:port for datagrams. A "
        "login (http://user:password@host) is sent as `Authorization: Basic` with each request that has no "
        "Authorization of its own",
    )
    simulate: Simulated | None = Field(
        default=None, description="a server that is calculated and not run: see `contestant.simulate`"
    )
    pid: int | None = Field(
        default=None, ge=1, description="process id of a server that is already running, to watch it"
    )

    @model_validator(mode="after")
    def _one_way_to_reach_it(self) -> Self:
        own = [name for name in ("folder", "command", "start") if getattr(self, name) is not None]
        if self.url is not None and own:
            raise BadValue(f"'url' is for a server that runs already; it cannot have {own[0]!r} too")
        if self.simulate is not None and (own or self.url is not None):
            other = own[0] if own else "url"
            raise BadValue(f"'simulate' is for a server that is calculated; it cannot have {other!r} too")
        if self.pid is not None and self.url is None:
            raise BadValue("'pid' belongs to 'url': the process of a server that runs already")
        if self.command is not None and self.start is not None:
            raise BadValue("'command' is short for 'start.command'", "give one of them")
        if self.url is None and self.simulate is None and not own:
            raise BadValue(
                "has neither a command nor a url",
                "give 'command' with {port} in it, or 'folder' of a contestant.toml, or 'url'",
            )
        if self.url is not None:
            _check_url(self.url)
        return self

    @model_validator(mode="after")
    def _is_asked_in_what_it_speaks(self) -> Self:
        if not self.takes_http1 and self.ready.path != Ready().path:
            raise BadValue(
                f"ready.path is asked in HTTP/1.1, and speaks names {' and '.join(self.speaks)}",
                "leave it out: the server is ready when it takes a connection of HTTP/2",
            )
        return self

    @model_validator(mode="after")
    def _placeholders_are_known(self) -> Self:
        known = {*PLACES, *(need.command for need in self.needs), *self.variants}
        start = placeholders(self.start_texts()) - set(DATABASE_PLACES if self.database else ())
        for used in sorted(start - known):
            if used in DATABASE_PLACES:
                raise BadValue(f"{{{used}}} is for a server with a database", "set 'database = true'")
            raise BadValue(f"{{{used}}} is not a known placeholder here", nearest(used, sorted(known)))
        for used in sorted(placeholders(word for need in self.needs for word in need.version) - {"command"}):
            raise BadValue(
                f"{{{used}}} is not a known placeholder in a version command", "only {command} is known there"
            )
        known -= {"port", "host", "tmp"}
        for used in sorted(placeholders(self.build_texts()) - known):
            raise BadValue(f"{{{used}}} is not a known placeholder in a build", nearest(used, sorted(known)))
        return self

    @model_validator(mode="after")
    def _processes_are_a_number(self) -> Self:
        given = self.processes
        if isinstance(given, int):
            if given < 1:
                raise BadValue(f"processes = {given}", "at least 1")
            return self
        name = given.removeprefix("{").removesuffix("}")
        if given != f"{{{name}}}" or not isinstance(getattr(self.variants.get(name), "default", None), int):
            raise BadValue(
                f"processes = {given!r} is neither a number nor a variant that is one",
                'write for example 1 or "{workers}"',
            )
        return self

    @model_validator(mode="after")
    def _limit_names_a_variant(self) -> Self:
        unless = self.limit.unless if self.limit else ""
        if unless and unless not in self.variants:
            raise BadValue(f"limit.unless: there is no variant {unless!r}", nearest(unless, self.variants))
        return self

    @property
    def takes_http1(self) -> bool:
        """Whether it may be sent HTTP/1.1; true if it does not say what it speaks."""
        return not self.speaks or "HTTP/1.1" in self.speaks

    def _shaped(self, table: dict[str, Any]) -> dict[str, Any]:
        """Without defaults that were not written, if its folder's contestant.toml may say something else."""
        if self.folder is None or self.url is not None or self.start_command():
            return table
        fields = type(self).model_fields
        written = {key for name in self.model_fields_set for key in (name, fields[name].alias)}
        return {key: value for key, value in table.items() if key in written}

    def start_command(self) -> list[str]:
        """The words of the start command, with placeholders; empty if the server runs already."""
        if self.start is not None:
            return self.start.command
        return self.command or []

    def start_env(self) -> dict[str, str]:
        return self.start.env if self.start is not None else {}

    def start_texts(self) -> list[str]:
        return [*self.start_command(), *self.start_env().values()]

    def build_texts(self) -> list[str]:
        return [*(word for command in self.build.commands for word in command), *self.build.env.values()]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a `contestant.toml`. Raises a `PlanError` that names the file and the line or field."""
        try:
            return cls.of(read_toml(path.read_text(encoding="utf-8-sig")), str(path))
        except OSError as error:
            raise PlanError(f"{path} cannot be read: {reason(error)}") from None
        except (TOMLDecodeError, UnicodeDecodeError) as error:
            raise PlanError(f"{path}: {error}") from None

    @classmethod
    def of(cls, table: Mapping[str, Any], origin: str) -> Self:
        """Check a table. Raises a `PlanError` that names `origin` and every wrong field."""
        try:
            return cls.model_validate(table)
        except ValidationError as error:
            raise in_own_words(error, table, origin) from None


def _check_url(url: str) -> None:
    server = read_url(url, ("http", "https", "udp"))
    if server.path not in ("", "/"):
        raise BadValue(
            f"{server} is not the address of a server: its path or query would not be sent",
            f"write {server.scheme}://{server.address}; paths are in the requests",
        )
    if server.login and server.scheme == "udp":
        raise BadValue(f"{server}: datagrams have no login", "leave it out")

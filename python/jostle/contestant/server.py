"""A running server: started under a keeper, asked until it answers, stopped with all that it started."""

import json
import os
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from jostle.contestant.build import tool_paths
from jostle.contestant.settings import as_text
from jostle.contestant.tools import Found
from jostle.errors import StartFailed, UnreachableTarget
from jostle.host import ports
from jostle.host.cache import cache_folder
from jostle.host.procfs import read_stat
from jostle.host.supervised import Exit, Kept, Task, last_lines
from jostle.host.users import Account
from jostle.plan.contestant import DATABASE_PLACES, fill
from jostle.text import host_and_port, reason
from jostle.units import format_duration

if TYPE_CHECKING:
    from jostle.contestant import Contestant
    from jostle.database import Database

__all__ = ["Server", "attach", "start"]

FIRST_PAUSE_S, LAST_PAUSE_S = 0.005, 0.05
"""Between two questions whether it is ready."""
ATTEMPT_S, LAST_ATTEMPT_S = 5.0, 1.0
"""A first answer may take long, but a lost question must not take all of the time. The last is given some."""
ANSWER_BYTES = 65536


@dataclass
class Server:
    """A server that answers. As a context manager it is stopped at the end.

    `pid` is its first process (None when a server that runs already was given without one); `answer` is the
    JSON object that it answered when asked whether it is ready, {} when it was something else.
    """

    contestant: "Contestant"
    host: str
    port: int
    pid: int | None
    command: list[str] = field(default_factory=list)
    cores: list[int] | None = None
    user: str = ""
    needs: dict[str, str] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)
    kept: Kept | None = None
    scheme: str = "http"
    database: "Database | None" = None

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def alive(self) -> bool:
        """False once its first process has ended. True for a server without a known process."""
        if self.kept is not None:
            self.kept.poll()
            return self.kept.exit is None and not self.kept.ended
        return self.pid is None or _runs(self.pid)

    @property
    def exit(self) -> Exit | None:
        """How it ended by itself, if it did: reads as "ended with exit code 1" or "was ended by SIGSEGV"."""
        return self.kept.exit if self.kept is not None else None

    def stop(self) -> None:
        """End its whole process tree; a server that ran before is left running. May be called again."""
        if self.kept is not None:
            self.kept.stop()

    def last_output(self, lines: int = 20) -> str:
        """The last lines that it printed, on stdout or stderr."""
        return last_lines(self.kept.output(), lines) if self.kept is not None else ""

    def describe(self) -> dict[str, Any]:
        """For the record: what it is, how it was started, with which versions."""
        contestant = self.contestant
        return {
            "label": contestant.label,
            "title": contestant.file.title or contestant.name,
            "runtime": contestant.file.runtime or str(self.answer.get("runtime", "")),
            "version": str(self.answer.get("version", "")),
            "discipline": contestant.file.discipline,
            "slice": contestant.file.slice,
            "variants": contestant.variants,
            "command": self.command,
            "url": self.url,
            "pid": self.pid,
            "user": self.user,
            "cores": self.cores,
            "needs": self.needs,
            "database": self.database.describe() if self.database is not None else None,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start(
    contestant: "Contestant",
    folder: Path,
    tools: Sequence[Found],
    *,
    cores: Sequence[int] | None,
    output: Path | None,
    port: int,
    host: str = ports.HOST,
    database: "Database | None" = None,
) -> Server:
    """Start a built contestant and wait until it is ready. Raises `StartFailed`, leaving nothing running."""
    account = Account.of(contestant.file.user)
    if not account.can_enter(folder):
        raise StartFailed(
            f"{contestant.label} would run as user {account.name!r}, who may not enter {folder}",
            "move it, open the folders on the way to it, or set 'user'; for builds, set JOSTLE_CACHE",
        )
    port = ports.claim(port, host)
    scratch = _scratch(contestant.name, account)
    places = {**_places(contestant, folder, tools, host, port, scratch / "tmp"), **_database_places(database)}
    command = [fill(word, places) for word in contestant.file.start_command()]
    env = {key: fill(text, places) for key, text in contestant.file.start_env().items()}
    as_root = os.geteuid() == 0
    kept = Kept(
        Task(
            command=command,
            folder=str(folder),
            env={**_environment(folder, scratch / "tmp"), **env},
            output=str(output.absolute() if output else scratch / "output"),
            uid=account.uid if as_root else None,
            gid=account.gid if as_root else None,
            cores=list(cores or ()),
            scratch=str(scratch),
        )
    )
    versions = {tool.command: tool.version for tool in tools}
    server = Server(
        contestant,
        host,
        port,
        kept.pid,
        command,
        list(cores) if cores else None,
        account.name,
        versions,
        kept=kept,
        database=database,
    )
    try:
        if kept.failed is not None:
            raise StartFailed(f"{contestant.label}: `{' '.join(command)}` could not be run: {kept.failed}")
        server.answer = _until_ready(server, kept)
    except BaseException:
        server.stop()
        raise
    return server


def attach(contestant: "Contestant", url: str, connect_to: Sequence[str] = ()) -> Server:
    """A server that runs already: nothing is asked of it, only a connection is tried, to every place of
    `connect_to` ("IP:PORT", "unix:/path") where clients will not connect to its host.

    Raises `UnreachableTarget` when none can be made.
    """
    parts = urlsplit(url)
    host, port = host_and_port(url)
    server = Server(contestant, host, port, contestant.file.pid, scheme=parts.scheme)
    if not server.alive():
        raise UnreachableTarget(
            f"{contestant.label}: there is no process {server.pid}", "correct 'pid', or leave it out"
        )
    for place in connect_to or [f"{host}:{port}"]:
        try:
            _connect(place).close()
        except OSError as error:
            raise UnreachableTarget(
                f"cannot connect to {place}: {reason(error)}", "is the server running, and the address right?"
            ) from None
    return server


def _connect(place: str) -> socket.socket:
    if place.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(ATTEMPT_S)
            connection.connect(place.removeprefix("unix:"))
        except OSError:
            connection.close()
            raise
        return connection
    host, _, port = place.rpartition(":")
    return socket.create_connection((host.removeprefix("[").removesuffix("]"), int(port)), ATTEMPT_S)


def _scratch(name: str, account: Account) -> Path:
    """A folder of this start alone; `tmp` in it belongs to the server. The keeper removes it."""
    safe = "".join(c if c.isalnum() else "-" for c in name)
    scratch = Path(tempfile.mkdtemp(prefix=f"{safe}-", dir=cache_folder("running")))
    scratch.chmod(0o755)
    (scratch / "tmp").mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(scratch / "tmp", account.uid, account.gid)
    return scratch


def _environment(folder: Path, tmp: Path) -> dict[str, str]:
    """All that a server gets from here. TMPDIR is its own, and so marks its processes wherever they go."""
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", "TMPDIR": str(tmp)}


def _places(
    contestant: "Contestant", folder: Path, tools: Sequence[Found], host: str, port: int, tmp: Path
) -> Mapping[str, str]:
    return {
        "port": str(port),
        "host": host,
        "build": str(folder),
        "tmp": str(tmp),
        **{name: as_text(value) for name, value in contestant.variants.items()},
        **tool_paths(tools, folder),
    }


def _database_places(database: "Database | None") -> Mapping[str, str]:
    """Empty without a database."""
    return database.places() if database is not None else dict.fromkeys(DATABASE_PLACES, "")


def _until_ready(server: Server, kept: Kept) -> dict[str, Any]:
    """Ask until it answers 200, and see that it is the one who answers."""
    ready, label = server.contestant.file.ready, server.contestant.label
    deadline = time.monotonic() + ready.timeout
    pause, asked = FIRST_PAUSE_S, 0
    while True:
        left = deadline - time.monotonic()
        reply = _ask(server.host, server.port, ready.path, min(ATTEMPT_S, max(left, LAST_ATTEMPT_S)))
        asked += 1
        kept.poll(0 if reply.status == 200 else pause)
        if kept.exit is None and not _runs(server.pid):  # the keeper is about to say so
            kept.wait()
        if kept.exit is not None:
            raise StartFailed(_died(label, kept), "start it by hand to see more" if not kept.output() else "")
        if reply.status == 200:
            if ports.listens(server.port, kept.tree()) is False:
                raise StartFailed(
                    f"{label}: something else answers on port {server.port}; {_said(server)}",
                    "choose another port",
                )
            return reply.as_object()
        if left <= 0:
            raise StartFailed(
                f"{label} was not ready within {format_duration(ready.timeout)}: asked {asked} times for "
                f"GET {server.url}{ready.path}, the last time: {reply.says}; {_said(server)}",
                "does it listen on {host} and {port} as it was given? 'ready.timeout' may be raised",
            )
        pause = min(LAST_PAUSE_S, pause * 1.5)


def _runs(pid: int | None) -> bool:
    stat = read_stat(pid) if pid is not None else None
    return stat is not None and stat.state not in "ZX"


def _died(label: str, kept: Kept) -> str:
    assert kept.exit is not None
    others = ""
    if kept.exit.others:
        others = f" and left {kept.exit.others} processes running: it must stay in the foreground"
    kept.wait()  # all that it printed is there only when nothing of it is left
    printed = last_lines(kept.output())
    return f"{label} {kept.exit} before it was ready{others}; " + (
        f"its last output:\n{printed}" if printed else "it printed nothing"
    )


def _said(server: Server) -> str:
    printed = server.last_output()
    return f"its last output:\n{printed}" if printed else "it printed nothing"


@dataclass(frozen=True)
class _Reply:
    """`status` None: none came, and `says` why."""

    status: int | None
    says: str
    body: bytes = b""

    def as_object(self) -> dict[str, Any]:
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def _ask(host: str, port: int, path: str, timeout_s: float) -> _Reply:
    """One GET. Reads at most `ANSWER_BYTES`, for at most about twice the time."""
    import http.client  # not for a server that runs already: `jostle hit` starts fast

    deadline = time.monotonic() + timeout_s
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        response = connection.getresponse()
        body = b""
        while (
            len(body) < ANSWER_BYTES
            and time.monotonic() < deadline
            and (part := response.read1(ANSWER_BYTES))
        ):
            body += part
    except http.client.HTTPException as error:
        return _Reply(None, f"not HTTP: {error!r}")
    except OSError as error:
        return _Reply(None, reason(error))
    finally:
        connection.close()
    return _Reply(response.status, f"status {response.status}", body)

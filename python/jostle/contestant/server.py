"""A running server: started under a supervisor, polled until it answers, stopped with all its processes."""

import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jostle.contestant.http2 import Http2Client, Http2Error
from jostle.errors import StartFailed, UnreachableTarget
from jostle.host import ports
from jostle.host.memory_group import MemoryGroup, limit_memory
from jostle.host.procfs import is_running
from jostle.host.supervised import Exit, NotReady, Scratch, SupervisedProcess, Task, start_until_ready
from jostle.host.users import User
from jostle.plan.servers.contestant import Ready, fill
from jostle.text import reason
from jostle.url import Url, read_url, socket_path

__all__ = ["Launch", "Server", "attach", "start"]

ATTEMPT_S, LAST_ATTEMPT_S = 5.0, 1.0
"""How long one attempt to get a response may take: a first response may be slow, but a lost request must not
use up all the time. The last attempt gets at least the second value."""
RESPONSE_BYTES = 65536
TEXT_CHARACTERS = 200
"""A server's text about itself is cut to this length."""


@dataclass
class Server:
    """A server that answers. As a context manager it is stopped at the end."""

    label: str
    host: str
    port: int
    pid: int | None
    """Its first process; None if it is not known, as for a server that runs already."""
    scheme: str = "http"
    command: list[str] = field(default_factory=list)
    cores: list[int] | None = None
    user: str = ""
    tool_versions: Mapping[str, str] = field(default_factory=dict)
    """Command → version."""
    response: Mapping[str, Any] = field(default_factory=dict)
    """The JSON object with which it answered the readiness request; {} for any other response."""
    process: SupervisedProcess | None = None
    """None if it ran before, in which case it is left running."""
    authorization: str = field(default="", repr=False)
    """The value of the header for the login in its URL; "" without one."""

    @property
    def memory(self) -> MemoryGroup | None:
        """The result of setting a memory limit; None if no limit was wanted."""
        return self.process.task.memory if self.process is not None else None

    @property
    def url(self) -> str:
        """Where it listens, without a login."""
        return str(Url(self.scheme, self.host, self.port))

    def alive(self) -> bool:
        """Whether its first process is running; True if no process is known."""
        if self.process is not None:
            return self.process.alive()
        return self.pid is None or is_running(self.pid)

    @property
    def exit(self) -> Exit | None:
        """How it ended by itself, if it did; as text "ended with exit code 1" or "was ended by SIGSEGV"."""
        return self.process.exit if self.process is not None else None

    def stop(self) -> None:
        """End its whole process tree; a server that ran before is left running. May be called again."""
        if self.process is not None:
            self.process.stop()

    def last_lines(self, lines: int = 20) -> str:
        """The last lines that it printed, on stdout or stderr."""
        return self.process.last_lines(lines) if self.process is not None else ""

    def printed(self) -> str:
        """The end of a message: its last output, or that there is none."""
        return self.process.printed() if self.process is not None else ""

    def text(self, key: str) -> str:
        """What it said about itself under `key`, shortened and in valid Unicode; "" if nothing."""
        return str(self.response.get(key, "")).encode(errors="replace").decode()[:TEXT_CHARACTERS]

    def ask(self, path: str) -> dict[str, Any]:
        """The JSON object with which it answers; {} for any other response, or if none comes in time."""
        try:
            status, body = _get(self.host, self.port, path, ATTEMPT_S, self.authorization)
        except NotReady:
            return {}
        return _json_object(body) if status == 200 else {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


@dataclass(frozen=True)
class Launch:
    """How a built server is started."""

    label: str
    name: str
    folder: Path
    command: Sequence[str]
    """With placeholders, as `env`."""
    env: Mapping[str, str]
    """With placeholders, as `command`."""
    values: Mapping[str, str]
    """The values of the placeholders, apart from {host}, {port} and {tmp}, which are known only at the
    start."""
    user: str
    """The user as whom it runs if jostle is root."""
    ready: Ready
    takes_http1: bool
    """False for a server that is ready when it accepts an HTTP/2 connection."""
    tool_versions: Mapping[str, str]


def start(
    launch: Launch,
    *,
    cores: Sequence[int] | None,
    output: Path | None,
    port: int,
    host: str = ports.HOST,
    memory: int | None = None,
) -> Server:
    """Start a server and wait until it is ready. Raises `StartFailed`, leaving nothing running.

    `memory`: the most bytes that its processes may hold together. If that limit cannot be set, it runs
    without one, and `Server.memory` says why.
    """
    user = User.of(launch.user)
    if not user.can_enter(launch.folder):
        raise StartFailed(
            f"{launch.label} would run as user {user.name!r}, who cannot enter {launch.folder}",
            "move it, open the folders on the way to it, or set 'user'; for builds, set JOSTLE_CACHE",
        )
    port = ports.claim(port, host)
    scratch = Scratch.create(launch.name, user)
    values = {**launch.values, "host": host, "port": str(port), "tmp": str(scratch.tmp)}
    task = Task(
        command=[fill(word, values) for word in launch.command],
        folder=launch.folder,
        env=_environment(launch.folder, scratch.tmp)
        | {key: fill(text, values) for key, text in launch.env.items()},
        output=output.absolute() if output else scratch.output,
        user=user,
        cores=list(cores or ()),
        scratch=scratch,
        memory=limit_memory(memory) if memory is not None else None,
    )
    process, response = start_until_ready(
        launch.label,
        task,
        lambda process, left_s: _response(launch, host, port, process, left_s),
        timeout_s=launch.ready.timeout,
        hint="does it listen on {host} and {port} as it was given? 'ready.timeout' may be raised",
    )
    return Server(
        launch.label, host, port, process.pid, "http", list(task.command), list(cores) if cores else None,
        user.name, launch.tool_versions, response, process,
    )  # fmt: skip


def attach(label: str, url: str, pid: int | None, connect_to: Sequence[str] = ()) -> Server:
    """A server that runs already. Only a connection is tried; no request is sent.

    It is tried to every place of `connect_to` ("IP:PORT", "unix:/path"), or to the server's host if there are
    none; over udp:// not at all. Raises `UnreachableTarget` if it fails.
    """
    address = read_url(url)
    server = Server(
        label, address.host, address.port, pid, address.scheme, authorization=address.authorization
    )
    if not server.alive():
        raise UnreachableTarget(f"{label}: there is no process {pid}", "correct or remove 'pid'")
    places = [] if server.scheme == "udp" else connect_to or [address.address]
    for place in places:
        try:
            _connect(place).close()
        except OSError as error:
            _, percent, zone = place.partition("]")[0].partition("%")
            if percent and isinstance(error, socket.gaierror):
                raise UnreachableTarget(
                    f"cannot connect to {place}: this machine has no network interface {zone} with such an "
                    "address",
                    "`ip -6 addr` lists them",
                ) from None
            raise UnreachableTarget(
                f"cannot connect to {place}: {reason(error)}", "is the server running, and the address right?"
            ) from None
    return server


def _connect(place: str) -> socket.socket:
    if place.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(ATTEMPT_S)
            connection.connect(socket_path(place.removeprefix("unix:")))
        except OSError:
            connection.close()
            raise
        return connection
    host, _, port = place.rpartition(":")
    return socket.create_connection((host.removeprefix("[").removesuffix("]"), int(port)), ATTEMPT_S)


def _environment(folder: Path, tmp: Path) -> dict[str, str]:
    """The server's whole environment. Its own TMPDIR identifies its processes, wherever they are."""
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", "TMPDIR": str(tmp)}


def _response(
    launch: Launch, host: str, port: int, process: SupervisedProcess, left_s: float
) -> dict[str, Any]:
    """The response to the readiness request. Raises `NotReady`, or `StartFailed` if another server
    answers."""
    timeout_s = min(ATTEMPT_S, max(left_s, LAST_ATTEMPT_S))
    body = b""
    if launch.takes_http1:
        body = _got(launch.ready.path, host, port, timeout_s)
    else:
        _begin_http2(host, port, timeout_s)
    if ports.listens(port, process.tree()) is False:
        raise StartFailed(
            f"{launch.label}: something else answers on port {port}; {process.printed()}",
            "choose another port",
        )
    return _json_object(body)


def _got(path: str, host: str, port: int, timeout_s: float) -> bytes:
    status, body = _get(host, port, path, timeout_s)
    if status != 200:
        raise NotReady(
            f"GET {path} on port {port}: status {status}",
            'name a route that answers 200: ready = { path = "/health" }',
        )
    return body


def _begin_http2(host: str, port: int, timeout_s: float) -> None:
    """Raise `NotReady` if no HTTP/2 connection is accepted."""
    try:
        Http2Client(host, port, timeout_s).close()
    except Http2Error as error:
        raise NotReady(f"HTTP/2 on port {port}: {error}") from None
    except OSError as error:
        raise NotReady(f"HTTP/2 on port {port}: {reason(error)}") from None


def _get(host: str, port: int, path: str, timeout_s: float, authorization: str = "") -> tuple[int, bytes]:
    """Status and about `RESPONSE_BYTES` of the body at most, in about twice the time. Raises `NotReady`."""
    import http.client  # imported late: `jostle hit` does not need it, and should start fast

    deadline = time.monotonic() + timeout_s
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        login = {"Authorization": authorization} if authorization else {}
        connection.request("GET", path, headers={"Connection": "close", **login})
        response = connection.getresponse()
        body = b""
        while (
            len(body) < RESPONSE_BYTES
            and time.monotonic() < deadline
            and (part := response.read1(RESPONSE_BYTES))
        ):
            body += part
        return response.status, body
    except http.client.HTTPException as error:
        raise NotReady(f"GET {path} on port {port}: not HTTP: {error!r}") from None
    except OSError as error:
        raise NotReady(f"GET {path} on port {port}: {reason(error)}") from None
    finally:
        connection.close()


def _json_object(body: bytes) -> dict[str, Any]:
    """The JSON object; {} for anything else."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):  # the parser cannot handle sixty thousand nested brackets
        return {}
    return value if isinstance(value, dict) else {}

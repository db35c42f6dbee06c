"""A PostgreSQL cluster of our own: created, filled, started, and removed without a trace when it is stopped.

One supervisor runs everything: its command is a shell that creates the cluster, fills it in single-user mode
and then becomes the server, so that nothing is left wherever it is interrupted. Durability is off, and so is
autovacuum, since nothing is written afterwards except the shop's purchases. The owner may use the unix
socket; servers connect over loopback as a user who may only read, and add purchases.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from jostle.contestant.tools import MissingTool, Tool, find_tool
from jostle.database.options import Options
from jostle.database.tables import CREATE, TABLES, keys, rows
from jostle.errors import MissingRuntime, PlanError, StartFailed
from jostle.host import ports
from jostle.host.cache import cache_folder
from jostle.host.supervised import NotReady, Scratch, Task, start_until_ready
from jostle.host.users import User
from jostle.plan.servers.contestant import Need

__all__ = ["NAME", "USER", "PrivatePostgres", "missing"]

NAME = USER = "jostle"
OWNER = "postgres"
"""The superuser inside the cluster."""

POSTGRES = Need(
    command="postgres",
    paths=[f"/usr/lib/postgresql/{major}/bin/postgres" for major in (15, 16, 17, 18, 14)],
    version=["{command}", "--version"],
    package="postgresql-15",
    install="apt-get install -y --no-install-recommends postgresql-15",
)
MAX_SOCKET_BYTES = 107
READY_S = 60.0

SCRIPT = """
quietly() {{ "$@" >log || {{ cat log; exit 1; }}; }}
quietly initdb -D data -U {owner} --auth=trust --no-sync --locale=C --encoding=UTF8
cp pg_hba.conf data/pg_hba.conf
quietly postgres --single -D data -c exit_on_error=on {settings} postgres <database.sql
quietly postgres --single -D data -c exit_on_error=on {settings} {name} <fill.sql
exec postgres -D data -p {port} -k "$PWD" -c listen_addresses={host} {settings}
"""
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "jit": "off",
    "autovacuum": "off",
    "max_connections": "500",
    "dynamic_shared_memory_type": "mmap",  # in files of its own folder, so that nothing is left in /dev/shm
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
}
ACCESS = f"""\
local all all trust
host {NAME} {USER} {ports.HOST}/32 trust
"""
"""pg_hba.conf. The socket needs no password: only the cluster's own user may enter its folder."""
DATABASE = f"""\
CREATE ROLE {USER} LOGIN;
CREATE DATABASE {NAME};
"""
FILL = """\
{create}{copy}{keys}GRANT SELECT ON {tables} TO {user};
GRANT INSERT ON shop_purchases TO {user};
GRANT USAGE ON shop_purchases_id_seq TO {user};
VACUUM ANALYZE;
"""


def missing() -> MissingTool | None:
    """What a private cluster lacks on this machine, with the command that installs it; None if nothing."""
    need = find_tool(POSTGRES, _user())
    return need if isinstance(need, MissingTool) else None


class PrivatePostgres:
    """A running cluster, filled. Raises `MissingRuntime`, `StartFailed`, leaving nothing behind."""

    def __init__(self, options: Options, *, cores: Sequence[int] | None = None, port: int = 0) -> None:
        user = _user()
        postgres = find_tool(POSTGRES, user)
        if isinstance(postgres, MissingTool):
            raise MissingRuntime(
                f"the database needs {postgres.command!r}: {postgres.reason}", postgres.install
            )
        self.version = postgres.version
        self.port = ports.claim(port)
        self.scratch = scratch = _scratch(user, self.port)
        try:
            _write_content(scratch.tmp, options, user)
            self.process, _ = start_until_ready(
                "the database",
                _task(postgres, scratch, user, self.port, list(cores or ())),
                lambda *_: _see_ready(scratch.tmp / "data" / "postmaster.pid"),
                timeout_s=READY_S,
            )
        except BaseException:
            shutil.rmtree(scratch.folder, ignore_errors=True)
            raise

    @property
    def pid(self) -> int | None:
        """The postmaster, the parent of all its processes."""
        return self.process.pid

    def alive(self) -> bool:
        return self.process.alive()

    def stop(self) -> None:
        self.process.stop()


def _task(postgres: Tool, scratch: Scratch, user: User, port: int, cores: list[int]) -> Task:
    settings = " ".join(f"-c {key}={value}" for key, value in SETTINGS.items())
    script = SCRIPT.format(owner=OWNER, name=NAME, port=port, host=ports.HOST, settings=settings)
    return Task(
        command=["/bin/sh", "-c", script],
        folder=scratch.tmp,
        env={
            "PATH": f"{postgres.path.resolve().parent}:/usr/bin:/bin",
            "HOME": str(scratch.tmp),
            "LANG": "C.UTF-8",
            "TMPDIR": str(scratch.tmp),
        },
        output=scratch.output,
        user=user,
        cores=cores,
        scratch=scratch,
    )


def _see_ready(pid_file: Path) -> None:
    """Check as pg_ctl does: the postmaster notes in its pid file when it accepts connections.

    Raises `NotReady`.
    """
    try:
        lines = pid_file.read_text().splitlines()
    except OSError:
        raise NotReady("the cluster is not made yet") from None
    if len(lines) < 8 or lines[7].strip() != "ready":
        raise NotReady("its pid file does not say that it is ready")


def _user() -> User:
    """The user who runs PostgreSQL, which refuses to run as root: postgres if it exists, else nobody."""
    try:
        return User.of(OWNER)
    except PlanError:
        return User.of("nobody")


def _scratch(user: User, port: int) -> Scratch:
    """The cluster's folder: in the cache, or in a temporary folder if its socket's path would be too long."""
    for base in (cache_folder("running", writing=True), Path(tempfile.gettempdir()), Path("/tmp")):
        scratch = Scratch.create("database", user, base)
        socket = scratch.tmp / f".s.PGSQL.{port}"
        if len(os.fsencode(socket)) <= MAX_SOCKET_BYTES and user.can_enter(base):
            return scratch
        shutil.rmtree(scratch.folder)
    raise StartFailed("no folder for the database's socket", "set TMPDIR to a short path that all may enter")


def _write_content(folder: Path, options: Options, user: User) -> None:
    """Write the files from which the cluster is filled."""
    filled = rows(options)
    for table, lines in filled.items():
        (folder / f"{table}.tsv").write_text(lines, encoding="utf-8")
    copy = "".join(f"COPY {table} FROM '../{table}.tsv';\n" for table in filled)
    fill = FILL.format(create=CREATE, copy=copy, keys=keys(options), tables=", ".join(TABLES), user=USER)
    (folder / "pg_hba.conf").write_text(ACCESS)
    (folder / "database.sql").write_text(DATABASE)
    (folder / "fill.sql").write_text(fill)
    user.take(*folder.iterdir())

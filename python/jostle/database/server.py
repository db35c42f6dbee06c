"""A PostgreSQL cluster of our own: made, filled, started, and gone without a trace when it is stopped.

One keeper holds everything: its command is a shell that makes the cluster, fills it in single-user mode and
then becomes the server, so that nothing stays wherever it is cut short. Durability is off; autovacuum too, as
nothing is written any more. The owner may use the unix socket, servers come in over loopback as a user who
may only read.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from jostle.contestant.tools import Found, Missing, look_up
from jostle.database.options import Options
from jostle.database.tables import CREATE, keys, rows
from jostle.errors import MissingRuntime, PlanError, StartFailed
from jostle.host import ports
from jostle.host.cache import cache_folder
from jostle.host.supervised import Kept, Task, last_lines
from jostle.host.users import Account
from jostle.plan.contestant import Need

__all__ = ["NAME", "USER", "Cluster", "missing"]

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
MOST_SOCKET_BYTES = 107
READY_S = 60.0
PAUSE_S = 0.01

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
    "dynamic_shared_memory_type": "mmap",  # files of its own folder: nothing is left in /dev/shm
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
}
ACCESS = f"""\
local all all trust
host {NAME} {USER} {ports.HOST}/32 trust
"""
"""The socket is in a folder that only the account behind the cluster may enter."""
DATABASE = f"""\
CREATE ROLE {USER} LOGIN;
CREATE DATABASE {NAME};
"""
FILL = """\
{create}COPY customers FROM '../customers.tsv';
COPY orders FROM '../orders.tsv';
{keys}GRANT SELECT ON customers, orders TO {user};
VACUUM ANALYZE;
"""


def missing() -> Missing | None:
    """What a private cluster lacks on this machine, with the command that installs it."""
    need = look_up(POSTGRES, _account())
    return need if isinstance(need, Missing) else None


class Cluster:
    """A running cluster, filled. Raises `MissingRuntime`, `StartFailed`, leaving nothing behind."""

    def __init__(self, options: Options, *, cores: Sequence[int] | None = None, port: int = 0) -> None:
        self.account = _account()
        postgres = look_up(POSTGRES, self.account)
        if isinstance(postgres, Missing):
            raise MissingRuntime(f"the database needs {postgres.command!r}: {postgres.why}", postgres.install)
        self.version = postgres.version
        self.port = ports.claim(port)
        self.folder = _scratch(self.account, self.port)
        try:
            _write_content(self.folder, options, self.account)
            self.kept = Kept(self._task(postgres, list(cores or ())))
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        try:
            self._until_ready()
        except BaseException:
            self.kept.stop()
            raise

    @property
    def pid(self) -> int | None:
        """The postmaster, below which all that the database does is done."""
        return self.kept.pid

    def alive(self) -> bool:
        self.kept.poll()
        return self.kept.exit is None and not self.kept.ended

    def stop(self) -> None:
        self.kept.stop()

    def _task(self, postgres: Found, cores: list[int]) -> Task:
        as_root = os.geteuid() == 0
        settings = " ".join(f"-c {key}={value}" for key, value in SETTINGS.items())
        script = SCRIPT.format(owner=OWNER, name=NAME, port=self.port, host=ports.HOST, settings=settings)
        return Task(
            command=["/bin/sh", "-c", script],
            folder=str(self.folder / "tmp"),
            env={
                "PATH": f"{postgres.path.resolve().parent}:/usr/bin:/bin",
                "HOME": str(self.folder / "tmp"),
                "LANG": "C.UTF-8",
                "TMPDIR": str(self.folder / "tmp"),
            },
            output=str(self.folder / "output"),
            uid=self.account.uid if as_root else None,
            gid=self.account.gid if as_root else None,
            cores=cores,
            scratch=str(self.folder),
        )

    def _until_ready(self) -> None:
        """As pg_ctl does: the postmaster writes into its pid file when it takes connections."""
        deadline = time.monotonic() + READY_S
        while not self._says_ready():
            self.kept.poll(PAUSE_S)
            if self.kept.exit is not None or self.kept.failed is not None:
                self.kept.wait()
                why = self.kept.failed or f"{self.kept.exit}"
                raise StartFailed(f"the database {why} before it was ready; {self._printed()}")
            if time.monotonic() > deadline:
                raise StartFailed(f"the database was not ready within {READY_S:.0f} s; {self._printed()}")

    def _says_ready(self) -> bool:
        try:
            lines = (self.folder / "tmp" / "data" / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) >= 8 and lines[7].strip() == "ready"

    def _printed(self) -> str:
        printed = last_lines(self.kept.output())
        return f"its last output:\n{printed}" if printed else "it printed nothing"


def _account() -> Account:
    """PostgreSQL refuses to run as root: its own user does it, else nobody."""
    try:
        return Account.of(OWNER)
    except PlanError:
        return Account.of("nobody")


def _scratch(account: Account, port: int) -> Path:
    """The cluster's folder: in the cache, or where temporary files go if its socket's path were too long."""
    for base in (cache_folder("running"), Path(tempfile.gettempdir()), Path("/tmp")):
        scratch = Path(tempfile.mkdtemp(prefix="database-", dir=base))
        socket = scratch / "tmp" / f".s.PGSQL.{port}"
        if len(os.fsencode(socket)) <= MOST_SOCKET_BYTES and account.can_enter(base):
            break
        scratch.rmdir()
    else:
        raise StartFailed(
            "no folder for the database's socket", "set TMPDIR to a short path that all may enter"
        )
    scratch.chmod(0o755)
    (scratch / "tmp").mkdir(mode=0o700)
    return scratch


def _write_content(scratch: Path, options: Options, account: Account) -> None:
    """The files that the cluster is filled from."""
    folder = scratch / "tmp"
    people, orders = rows(options)
    (folder / "customers.tsv").write_text(people, encoding="utf-8")
    (folder / "orders.tsv").write_text(orders, encoding="utf-8")
    (folder / "pg_hba.conf").write_text(ACCESS)
    (folder / "database.sql").write_text(DATABASE)
    (folder / "fill.sql").write_text(FILL.format(create=CREATE, keys=keys(options), user=USER))
    if os.geteuid() == 0:
        for path in (folder, *folder.iterdir()):
            os.chown(path, account.uid, account.gid)

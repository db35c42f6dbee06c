"""Your own database: psql checks whether it is suitable; it is filled only with permission.

Nothing is written without `fill`. The password is passed to psql in its environment, which other users of the
machine cannot read.
"""

import os
import socket
import subprocess
from urllib.parse import unquote, urlsplit

from jostle.contestant.tools import MissingTool, find_tool
from jostle.database.options import Options
from jostle.database.tables import CREATE, TABLES, keys, rows
from jostle.errors import MissingRuntime, PlanError, UnreachableTarget
from jostle.host.users import User
from jostle.plan.servers.contestant import Need
from jostle.plan.servers.database import postgresql
from jostle.redaction.texts import without_password
from jostle.text import reason
from jostle.url import host_and_port

__all__ = ["prepare"]

ATTEMPT_S = 5
PSQL = Need(
    command="psql",
    package="postgresql-client",
    install="apt-get install -y --no-install-recommends postgresql-client",
)
CHECK_SQL = """\
SELECT id, customer_id, ordered_on, item FROM orders LIMIT 0;
SELECT count(*) FROM (SELECT id, name FROM customers LIMIT 1) AS one;
"""
FILL_SQL = """\
BEGIN;
DROP TABLE IF EXISTS {tables};
{create}{copy}{keys}COMMIT;
"""


def prepare(url: str, options: Options, *, fill: bool) -> str:
    """Check that servers can use the database at `url`; with `fill`, create its tables. Returns its version.

    Raises `PlanError` for an invalid address or unsuitable tables, `UnreachableTarget`, and `MissingRuntime`
    if there is no psql.
    """
    _check_reachable(url)
    version = _version(url)
    if fill:
        copy = "".join(f"COPY {table} FROM STDIN;\n{lines}\\.\n" for table, lines in rows(options).items())
        tables = ", ".join(TABLES)
        _fill(url, FILL_SQL.format(create=CREATE, copy=copy, keys=keys(options), tables=tables))
        _tidy(url, f"VACUUM ANALYZE {tables};")
    else:
        _check_tables(url)
    return f"postgres (PostgreSQL) {version}"


def _check_reachable(url: str) -> None:
    """Check that the URL is valid, and that something listens there."""
    host, port = host_and_port(postgresql(url))
    try:
        socket.create_connection((host, port), ATTEMPT_S).close()
    except OSError as error:
        raise UnreachableTarget(
            f"cannot connect to the database at {host}:{port}: {reason(error)}",
            "is it running, and the address right?",
        ) from None


def _version(url: str) -> str:
    """The server's version, by the first query. Raises `UnreachableTarget` if the login fails."""
    done = _psql(url, "SHOW server_version;")
    if done.returncode:
        raise UnreachableTarget(
            f"the database at {without_password(url)} cannot be used: {_message(done.stderr)}",
            "user, password and database in the address must be those that psql would take",
        )
    return done.stdout.strip()


def _check_tables(url: str) -> None:
    needs = (
        "it needs the tables customers (id, name) and orders (id, customer_id, ordered_on, item); "
        "--fill-database makes them and the shop's (shop_items, shop_accounts, shop_purchases), in place of "
        "any of these names"
    )
    done = _psql(url, CHECK_SQL)
    if done.returncode:
        raise PlanError(
            f"the database at {without_password(url)} has no orders: {_message(done.stderr)}", needs
        )
    if done.stdout.split()[-1:] == ["0"]:
        raise PlanError(f"the database at {without_password(url)} has no customers", needs)


def _fill(url: str, script: str) -> None:
    done = _psql(url, script)
    if done.returncode:
        raise PlanError(
            f"the database at {without_password(url)} could not be filled: {_message(done.stderr)}",
            "its tables are as they were; the user must be allowed to make tables, and nothing may depend "
            "on tables that are to be replaced",
        )


def _tidy(url: str, script: str) -> None:
    """Bring the planner's statistics up to date, as they would be on a server that has run for a while."""
    done = _psql(url, script)
    if done.returncode:
        raise PlanError(
            f"the database at {without_password(url)} was filled, but not analysed: {_message(done.stderr)}"
        )


def _psql(url: str, sql: str) -> subprocess.CompletedProcess[str]:
    psql = find_tool(PSQL, User.of("root"))  # psql runs as the user who runs jostle, root or not
    if isinstance(psql, MissingTool):
        raise MissingRuntime(f"your own database needs {psql.command!r}: {psql.reason}", psql.install)
    environment = {**os.environ, "PGCONNECT_TIMEOUT": str(ATTEMPT_S)}
    if password := urlsplit(url).password:
        environment["PGPASSWORD"] = unquote(password)
    command = [str(psql.path), "-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1"]
    return subprocess.run(
        [*command, "-d", without_password(url)], input=sql, env=environment, capture_output=True, text=True,
        encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip


def _message(stderr: str) -> str:
    """What psql printed, in one line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return " ".join(lines[:2]).removeprefix("psql: ").removeprefix("error: ") or "psql printed nothing"

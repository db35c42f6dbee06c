"""The database of the orders page: customers and their orders in PostgreSQL, near or far.

    with start(Options(delay_ms=2)) as database:
        server = find("node").start(database=database)

A private cluster is made, filled and started in about a second, and is gone afterwards, also when jostle is
killed. A database of one's own (`url`) is used as it is: it needs the tables customers (id, name) and
orders (id, customer_id, ordered_on, item), and nothing is written to it.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from jostle.contestant import ports
from jostle.database.cluster import NAME, USER, Cluster, missing
from jostle.database.delay import DelayProxy
from jostle.database.options import Options
from jostle.database.orders import Customer, Order
from jostle.errors import PlanError, UnreachableTarget

__all__ = ["Customer", "Database", "Options", "Order", "missing", "start"]

DEFAULT_PORT = 5432
ATTEMPT_S = 5.0


@dataclass(frozen=True)
class Database:
    """A database that servers can use. As a context manager it is stopped at the end.

    `url`: where servers find it. `cluster` None: it ran before, and is left running.
    """

    url: str
    options: Options
    cluster: Cluster | None = None
    proxy: DelayProxy | None = None

    @property
    def pid(self) -> int | None:
        """The postmaster, below which all that the database does is done; None for one of one's own."""
        return self.cluster.pid if self.cluster is not None else None

    def alive(self) -> bool:
        return all(part.alive() for part in (self.cluster, self.proxy) if part is not None)

    def content(self) -> dict[str, Customer] | None:
        """What is in it: name → customer; None for a database of one's own."""
        if self.cluster is None:
            return None
        return {customer.name: customer for customer in self.options.content()}

    def places(self) -> dict[str, str]:
        """The placeholders of contestant.toml that it fills in."""
        parts = urlsplit(self.url)
        return {
            "database_url": self.url,
            "database_host": parts.hostname or "",
            "database_port": str(parts.port or DEFAULT_PORT),
            "database_name": unquote(parts.path[1:]),
            "database_user": unquote(parts.username or ""),
            "pool": str(self.options.pool),
        }

    def describe(self) -> dict[str, Any]:
        """For the record; without the password."""
        if self.cluster is None:
            chosen = {"pool": self.options.pool, "delay_ms": self.options.delay_ms}
            return {"private": False, "url": _without_password(self.url), **chosen}
        facts = {"private": True, "url": self.url, "version": self.cluster.version, "pid": self.pid}
        return {**facts, **self.options.describe()}

    def stop(self) -> None:
        """End what was started here. May be called again."""
        for part in (self.proxy, self.cluster):
            if part is not None:
                part.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start(
    options: Options | None = None, *, url: str | None = None, cores: Sequence[int] | None = None
) -> Database:
    """A private cluster, or the database at `url`; behind a proxy if its answers are to be delayed.

    `cores`: what the private cluster may use. Raises `MissingRuntime`, `StartFailed`; for a `url`
    `PlanError`, `UnreachableTarget`.
    """
    options = options or Options()
    if url is not None:
        _check(url)
        return _delayed(Database(url, options))
    cluster = Cluster(options, cores=cores)
    near = f"postgresql://{USER}@{ports.HOST}:{cluster.port}/{NAME}"
    try:
        return _delayed(Database(near, options, cluster))
    except BaseException:
        cluster.stop()
        raise


def _delayed(near: Database) -> Database:
    """The same database, behind a proxy if there is to be a delay."""
    if not near.options.delay_ms:
        return near
    parts = urlsplit(near.url)
    proxy = DelayProxy(parts.hostname or "", parts.port or DEFAULT_PORT, near.options.delay_ms)
    who = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    far = parts._replace(netloc=f"{who}{ports.HOST}:{proxy.port}").geturl()
    return Database(far, near.options, near.cluster, proxy)


def _check(url: str) -> None:
    """Whether the URL is one, and something listens there."""
    example = "write for example postgresql://me:secret@127.0.0.1:5432/shop"
    parts = urlsplit(url)
    try:
        port = parts.port or DEFAULT_PORT
    except ValueError:
        raise PlanError(f"{_without_password(url)!r}: the port must be from 0 to 65535", example) from None
    if parts.scheme not in ("postgresql", "postgres") or not parts.hostname or not parts.path[1:]:
        raise PlanError(f"{_without_password(url)!r} is not the address of a PostgreSQL database", example)
    try:
        socket.create_connection((parts.hostname, port), ATTEMPT_S).close()
    except OSError as error:
        why = error.strerror.lower() if error.strerror else str(error)
        raise UnreachableTarget(
            f"cannot connect to the database at {parts.hostname}:{port}: {why}",
            "is it running, and the address right?",
        ) from None


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    who, at, where = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{who.partition(':')[0]}{at}{where}").geturl()

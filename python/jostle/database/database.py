"""A database that servers can use: its address, its content, and the delay in front of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from jostle.contestant.stock import Stock
from jostle.database import shop
from jostle.database.external import prepare
from jostle.database.options import Options
from jostle.database.proxy import DelayProxy
from jostle.database.server import NAME, USER, PrivatePostgres
from jostle.host import ports
from jostle.redaction.texts import without_password
from jostle.url import host_and_port

__all__ = ["Database", "start"]


@dataclass(frozen=True)
class Database:
    """A database that servers can use. As a context manager it is stopped at the end."""

    direct_url: str
    """Its address without the delay proxy."""
    options: Options
    version: str = ""
    filled: bool = False
    """Its content is as `options` say."""
    server: PrivatePostgres | None = None
    """None if it ran before; it is then left running."""
    proxy: DelayProxy | None = None

    @property
    def url(self) -> str:
        """The address for servers: that of the proxy, if there is one."""
        if self.proxy is None:
            return self.direct_url
        parts = urlsplit(self.direct_url)
        who = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
        return parts._replace(netloc=f"{who}{ports.HOST}:{self.proxy.port}").geturl()

    @property
    def pid(self) -> int | None:
        """The postmaster, the parent of all its processes; None for your own database."""
        return self.server.pid if self.server is not None else None

    def alive(self) -> bool:
        return all(part.alive() for part in (self.server, self.proxy) if part is not None)

    def pages(self) -> dict[str, list[str]]:
        """What /orders shows for each customer, by name: a line for each order, by date.

        Empty if the content is its owner's and not known.
        """
        if not self.filled:
            return {}
        return {
            customer.name: [f"{order.ordered_on}: {order.item}" for order in customer.by_date()]
            for customer in self.options.content()
        }

    def stock(self) -> Stock | None:
        """What the shop sells, and who may buy there; None if the content is its owner's and not known."""
        return shop.stock(self.options.content()) if self.filled else None

    def placeholders(self) -> dict[str, str]:
        """The values of the database placeholders of contestant.toml."""
        parts = urlsplit(self.url)
        host, port = host_and_port(self.url)
        return {
            "database_url": self.url,
            "database_host": host,
            "database_port": str(port),
            "database_name": unquote(parts.path[1:]),
            "database_user": unquote(parts.username or ""),
            "pool": str(self.options.pool),
        }

    def describe(self) -> dict[str, Any]:
        """For the record, without the password."""
        facts = {"private": self.server is not None, "version": self.version, "pid": self.pid}
        chosen = self.options.describe()
        if not self.filled:  # the content is its owner's
            chosen = {key: chosen[key] for key in ("pool", "delay_ms")}
        return {**facts, "url": without_password(self.url), **chosen}

    def with_options(self, options: Options) -> "Database":
        """The same content with another pool or delay. `self` must no longer be used."""
        if self.proxy is not None:
            self.proxy.stop()
        return _delayed(replace(self, options=options, proxy=None))

    def stop(self) -> None:
        """End what was started here. May be called again."""
        for part in (self.proxy, self.server):
            if part is not None:
                part.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start(
    options: Options | None = None,
    *,
    url: str | None = None,
    fill: bool = False,
    cores: Sequence[int] | None = None,
) -> Database:
    """A private cluster, or the database at `url`; behind a proxy if its responses are to be delayed.

    `fill`: permission to replace the tables in the one at `url`. `cores`: the cores that the private cluster
    may use. Raises `MissingRuntime`, `StartFailed`; for a `url` as `jostle.database.external`.
    """
    options = options or Options()
    if url is not None:
        version = prepare(url, options, fill=fill)
        return _delayed(Database(url, options, version, filled=fill))
    server = PrivatePostgres(options, cores=cores)
    direct_url = f"postgresql://{USER}@{ports.HOST}:{server.port}/{NAME}"
    try:
        return _delayed(Database(direct_url, options, server.version, filled=True, server=server))
    except BaseException:
        server.stop()
        raise


def _delayed(database: Database) -> Database:
    """The same database, behind a proxy if it has a delay."""
    if not database.options.delay_ms:
        return database
    proxy = DelayProxy(*host_and_port(database.direct_url), database.options.delay_ms)
    return replace(database, proxy=proxy)

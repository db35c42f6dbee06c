"""The database that contestants find behind the orders page: these choices decide how they rank on it."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.values import Duration, PositiveCount
from jostle.text import without_password

__all__ = ["DatabaseChange", "DatabaseTable", "postgresql"]

Delay = Annotated[Duration, Field(le=60.0)]
Pool = Annotated[PositiveCount, Field(le=1000)]
Customers = Annotated[PositiveCount, Field(le=1_000_000)]


def postgresql(url: str) -> str:
    """The address of a PostgreSQL database; `BadValue` where it is none."""
    example = "write for example postgresql://me:secret@127.0.0.1:5432/shop"
    parts = urlsplit(url)
    try:
        _ = parts.port
    except ValueError:
        raise BadValue(f"{without_password(url)!r}: the port must be from 0 to 65535", example) from None
    if parts.scheme not in ("postgresql", "postgres") or not parts.hostname or not parts.path[1:]:
        raise BadValue(f"{without_password(url)!r} is not the address of a PostgreSQL database", example)
    return url


class DatabaseChange(Table):
    """What a workload finds otherwise than the plan's `[database]` says; what is not named stays."""

    pool: Pool | None = Field(default=None, description="connections that each process of a server may hold")
    delay: Delay | None = Field(default=None, description='added to each of its answers: "2ms"')
    index: bool | None = Field(default=None, description="whether orders.customer_id has an index")
    customers: Customers | None = Field(default=None, description="customers in it")


class DatabaseTable(Table):
    """A private PostgreSQL, made for the run and gone after it; or one of one's own."""

    url: Annotated[str, AfterValidator(postgresql)] | None = Field(
        default=None,
        description='one of one\'s own: "postgresql://me@127.0.0.1:5432/shop"; private when not given',
    )
    fill: bool = Field(
        default=False,
        description="leave to make the tables customers and orders in one's own, in place of any that are "
        "there; without it they are used as they are, and nothing is written",
    )
    pool: Pool = Field(default=10, description="connections that each process of a server may hold")
    delay: Delay = Field(default=0.0, description='added to each of its answers: "2ms"')
    index: bool = Field(
        default=True, description="whether orders.customer_id has an index; the date never has"
    )
    customers: Customers = Field(default=8000, description="customers in it")

    @model_validator(mode="after")
    def _only_ones_own_is_filled_with_leave(self) -> "DatabaseTable":
        if self.fill and self.url is None:
            raise BadValue("leave to fill a database, but which?", "give its address: --database URL")
        return self

    def changed(self, change: DatabaseChange | None) -> "DatabaseTable":
        """The same with what a workload says of it. Raises `BadValue` for content that may not be written."""
        named = {} if change is None else {key: getattr(change, key) for key in DatabaseChange.model_fields}
        changes = {key: value for key, value in named.items() if value is not None}
        content = changes.keys() & {"index", "customers"}
        if content and self.url is not None and not self.fill:
            raise BadValue(
                f"{min(content)} of one's own database cannot be changed: it is used as it is",
                "measure other workloads (--workloads), or give leave to make its tables (--fill-database)",
            )
        return self.model_copy(update=changes)

"""The database behind the contestants' orders page. Its settings decide how they rank on that page."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from jostle.errors import BadValue
from jostle.plan.base import Table
from jostle.plan.values import Duration, PositiveCount
from jostle.redaction.texts import without_password
from jostle.url import read_url

__all__ = ["DatabaseChange", "DatabaseTable", "postgresql"]

Delay = Annotated[Duration, Field(le=60.0)]
Pool = Annotated[PositiveCount, Field(le=1000)]
Customers = Annotated[PositiveCount, Field(le=1_000_000)]


def postgresql(url: str) -> str:
    """Check that `url` is the address of a PostgreSQL database. Raises `BadValue`."""
    example = "write for example postgresql://me:secret@127.0.0.1:5432/shop"
    try:
        read_url(url, ("postgresql", "postgres"))
    except BadValue as error:
        raise BadValue(error.message, example) from None
    if not urlsplit(url).path[1:]:
        raise BadValue(f"{without_password(url)!r} is not the address of a PostgreSQL database", example)
    return url


class DatabaseChange(Table):
    """Overrides of the plan's `[database]` for one workload."""

    pool: Pool | None = Field(default=None, description="connections per server process")
    delay: Delay | None = Field(default=None, description='delay added to each of its responses: "2ms"')
    index: bool | None = Field(default=None, description="whether orders.customer_id has an index")
    customers: Customers | None = Field(default=None, description="customers in it")


class DatabaseTable(Table):
    """A temporary PostgreSQL, created for the run; or your own."""

    url: Annotated[str, AfterValidator(postgresql)] | None = Field(
        default=None,
        description='your own: "postgresql://me@127.0.0.1:5432/shop"; a temporary one when not given',
    )
    fill: bool = Field(
        default=False,
        description="create the tables customers and orders, and the shop's (shop_items, shop_accounts, "
        "shop_purchases), in your own database, replacing tables of the same name; otherwise they are "
        "used as they are, and only the /shop routes of jostle's own contestants write, into "
        "shop_purchases",
    )
    pool: Pool = Field(default=10, description="connections per server process")
    delay: Delay = Field(default=0.0, description='delay added to each of its responses: "2ms"')
    index: bool = Field(
        default=True, description="whether orders.customer_id has an index; orders.ordered_on never has one"
    )
    customers: Customers = Field(default=8000, description="customers in it")

    @model_validator(mode="after")
    def _only_ones_own_is_filled_with_leave(self) -> "DatabaseTable":
        if self.fill and self.url is None:
            raise BadValue("fill needs the url of a database", "give its address: --database URL")
        return self

    def changed(self, change: DatabaseChange | None) -> "DatabaseTable":
        """A copy with a workload's changes. Raises `BadValue` for content that jostle may not write."""
        named = {} if change is None else {key: getattr(change, key) for key in DatabaseChange.model_fields}
        changes = {key: value for key, value in named.items() if value is not None}
        content = changes.keys() & {"index", "customers"}
        if content and self.url is not None and not self.fill:
            raise BadValue(
                f"{min(content)} of your own database cannot be changed; it is used as it is",
                "measure other workloads (--workloads), or let jostle create its tables (--fill-database)",
            )
        return self.model_copy(update=changes)

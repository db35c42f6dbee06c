"""The database that contestants find behind the orders page: these choices decide how they rank on it."""

from typing import Annotated

from pydantic import Field

from jostle.plan.table import Table
from jostle.plan.values import Duration

__all__ = ["DatabaseTable"]


class DatabaseTable(Table):
    """A private PostgreSQL, made for the run and gone after it; or one of one's own."""

    url: str | None = Field(
        default=None,
        description='one of one\'s own: "postgresql://me@127.0.0.1:5432/shop"; private when not given',
    )
    pool: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=10, description="connections that each process of a server may hold"
    )
    delay: Duration = Field(default=0.0, description='added to each of its answers: "2ms"')
    index: bool = Field(
        default=True, description="whether orders.customer_id has an index; the date never has"
    )
    customers: Annotated[int, Field(ge=1, le=1_000_000)] = Field(default=8000, description="customers in it")

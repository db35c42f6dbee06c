"""The options of a database, which are recorded: they decide how servers rank on the orders page."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from jostle.database.content import Customer, customers

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """`pool`: connections per server process. `delay_ms`: added to each response.

    `index`: on orders.customer_id; the date never has one. `customers`, `most_orders`, `seed`: the content.
    The plan's model limits the values that a plan may choose.
    """

    pool: int = 10
    delay_ms: float = 0.0
    index: bool = True
    customers: int = 8000
    most_orders: int = 10
    seed: int = 1

    def content(self) -> Iterator[Customer]:
        """The customers with their orders, as the database is filled with them."""
        return customers(self.customers, self.most_orders, self.seed)

    def describe(self) -> dict[str, Any]:
        return asdict(self)

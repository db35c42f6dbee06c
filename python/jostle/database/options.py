"""The options of a database, which are recorded: they decide how servers rank on the orders page."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from jostle.database.content import Customer, customers

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """How the database is filled and reached. The plan's model limits the values that a plan may choose."""

    pool: int = 10
    """Connections per server process."""
    delay_ms: float = 0.0
    """Added to each response."""
    index: bool = True
    """On orders.customer_id; the date never has one."""
    customers: int = 8000
    """How many customers there are."""
    most_orders: int = 10
    """How many orders a customer has at most."""
    seed: int = 1
    """What the content is made from."""

    def content(self) -> Iterator[Customer]:
        """The customers with their orders, as the database is filled with them."""
        return customers(self.customers, self.most_orders, self.seed)

    def describe(self) -> dict[str, Any]:
        return asdict(self)

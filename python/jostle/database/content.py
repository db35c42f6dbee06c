"""The customers and their orders. The same seed gives the same content on every machine."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

__all__ = ["Customer", "Order", "customers"]

FAMILIES = (
    "Abbot",
    "Brown",
    "Castillo",
    "D'Arcy",
    "Evans",
    "Fujita",
    "Grünwald",
    "Hansen",
    "Ionescu",
    "Jones",
)
ITEMS = (
    "teapot",
    "salt & pepper",
    "lamp",
    "kettle",
    "bread",
    "umbrella",
    '12" ruler',
    "map",
    "clock",
    "<blank>",
)
FIRST_DAY, DAYS = date(2010, 1, 1), 1461
"""The dates of orders: the four years before the article."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order. `ordered_on`: a text such as 2013-12-24, as in the database."""

    ordered_on: str
    item: str


@dataclass(frozen=True, slots=True)
class Customer:
    """A customer. `name` is unique. `orders` are in the order in which they are stored, not by date."""

    id: int
    name: str
    orders: tuple[Order, ...]

    def by_date(self) -> list[Order]:
        """The orders by date. No two orders of a customer have the same date, so the result is unique."""
        return sorted(self.orders, key=lambda order: order.ordered_on)


def customers(count: int, most_orders: int, seed: int) -> Iterator[Customer]:
    """Customers 1 to `count`, each with 1 to `most_orders` orders."""
    chance = random.Random(seed)
    days = [(FIRST_DAY + timedelta(day)).isoformat() for day in range(DAYS)]
    for number in range(1, count + 1):
        dates = chance.sample(days, chance.randint(1, most_orders))
        orders = tuple(Order(day, chance.choice(ITEMS)) for day in dates)
        yield Customer(number, f"{chance.choice(FAMILIES)} & Sons {number}", orders)

"""What a shop sells and who may buy there, as far as its responses can be checked against it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

__all__ = ["Buyer", "Item", "Stock", "euros"]

SHOWN = 10
"""How many of the items that a search finds are shown."""


def euros(cents: int) -> str:
    """A price as every page shows it."""
    return f"{cents // 100}.{cents % 100:02}"


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the shop; `price` in cents."""

    id: int
    name: str
    price: int

    @property
    def line(self) -> str:
        """The item as every page shows it."""
        return f"{self.name}: {euros(self.price)}"


@dataclass(frozen=True, slots=True)
class Buyer:
    """A customer who may buy; `name` is shown on the receipt."""

    customer: int
    name: str
    password: str


@dataclass(frozen=True)
class Stock:
    """The content of a shop's database."""

    items: Sequence[Item]
    buyers: Sequence[Buyer]

    def found(self, text: str) -> list[Item]:
        """The items that a search shows, the cheapest first."""
        matching = [item for item in self.items if text in item.name]
        return sorted(matching, key=lambda item: (item.price, item.id))[:SHOWN]

    def gifts(self, budget: int, item_count: int) -> list[Item]:
        """The most expensive three within the budget, the first by id if several are; [] if all cost more."""
        threes = (
            (sum(item.price for item in three), three) for three in combinations(self.items[:item_count], 3)
        )
        _, best = max(
            (found for found in threes if found[0] <= budget), key=lambda found: found[0], default=(0, ())
        )
        return list(best)

"""What a shop sells and who may buy there, as far as its answers can be checked by it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

__all__ = ["Buyer", "Item", "Stock", "euros"]

SHOWN = 10
"""Of what a search finds."""


def euros(cents: int) -> str:
    """As every page shows a price."""
    return f"{cents // 100}.{cents % 100:02}"


@dataclass(frozen=True, slots=True)
class Item:
    """`price` in cents."""

    id: int
    name: str
    price: int

    @property
    def line(self) -> str:
        """As every page shows it."""
        return f"{self.name}: {euros(self.price)}"


@dataclass(frozen=True, slots=True)
class Buyer:
    """Somebody who may buy; `name` stands on the receipt."""

    customer: int
    name: str
    password: str


@dataclass(frozen=True)
class Stock:
    """What the database behind a shop holds."""

    items: Sequence[Item]
    buyers: Sequence[Buyer]

    def found(self, text: str) -> list[Item]:
        """What a search shows: the cheapest first."""
        matching = [item for item in self.items if text in item.name]
        return sorted(matching, key=lambda item: (item.price, item.id))[:SHOWN]

    def gifts(self, budget: int, among: int) -> list[Item]:
        """The dearest three within the budget, of equal ones the first by their ids; [] if all cost more."""
        threes = ((sum(item.price for item in three), three) for three in combinations(self.items[:among], 3))
        _, best = max(
            (found for found in threes if found[0] <= budget), key=lambda found: found[0], default=(0, ())
        )
        return list(best)

"""What the shop sells and who may buy there. It is the same on every machine."""

import hashlib
import random
from collections.abc import Iterable, Iterator

from jostle.contestant.stock import Buyer, Item, Stock
from jostle.database.content import ITEMS, Customer

__all__ = ["buyers", "items", "password_hash", "salt", "stock"]

KINDS = (
    "antique",
    "blue",
    "brass",
    "folding",
    "green",
    "heavy",
    "new",
    "old",
    "red",
    "small",
    "tin",
    "wooden",
)
ITEM_COUNT = 2000
MAX_PRICE = 20_000
MAX_BUYERS = 1000
ITERATIONS = 100
"""Iterations of PBKDF2 with SHA-256. A real shop would use some 100,000; here a login should be cheap."""
SEED = 1


def items() -> Iterator[Item]:
    """Items 1 to `ITEM_COUNT`; some have the same name, at different prices."""
    chance = random.Random(SEED)
    for number in range(1, ITEM_COUNT + 1):
        name = f"{chance.choice(KINDS)} {chance.choice(ITEMS)}"
        yield Item(number, name, chance.randint(50, MAX_PRICE))


def buyers(customers: Iterable[Customer]) -> Iterator[Buyer]:
    """The customers who may buy: the first `MAX_BUYERS`."""
    for customer in customers:
        if customer.id > MAX_BUYERS:
            return
        yield Buyer(customer.id, customer.name, f"secret of {customer.id}")


def salt(buyer: Buyer) -> str:
    """The salt of a buyer's password; each buyer has a different one."""
    return f"salt of {buyer.customer}"


def password_hash(buyer: Buyer) -> str:
    """The hash of a buyer's password, hexadecimal as in the database."""
    password, salted = buyer.password.encode(), salt(buyer).encode()
    return hashlib.pbkdf2_hmac("sha256", password, salted, ITERATIONS).hex()


def stock(customers: Iterable[Customer]) -> Stock:
    """The stock of a shop with these customers."""
    return Stock(list(items()), list(buyers(customers)))

"""The tables as SQL, and their rows as PostgreSQL's COPY reads them."""

from collections.abc import Iterable

from jostle.database.options import Options
from jostle.database.shop import buyers, items, password_hash, salt

__all__ = ["CREATE", "TABLES", "keys", "rows"]

TABLES = ("customers", "orders", "shop_items", "shop_accounts", "shop_purchases")
CREATE = """\
CREATE TABLE customers (id integer NOT NULL, name text NOT NULL);
CREATE TABLE orders (id integer NOT NULL, customer_id integer NOT NULL, ordered_on text, item text);
CREATE TABLE shop_items (id integer NOT NULL, name text NOT NULL, price integer NOT NULL);
CREATE TABLE shop_accounts (customer_id integer NOT NULL, salt text NOT NULL, password_hash text NOT NULL);
CREATE TABLE shop_purchases (id serial, customer_id integer NOT NULL, item_id integer NOT NULL);
"""
"""One statement per line, as single-user mode requires. Prices are in cents. Servers fill the last table."""
KEYS = """\
ALTER TABLE customers ADD PRIMARY KEY (id);
ALTER TABLE orders ADD PRIMARY KEY (id);
ALTER TABLE shop_items ADD PRIMARY KEY (id);
ALTER TABLE shop_accounts ADD PRIMARY KEY (customer_id);
ALTER TABLE shop_purchases ADD PRIMARY KEY (id);
"""
INDEX = "CREATE INDEX orders_customer_id ON orders (customer_id);\n"


def keys(options: Options) -> str:
    """The SQL that creates keys and indexes, to be run after the rows are inserted."""
    return KEYS + (INDEX if options.index else "")


def rows(options: Options) -> dict[str, str]:
    """The lines of each table that has rows. No value contains a tab, a line end or a backslash."""
    customers = list(options.content())
    orders = [
        (customer.id, order.ordered_on, order.item) for customer in customers for order in customer.orders
    ]
    return {
        "customers": _lines((customer.id, customer.name) for customer in customers),
        "orders": _lines((number, *order) for number, order in enumerate(orders, 1)),
        "shop_items": _lines((item.id, item.name, item.price) for item in items()),
        "shop_accounts": _lines((a.customer, salt(a), password_hash(a)) for a in buyers(customers)),
    }


def _lines(values: Iterable[tuple[object, ...]]) -> str:
    return "".join("\t".join(map(str, row)) + "\n" for row in values)

"""The two tables as SQL, and their rows as PostgreSQL's COPY reads them."""

from jostle.database.options import Options

__all__ = ["CREATE", "keys", "rows"]

CREATE = """\
CREATE TABLE customers (id integer NOT NULL, name text NOT NULL);
CREATE TABLE orders (id integer NOT NULL, customer_id integer NOT NULL, ordered_on text, item text);
"""
KEYS = """\
ALTER TABLE customers ADD PRIMARY KEY (id);
ALTER TABLE orders ADD PRIMARY KEY (id);
"""
INDEX = "CREATE INDEX orders_customer_id ON orders (customer_id);\n"


def keys(options: Options) -> str:
    """What makes the keys and indexes, once the rows are there."""
    return KEYS + (INDEX if options.index else "")


def rows(options: Options) -> tuple[str, str]:
    """The lines of customers and of orders: no value holds a tab, a line end or a backslash."""
    people: list[str] = []
    orders: list[str] = []
    for customer in options.content():
        people.append(f"{customer.id}\t{customer.name}\n")
        for order in customer.orders:
            orders.append(f"{len(orders) + 1}\t{customer.id}\t{order.ordered_on}\t{order.item}\n")
    return "".join(people), "".join(orders)

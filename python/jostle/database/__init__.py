"""The database of the orders page and the shop: in PostgreSQL, near or far.

    with start(Options(delay_ms=2)) as database:
        server = find("node").start(database=database.placeholders())

A private cluster is created, filled and started in about a second, and removed afterwards, even if jostle is
killed. Your own database (`url`) is used as it is: it needs the tables customers (id, name) and
orders (id, customer_id, ordered_on, item). With permission to fill it, all tables are created in it.
"""

from jostle.database.database import Database, start
from jostle.database.options import Options
from jostle.database.server import missing

__all__ = ["Database", "Options", "missing", "start"]

"""What the routes and the shop share: answers, refusals, numbers, the database."""

import os
import re

import psycopg

database: psycopg.Connection | None = None
"""Of this worker, which never serves two requests at once."""


class Html(str):
    pass


class HTTPError(Exception):
    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


def bad_request(message: str) -> HTTPError:
    return HTTPError("400 Bad Request", message)


def whole(text: str, most: int) -> int:
    if re.fullmatch("[0-9]{1,19}", text) and int(text) <= most:
        return int(text)
    raise bad_request(f"a whole number from 0 to {most} is needed here")


def connected() -> psycopg.Connection:
    """The worker's connection, opened when it is first needed: after the fork, and anew when it broke."""
    global database
    if not os.environ["DATABASE_URL"]:
        raise HTTPError("503 Service Unavailable", "started without a database")
    if database is None or database.closed:
        database = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
    return database

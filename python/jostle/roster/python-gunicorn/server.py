"""A WSGI application: a function from a request to a response. While it waits, its process waits."""

import json
import os
import platform
import random
import re
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from html import escape
from typing import Any
from urllib.error import URLError
from urllib.parse import parse_qs
from urllib.request import ProxyHandler, build_opener

import shop
from web import Html, HTTPError, bad_request, connected, whole

KILOBYTE = b"x" * 1023 + b"\n"
MAX_THREADS = 10_000

Query = dict[str, list[str]]


Content = bytes | str | Html | dict[str, Any]

direct = build_opener(ProxyHandler({}))

def decimal(query: Query, name: str, otherwise: str, most: float) -> float:
    [text] = query.get(name, [otherwise])[-1:]
    if re.fullmatch(r"[0-9]*\.?[0-9]+", text) and float(text) <= most:
        return float(text)
    raise bad_request(f"{name} must be a number from 0 to {most}")


def one_of(query: Query, name: str, *choices: str) -> str:
    [text] = query.get(name, [choices[0]])[-1:]
    if text in choices:
        return text
    raise bad_request(f"{name} must be one of: {', '.join(choices)}")


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def root(_query: Query) -> Content:
    return {
        "name": "python-gunicorn",
        "version": platform.python_version(),
        "runtime": "CPython",
        "workers": int(os.environ["WORKERS"]),
    }


def hello(_query: Query) -> Content:
    return KILOBYTE


def sleep(query: Query) -> Content:
    ms = decimal(query, "ms", "100", 60_000)
    jitter = decimal(query, "jitter", "0", 1)
    time.sleep(ms / 1000 * random.uniform(1 - jitter, 1 + jitter))
    return KILOBYTE


def count(_query: Query, n: str) -> Content:
    end = whole(n, 10**10)
    x = 0
    while x < end:
        x += 1
    return f"Hello, World {x}\n"


def fast(_query: Query, n: str) -> Content:
    return str(whole(n, 10**6) ** 2)


def slow(_query: Query, n: str) -> Content:
    return str(fibonacci(whole(n, 60)))


def fibs(_query: Query, n: str) -> Content:
    return {"fibResult": fibonacci(whole(n, 60))}


def ask(peer: str, n: int) -> int:
    try:
        with direct.open(f"{peer}/fibs/{n}") as response:
            return int(json.load(response)["fibResult"])
    except (URLError, ValueError, KeyError, TypeError) as error:
        raise HTTPError("502 Bad Gateway", f"no number from the peer: {error}") from error


def pair(query: Query, a: str, b: str) -> Content:
    numbers = whole(a, 60), whole(b, 60)
    find: Callable[[int], int] = fibonacci
    if one_of(query, "where", "local", "remote") == "remote":
        [peer] = query.get("peer", [""])[-1:]
        if not re.fullmatch(r"http://[\w.:-]+(/[\w./-]*)?", peer, re.ASCII):
            raise bad_request("where=remote needs peer=http://…")
        if os.environ["WORKERS"] == "1" and peer == "http://{HOST}:{PORT}".format_map(os.environ):
            raise HTTPError("409 Conflict", "the only worker would wait for itself for ever")
        find = lambda n: ask(peer, n)  # noqa: E731
    if one_of(query, "async", "0", "1") == "1":
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(find, numbers)
    else:
        first, second = map(find, numbers)
    return {"a": first, "b": second}


def buffers(_query: Query) -> Content:
    fresh = [bytearray(b"x") * 1024 for _ in range(50)]
    return KILOBYTE if len(fresh) == 50 else b""


def strings(_query: Query) -> Content:
    return [KILOBYTE.decode() for _ in range(50)][-1]


def spawn(query: Query, n: str) -> Content:
    """Hold n threads at a gate until the last has come, then open it."""
    one_of(query, "kind", "os")
    wanted = whole(n, MAX_THREADS)
    arrived, gate = threading.Semaphore(0), threading.Event()

    def hold() -> None:
        arrived.release()
        gate.wait()

    held = []
    try:
        for _ in range(wanted):
            thread = threading.Thread(target=hold)
            thread.start()
            held.append(thread)
        for _ in held:
            arrived.acquire()
    except RuntimeError as error:  # can't start new thread
        raise HTTPError("503 Service Unavailable", f"{error}: only {len(held)} could be started") from error
    finally:
        gate.set()
        for thread in held:
            thread.join()
    return str(len(held))


def orders(_query: Query) -> Content:
    """Four questions, one after the other; while the database thinks, the worker waits."""
    with connected().cursor() as cursor:
        [least] = cursor.execute("SELECT min(id) FROM customers").fetchone()
        [most] = cursor.execute("SELECT max(id) FROM customers").fetchone()
        chosen = random.randint(least, most)
        customer = cursor.execute("SELECT id, name FROM customers WHERE id = %s", [chosen]).fetchone()
        if customer is None:
            raise HTTPError("404 Not Found", f"there is no customer {chosen}")
        cursor.execute(
            "SELECT ordered_on, item FROM orders WHERE customer_id = %s ORDER BY ordered_on", [customer[0]]
        )
        items = "".join(f"<li>{ordered_on}: {escape(item)}</li>\n" for ordered_on, item in cursor)
    return Html(
        f"<!DOCTYPE html>\n<title>Orders</title>\n<h1>{escape(customer[1])}</h1>\n<ol>\n{items}</ol>\n"
    )


ROUTES: list[tuple[str, Callable[..., Content]]] = [
    ("/", root),
    ("/hello", hello),
    ("/sleep", sleep),
    ("/count/([^/]*)", count),
    ("/fast/([^/]*)", fast),
    ("/slow/([^/]*)", slow),
    ("/fibs/([^/]*)", fibs),
    ("/pair/([^/]*)/([^/]*)", pair),
    ("/alloc/buffers", buffers),
    ("/alloc/strings", strings),
    ("/spawn/([^/]*)", spawn),
    ("/orders", orders),
]


def answer(environ: dict[str, Any]) -> Content:
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        raise HTTPError("405 Method Not Allowed", "only GET and HEAD")
    for pattern, page in ROUTES:
        if match := re.fullmatch(pattern, environ["PATH_INFO"]):
            return page(parse_qs(environ["QUERY_STRING"], keep_blank_values=True), *match.groups())
    raise HTTPError("404 Not Found", "no such route")


def app(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
    status, kind = "200 OK", "text/plain"
    headers: list[tuple[str, str]] = []
    try:
        if reply := shop.answer(environ):
            status, headers, body = reply.status, reply.headers, reply.body
        else:
            body = answer(environ)
    except HTTPError as error:
        status, body = error.status, str(error)
    if isinstance(body, Html):
        kind = "text/html; charset=utf-8"
    if isinstance(body, dict):
        kind, body = "application/json", json.dumps(body)
    data = body.encode() if isinstance(body, str) else body
    headers = [*headers, ("Content-Type", kind), ("Content-Length", str(len(data)))]
    if status.startswith("405"):
        headers.append(("Allow", "GET, HEAD"))
    start_response(status, headers)
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [data]

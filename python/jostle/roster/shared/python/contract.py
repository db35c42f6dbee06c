"""The contract as a pure ASGI application: every handler a coroutine."""

import asyncio
import json
import os
import platform
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import parse_qsl

import asyncpg
import httpx

HELLO = "x" * 1023 + "\n"
KILOBYTE = HELLO.encode()

database: asyncpg.Pool | None = None

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Scope = dict[str, Any]
Query = dict[str, str]


class HTTPError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Html:
    body: str


@dataclass
class Events:
    numbers: AsyncIterator[int]


def whole(text: str, most: int) -> int:
    # At most 19 digits: int() refuses thousands of them, with a message of its own.
    if text.isascii() and text.isdigit() and len(text) < 20 and (n := int(text)) <= most:
        return n
    raise HTTPError(400, f"a whole number from 0 to {most} is needed here")


def decimal(query: Query, name: str, otherwise: float, most: float) -> float:
    try:
        x = float(query.get(name, otherwise))
    except ValueError:
        x = -1
    if 0 <= x <= most:
        return x
    raise HTTPError(400, f"{name} must be a number from 0 to {most}")


def one_of(query: Query, name: str, *choices: str) -> str:
    choice = query.get(name, choices[0])
    if choice not in choices:
        raise HTTPError(400, f"{name} must be one of: {', '.join(choices)}")
    return choice


def count(n: int) -> int:
    x = 0
    while x < n:
        x += 1
    return x


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


async def sleep(query: Query) -> str:
    ms = decimal(query, "ms", 100, 60_000)
    jitter = decimal(query, "jitter", 0, 1)
    await asyncio.sleep(ms / 1000 * random.uniform(1 - jitter, 1 + jitter))
    return HELLO


async def fib_here(n: int) -> int:
    return fib(n)


class Peer:
    """The other server of `/pair?where=remote`; one pool of kept connections for all requests."""

    client = httpx.AsyncClient(timeout=None, limits=httpx.Limits(), trust_env=False)

    def __init__(self, query: Query) -> None:
        try:
            self.url = httpx.URL(query.get("peer", ""))
        except httpx.InvalidURL:
            self.url = httpx.URL()
        if self.url.scheme != "http" or not self.url.host:
            raise HTTPError(400, "where=remote needs peer=http://…")

    async def fib(self, n: int) -> int:
        try:
            response = await self.client.get(f"{self.url}/fibs/{n}")
            return int(response.raise_for_status().json()["fibResult"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise HTTPError(502, f"the peer did not answer: {error!r}") from error


async def pair(a: int, b: int, query: Query) -> dict[str, int]:
    remote = one_of(query, "where", "local", "remote") == "remote"
    concurrent = one_of(query, "async", "0", "1") == "1"
    find = Peer(query).fib if remote else fib_here
    # gather overlaps waiting, never computing.
    x, y = await asyncio.gather(find(a), find(b)) if concurrent else (await find(a), await find(b))
    return {"a": x, "b": y}


def allocate_buffers() -> str:
    buffers = [bytearray(b"x") * 1024 for _ in range(50)]
    return HELLO if len(buffers) == 50 else ""


def allocate_strings() -> str:
    return [KILOBYTE.decode() for _ in range(50)][-1]


async def spawn(n: int, query: Query) -> str:
    one_of(query, "kind", "task")
    gate = asyncio.get_running_loop().create_future()

    async def hold() -> None:
        await gate

    async with asyncio.TaskGroup() as group:
        for _ in range(n):
            group.create_task(hold())
        await asyncio.sleep(0)  # our turn comes again when each has started and waits
        gate.set_result(None)
    return str(n)


async def orders() -> Html:
    """Four questions, one after the other; while the database thinks, the loop serves others."""
    if database is None:
        raise HTTPError(503, "started without a database")
    async with database.acquire() as connection:
        least = await connection.fetchval("SELECT min(id) FROM customers")
        most = await connection.fetchval("SELECT max(id) FROM customers")
        chosen = random.randint(least, most)
        customer = await connection.fetchrow("SELECT id, name FROM customers WHERE id = $1", chosen)
        if customer is None:
            raise HTTPError(404, f"there is no customer {chosen}")
        found = await connection.fetch(
            "SELECT * FROM orders WHERE customer_id = $1 ORDER BY ordered_on", customer["id"]
        )
    items = "".join(f"<li>{order['ordered_on']}: {escape(order['item'])}</li>\n" for order in found)
    return Html(
        f"<!DOCTYPE html>\n<title>Orders</title>\n<h1>{escape(customer['name'])}</h1>\n<ol>\n{items}</ol>\n"
    )


async def due(n: int, gap_s: float) -> AsyncIterator[int]:
    """1 to n, each on a schedule that begins with the first one: when one is late, the next is not."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    for number in range(n):
        await asyncio.sleep(start + number * gap_s - loop.time())
        yield number + 1


def numbers(query: Query) -> AsyncIterator[int]:
    n = whole(query.get("n", "20"), 100_000)
    return due(n, decimal(query, "gap", 50, 60_000) / 1000)


async def route(path: str, query: Query) -> str | Html | Events | dict[str, Any]:
    match path.removeprefix("/").split("/"):
        case ["hello"]:
            return HELLO
        case ["sleep"]:
            return await sleep(query)
        case ["count", n]:
            return f"Hello, World {count(whole(n, 10**10))}\n"
        case ["fast", n]:
            return str(whole(n, 10**6) ** 2)
        case ["slow", n]:
            return str(fib(whole(n, 60)))
        case ["fibs", n]:
            return {"fibResult": fib(whole(n, 60))}
        case ["pair", a, b]:
            return await pair(whole(a, 60), whole(b, 60), query)
        case ["alloc", "buffers"]:
            return allocate_buffers()
        case ["alloc", "strings"]:
            return allocate_strings()
        case ["spawn", n]:
            return await spawn(whole(n, 10**6), query)
        case ["orders"]:
            return await orders()
        case ["events"]:
            return Events(numbers(query))
        case ["ws"]:
            numbers(query)
            raise HTTPError(426, "this is a WebSocket")
    raise HTTPError(404, "no such route")


async def respond(send: Send, status: int, kind: bytes, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    fields = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})  # uvicorn leaves the body out for HEAD


async def stream(send: Send, scope: Scope, numbers: AsyncIterator[int]) -> None:
    fields = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    if scope["method"] == "GET":
        async for number in numbers:
            await send({"type": "http.response.body", "body": b"data: %d\n\n" % number, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def lifespan(receive: Receive, send: Send) -> None:
    """The pool belongs to the loop, hence made here. Its connections are opened as they are needed."""
    global database
    while (await receive())["type"] != "lifespan.shutdown":
        if url := os.environ["DATABASE_URL"]:
            database = await asyncpg.create_pool(url, min_size=0, max_size=int(os.environ["POOL"]))
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})


async def websocket(scope: Scope, receive: Receive, send: Send) -> None:
    """Pushes where `n` is given, and else echoes."""
    await receive()  # websocket.connect
    query = fields_of(scope)
    try:
        if scope["path"] != "/ws":
            raise HTTPError(404, "no such route")
        pushed = numbers(query) if "n" in query else None
    except HTTPError:
        await send({"type": "websocket.close"})  # before the upgrade: the server answers 403
        return
    await send({"type": "websocket.accept"})
    if pushed is None:
        while (message := await receive())["type"] == "websocket.receive":
            await send({**message, "type": "websocket.send"})
        return
    with suppress(OSError):  # the client has gone
        async for number in pushed:
            await send({"type": "websocket.send", "text": str(number)})
        await send({"type": "websocket.close", "code": 1000})


def fields_of(scope: Scope) -> Query:
    return dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))


async def http(scope: Scope, send: Send, about: dict[str, Any]) -> None:
    if scope["method"] not in ("GET", "HEAD"):
        await respond(send, 405, b"text/plain", b"only GET and HEAD", (b"allow", b"GET, HEAD"))
        return
    try:
        answer = about if scope["path"] == "/" else await route(scope["path"], fields_of(scope))
    except HTTPError as error:
        await respond(send, error.status, b"text/plain", str(error).encode())
    else:
        if isinstance(answer, str):
            await respond(send, 200, b"text/plain", answer.encode())
        elif isinstance(answer, Html):
            await respond(send, 200, b"text/html; charset=utf-8", answer.body.encode())
        elif isinstance(answer, Events):
            await stream(send, scope, answer.numbers)
        else:
            await respond(send, 200, b"application/json", json.dumps(answer).encode())


class App:
    """What a server calls for each request and each WebSocket."""

    def __init__(self, name: str, workers: int) -> None:
        version = platform.python_version()
        self.about = {"name": name, "version": version, "runtime": "CPython", "workers": workers}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "lifespan":
                await lifespan(receive, send)
            case "websocket":
                await websocket(scope, receive, send)
            case _:
                await http(scope, send, self.about)

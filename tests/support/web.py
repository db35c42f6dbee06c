"""The page of `jostle web`, beside a test."""

import contextlib
import http.client
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from support.real import jostle_running
from support.waiting import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["Served", "get", "newest", "opened", "posted", "watching", "web"]


@dataclass(frozen=True)
class Served:
    """A page that is served."""

    url: str
    """Without the token."""
    token: str
    pid: int


@contextlib.contextmanager
def web(*arguments: str | Path, **more: Any) -> Iterator[Served]:
    """`jostle web …`; its port is free unless the arguments say which."""
    port = [] if "--port" in arguments else ["--port", "0"]
    with jostle_running("web", *arguments, *port, **more) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"page      (\S+)/#token=(\S+)\n", line)
        assert found, line or (process.stderr and process.stderr.read())
        yield Served(found[1], found[2], process.pid)


def get(
    served: Served, path: str, headers: Mapping[str, str] = {}, method: str = "GET"
) -> tuple[int, dict[str, str], str]:
    """Status, headers (their names in lower case) and body of a response."""
    connection = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=60)
    with contextlib.closing(connection):
        connection.request(method, path, headers=dict(headers))
        response = connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read().decode()


@contextlib.contextmanager
def watching(
    served: Served, path: str, headers: Mapping[str, str] = {}
) -> Iterator[Iterator[dict[str, str]]]:
    """The events of a stream, each with its id and its data."""
    connection = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=dict(headers))
        response = connection.getresponse()
        assert response.status == 200, response.read()

        def events() -> Iterator[dict[str, str]]:
            event: dict[str, str] = {}
            while line := response.readline().decode():
                name, colon, value = line.rstrip("\n").partition(": ")
                if colon and name:
                    event[name] = value
                elif event:
                    yield event
                    event = {}

        yield events()


def newest(served: Served) -> str:
    """The address of the run that goes on."""
    found: dict[str, str] = {}

    def redirected() -> bool:
        found.update(get(served, "/live")[1])
        return "location" in found

    eventually(redirected, "there is no run that goes on")
    return found["location"]


def posted(served: Served, path: str, content: Any, token: str | None = None) -> tuple[int, str]:
    """The response to bytes or to data as JSON, by who has the token unless another one is given."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    headers = {"Jostle-Token": served.token if token is None else token}
    connection = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=60)
    with contextlib.closing(connection):
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        return response.status, response.read().decode()


def opened(browser: "Browser", url: str, said: list[str], **context: Any) -> "Page":
    """The page at `url`. What it complains about, violations of its policy among that, and requests to
    anywhere else are added to `said`.
    """
    host = urlsplit(url).netloc
    page = browser.new_context(**context).new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request",
        lambda request: said.append(request.url) if urlsplit(request.url).netloc != host else None,
    )
    page.add_init_script(
        "addEventListener('securitypolicyviolation',"
        " (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}`))"
    )
    page.goto(url)
    return page

"""Who may see the page and who may change something: checked before any route is reached.

A page of another origin that runs in the user's browser must reach nothing: neither by its own requests
(`Sec-Fetch-Site`) nor by a name that it lets point to this machine (`Host`). A change needs the token in a
header, which no form and no link of another page can send. Where others can connect, everything needs it, as
the password of Basic authentication.
"""

import base64
import binascii
import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["POLICY", "TOKEN_HEADER", "Access", "Guard"]

TOKEN_HEADER = "jostle-token"

POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
"""The content security policy of all pages but reports, which have one of their own."""

HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
"""Of every response that has no other value for them."""

READING = ("GET", "HEAD")


@dataclass(frozen=True)
class Access:
    """What a request must show. `open_to_others`: others than this machine can connect."""

    open_to_others: bool = False
    names: frozenset[str] = frozenset()
    """Of this machine, by which the page may be addressed besides as localhost or by an IP address."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @classmethod
    def to_others(cls, host: str) -> "Access":
        """For a page that listens on `host`, where others can connect."""
        names = {host, socket.gethostname(), socket.getfqdn()}
        return cls(open_to_others=True, names=frozenset(name.lower() for name in names))

    def refused(self, method: str, headers: Mapping[str, str]) -> Response | None:
        """The response to a request that may not go further."""
        if not self._is_ours(headers.get("host", "")):
            return _told(421, "This page is not called so. Open it at the address that jostle printed.")
        if not _of_our_page(method, headers):
            return _told(403, "Another page asked for this, and may not.")
        if self.open_to_others and not self._is_token(_password(headers.get("authorization", ""))):
            return Response(status_code=401, headers={"www-authenticate": 'Basic realm="jostle"'})
        if method not in READING and not self._is_token(headers.get(TOKEN_HEADER, "")):
            return Response(status_code=401)
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether the header Host names this machine: an IP address cannot be made to point elsewhere."""
        name = host[: host.rindex("]") + 1].strip("[]") if "]" in host else host.partition(":")[0]
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.lower() in {"localhost", *self.names}
        return True

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())


def _of_our_page(method: str, headers: Mapping[str, str]) -> bool:
    """Whether the request comes from one of our pages, from the user, or from no browser at all. A link on
    another page may lead here.
    """
    site = headers.get("sec-fetch-site", "none")
    followed = method in READING and headers.get("sec-fetch-mode") == "navigate"
    return site in ("same-origin", "none") or (followed and headers.get("sec-fetch-dest") == "document")


def _password(authorization: str) -> str:
    kind, _, encoded = authorization.partition(" ")
    try:
        return base64.b64decode(encoded).decode().partition(":")[2] if kind.lower() == "basic" else ""
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _told(status: int, text: str) -> Response:
    return PlainTextResponse(f"{text}\n", status)


class Guard:
    """Lets those requests through to `app` that `access` allows, and adds the headers of all responses."""

    def __init__(self, app: "ASGIApp", access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        async def with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        given: Any = Headers(scope=scope)
        refused = self._access.refused(scope["method"], given)
        await (refused or self._app)(scope, receive, with_headers)

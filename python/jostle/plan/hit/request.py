"""What `jostle hit` sends: the request of a plan, by the scheme of the URL."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from jostle.errors import BadValue, PlanError
from jostle.plan.hit.headers import headers_by_name, stand_for_headers
from jostle.plan.requests.grpc import read_message
from jostle.plan.requests.raw import sent_as, until_as
from jostle.plan.requests.request import asking
from jostle.url import Url

__all__ = ["REQUEST_OPTIONS", "STREAM_KEYS", "request_of"]

STREAM_KEYS = ("events", "until", "first", "fails", "usage")

_STREAM = ("stream", *(f"stream_{key}" for key in STREAM_KEYS), "stall", "slo")

REQUEST_OPTIONS = (
    *("method", "headers", "compressed", "user", "agent", "body", "json_body", "urls"),
    *("send", "match", "ping", "until", "expect", "expect_not", "expect_status"),
    *("proto", "import_path", "message", "deadline", "every"),
    *_STREAM,
)
"""The options that say what is sent."""


def request_of(url: Url, given: dict[str, Any], name_of: Callable[[str], str]) -> dict[str, Any]:
    """The request's table in a plan; what it says is taken out of `given`. Raises `PlanError`."""
    path = url.path or "/"
    grpc, raw = url.scheme in ("grpc", "grpcs"), url.scheme in ("tcp", "udp")
    if not grpc:
        _no_call(given, name_of)
    if raw:
        request = _raw(given, url.scheme, name_of)
        given.pop("headers", None)
        given.pop("compressed", None)
        return request
    stand_for_headers(given, name_of, streamed=any(given.get(option) for option in _STREAM))
    if grpc:
        request = _call(url, given, path, name_of)
    elif url.scheme in ("ws", "wss"):
        request = _message(given, path, name_of)
    else:
        _no_socket(given, name_of)
        request = _request(given, path, name_of)
    headers, _ = given.pop("headers", []), given.pop("compressed", None)
    return {**request, "metadata" if grpc else "headers": headers_by_name(headers, name_of)}


def _request(given: dict[str, Any], path: str, name_of: Callable[[str], str]) -> dict[str, Any]:
    body = given.pop("body", None)
    method = given.pop("method", "GET" if body is None else "POST")
    request: dict[str, Any] = dict(asking(method, path))
    if body is not None:
        request |= {"body-file": body[1:]} if body.startswith("@") else {"body": body}
    request |= _expected(given)
    if (statuses := given.pop("expect_status", None)) is not None:
        codes = [code.strip() for code in str(statuses).split(",")]
        if not all(re.fullmatch(r"\d{1,9}", code) for code in codes):
            raise PlanError(
                f"{name_of('expect_status')}: {statuses!r} is not a list of status codes",
                "write for example 200,204",
            )
        request["expect"] = {**request.get("expect", {}), "status": [int(code) for code in codes]}
    return request


def _expected(given: dict[str, Any]) -> dict[str, Any]:
    """What the body of a response must contain, and what it must not, as the key `expect`, if anything."""
    expect, lacks = given.pop("expect", None), given.pop("expect_not", None)
    expected: dict[str, Any]
    match expect:
        case None:
            expected = {}
        case str():
            expected = {"contains": expect}
        case int() | list():
            expected = {"status": expect}
        case _:
            expected = {**expect}
    if lacks is not None:
        expected["lacks"] = lacks
    return {"expect": expected} if expected else {}


def _message(given: dict[str, Any], path: str, name_of: Callable[[str], str]) -> dict[str, Any]:
    """The request for a WebSocket."""
    for option in ("method", "body", "expect_status"):
        if option in given:
            hint = f"write {name_of('send')}" if option == "body" else "leave it out, or write http://"
            raise PlanError(f"{name_of(option)} has no meaning over a WebSocket", hint)
    if "until" in given:
        raise PlanError(
            f"{name_of('until')} is for raw bytes (tcp://): a message ends by itself",
            f"leave it out, or write {name_of('stream_until')}",
        )
    if given.get("stream") not in (None, "messages"):
        raise PlanError(
            f"{name_of('stream')}: {given['stream']!r} is for HTTP",
            f"over a WebSocket write {name_of('stream')} messages",
        )
    if "send" not in given and "stream" not in given:
        raise PlanError(
            "a WebSocket without a message: nothing would be sent",
            f"give {name_of('send')} TEXT, or {name_of('stream')} messages to listen",
        )
    request: dict[str, Any] = {"ws": path}
    if (send := given.pop("send", None)) is not None:
        file = isinstance(send, str) and send.startswith("@")
        request |= {"body-file": send[1:]} if file else {"send": send}
    return request | _expected(given)


def _call(url: Url, given: dict[str, Any], path: str, name_of: Callable[[str], str]) -> dict[str, Any]:
    """The request for a gRPC call."""
    others = ("method", "compressed", "body", "send", "match", "ping", "until", "expect_status", "redirects")
    for option in others:
        if given.get(option):
            hint = f"write {name_of('message')}" if option in ("body", "send") else "leave it out"
            raise PlanError(f"{name_of(option)} has no meaning for gRPC", hint)
    if path == "/":
        raise PlanError(
            f"{url} names no method", "write for example grpc://127.0.0.1:50051/package.Service/Method"
        )
    request: dict[str, Any] = {"grpc": path}
    if (message := given.pop("message", None)) is not None:
        try:
            request["message"] = read_message(message) if isinstance(message, str) else message
        except BadValue as error:
            raise PlanError(f"{name_of('message')}: {error.message}", error.hint) from None
    request |= _expected(given)
    if any(given.get(option) for option in _STREAM):
        given.setdefault("stream", "messages")
    return request


def _no_call(given: Mapping[str, Any], name_of: Callable[[str], str]) -> None:
    for option in ("proto", "import_path", "message", "deadline", "every"):
        if given.get(option):
            raise PlanError(f"{name_of(option)} is for gRPC", "write grpc://HOST:PORT/package.Service/Method")


_READ: dict[str, dict[str, Callable[[str], dict[str, Any]]]] = {
    "tcp": {"send": sent_as, "until": until_as},
    "udp": {"send": sent_as},
}
"""The options that requests of raw bytes need, and how each is read."""


def _raw(given: dict[str, Any], scheme: str, name_of: Callable[[str], str]) -> dict[str, Any]:
    """The request for raw bytes over TCP or UDP."""
    own = ("send", {"tcp": "until", "udp": "match"}[scheme], "expect", "expect_not")
    for option in (*REQUEST_OPTIONS, "redirects", "http2", "http2_connections"):
        if given.get(option) and option not in own:
            hint = f"write {name_of('send')}" if option == "body" else "leave it out, or write http://"
            if option == "until":
                hint = f"a response is one datagram: {name_of('match')} says which"
            raise PlanError(f"{name_of(option)} has no meaning for raw bytes ({scheme}://)", hint)
    request: dict[str, Any] = {}
    examples = {"send": r"'PING\r\n'", "until": r"'\r\n', length:7, regex:PATTERN or close"}
    needs = "what is sent and where the response ends" if scheme == "tcp" else "what is sent"
    for option, read in _READ[scheme].items():
        key = scheme if option == "send" else option
        if option not in given:
            raise PlanError(
                f"{name_of(option)} is missing: {scheme}:// needs {needs}",
                f"give for example {name_of(option)} {examples[option]}",
            )
        try:
            request[key] = read(str(given.pop(option)))
        except BadValue as error:
            raise PlanError(f"{name_of(option)}: {error.message}", error.hint) from None
    return request | _expected(given)


def _no_socket(given: Mapping[str, Any], name_of: Callable[[str], str]) -> None:
    if "until" in given:
        raise PlanError(
            f"{name_of('until')} is for raw bytes, and the URL is of HTTP", "write tcp://HOST:PORT"
        )
    for option in ("send", "match", "ping"):
        if option in given:
            raise PlanError(
                f"{name_of(option)} is for a WebSocket, and the URL is of HTTP",
                f"write ws:// or wss://, or {name_of('body')} for a request's body",
            )
    if given.get("stream") == "messages":
        raise PlanError(
            f"{name_of('stream')}: messages come over a WebSocket, and the URL is of HTTP",
            "write ws:// or wss://, or sse or lines",
        )

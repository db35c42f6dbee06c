"""A request for the engine: what is sent, and which response is as expected."""

import base64
import json
from codecs import BOM_UTF8
from typing import Any

from jostle.errors import PlanError
from jostle.generator.spec.address import Address
from jostle.generator.spec.grpc import Schemas, grpc_spec
from jostle.generator.spec.params import params_spec
from jostle.generator.spec.stream import stream_spec
from jostle.generator.spec.values import bytes_of, nanoseconds
from jostle.plan.requests.raw import Sent, Until, bytes_matched
from jostle.plan.requests.request import JSON_TYPE, PEER, Call, Expect, Request

__all__ = ["request_spec"]


def request_spec(request: Call, address: Address, schemas: Schemas) -> dict[str, Any]:
    body = _body(request)
    websocket = None
    if request.ws is not None:
        if request.send is not None:
            body = request.text.encode()
        sends = request.send is not None or request.body_file is not None
        websocket = {
            "message": _kind(body) if sends else None,
            "match": _match(request.match),
            "ping_ns": nanoseconds(request.ping) if request.ping is not None else None,
        }
    raw = None
    if isinstance(request, Request) and request.tcp is not None and request.until is not None:
        body = _sent(request.tcp)
        raw = {"until": _until(request.until)}
    datagram = None
    if isinstance(request, Request) and request.udp is not None:
        body = _sent(request.udp)
        datagram = {"match": _datagram_match(request.match)}
    if (raw or datagram) and address.authorization:
        raise PlanError(
            "the URL of the server has a login, and raw bytes have none", "leave it out of the URL"
        )
    headers = _headers(request, address.authorization)
    grpc, stream = None, request.stream
    if request.grpc is not None:
        body = json.dumps(request.message, ensure_ascii=False).encode()
        grpc, stream = grpc_spec(request, headers, schemas)
    left_out = [name for name, lines in request.headers.items() if lines == []]
    return {
        "name": request.label,
        "weight": request.weight if isinstance(request, Request) else 1,
        "method": request.method,
        "path": request.path.replace(PEER, address.peer),
        "headers": headers,
        **({"left_out": left_out} if left_out else {}),
        "body_base64": base64.b64encode(body).decode() if body else None,
        "expect": _expect(request.expect),
        "params": params_spec(request, address) if isinstance(request, Request) else {},
        "stream": stream_spec(stream) if stream is not None else None,
        "websocket": websocket,
        "raw": raw,
        "datagram": datagram,
        "grpc": grpc,
    }


def _headers(request: Call, authorization: str) -> list[list[str]]:
    """The header lines of a request, with the login of the server's URL unless it has its own."""
    given = request.headers | request.metadata
    lines = [
        [name, line]
        for name, lines in given.items()
        for line in (lines if isinstance(lines, list) else [lines])
    ]
    if authorization and not any(name.lower() == "authorization" for name in given):
        lines.append(["Authorization", authorization])
    return lines


def _body(request: Call) -> bytes:
    """The body, or the file that is sent. JSON over the network has no byte order mark (RFC 8259, 8.1)."""
    if request.body_file is None:
        return bytes.fromhex(request.body_hex) or request.body.encode()
    body = bytes_of(request.body_file)
    plain = body.removeprefix(BOM_UTF8)
    json_type = any(
        name.lower() == "content-type" and JSON_TYPE.match(value)
        for name, lines in request.headers.items()
        for value in (lines if isinstance(lines, list) else [lines])
    )
    return plain if json_type or plain.lstrip()[:1] in (b"{", b"[") else body


def _sent(sent: Sent) -> bytes:
    if sent.file is not None:
        return bytes_of(sent.file)
    return sent.template()


def _kind(message: bytes) -> str:
    """The kind of a WebSocket message: text if it is UTF-8."""
    try:
        message.decode()
    except UnicodeDecodeError:
        return "binary"
    return "text"


def _match(match: str) -> str | dict[str, str]:
    kind, _, pointer = match.partition(":")
    return {"field": pointer} if kind == "json" else kind


def _datagram_match(match: str) -> str | dict[str, Any]:
    if (found := bytes_matched(match)) is not None:
        return {"bytes": {"from": found[0], "to": found[1]}}
    return {"regex": match.removeprefix("regex:")} if match.startswith("regex:") else match


def _until(until: Until) -> Any:
    if until.close:
        return "close"
    if until.length is not None:
        return {"length": until.length}
    if until.regex is not None:
        return {"regex": until.regex}
    delimiter = bytes.fromhex(until.hex) if until.hex is not None else (until.text or "").encode()
    return {"delimiter-base64": base64.b64encode(delimiter).decode()}


def _expect(expect: Expect) -> dict[str, Any]:
    body: dict[str, Any] | None = None
    if expect.body is not None:
        body = {"exact": expect.body}
    elif expect.contains is not None:
        body = {"contains": expect.contains}
    elif expect.length is not None:
        body = {"length": expect.length}
    elif expect.sha256 is not None:
        body = {"sha256": expect.sha256.lower()}
    elif expect.json_ is not None:
        body = {"json": {"pointer": expect.json_.pointer, "value": expect.json_.value}}
    return {"status": expect.status, "body": body} | ({"lacks": expect.lacks} if expect.lacks else {})

"""What is sent to the server, and what a right response is."""

import json
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from jostle.errors import BadValue, nearest
from jostle.plan.base import Table
from jostle.plan.requests.event_stream import EventStream, event_stream
from jostle.plan.requests.grpc import GrpcMethod, GrpcStatus, ImportPaths, Message, ProtoFiles, check_metadata
from jostle.plan.requests.raw import PLACEHOLDER, SERIALS, Hex, RawSent, RawUntil, Sent, bytes_matched
from jostle.plan.requests.variables import url_in, without_kind
from jostle.plan.values import (
    Count,
    File,
    Param,
    PositiveCount,
    PositiveDuration,
    check_json,
    check_regex,
    shown,
)
from jostle.url import has_scheme, read_url

__all__ = [
    "BODIES",
    "CODINGS",
    "JSON_TYPE",
    "METHODS",
    "PEER",
    "Call",
    "Expect",
    "JsonValue",
    "Request",
    "accepts_zstd",
    "asking",
]

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A method, or the name of a header (RFC 9110, section 5.6.2)."""
JSON_TYPE = re.compile(r"\s*application/([\w.-]+\+)?json\b", re.IGNORECASE)
"""The content types of bodies that are JSON."""
METHODS = ("get", "post", "put", "delete", "patch", "head", "options")
"""Methods that are keys of a request. Others are written as `method` and `path`."""
CODINGS = "gzip, br, zstd"
"""What `--compressed` asks for. The engine decodes `deflate` as well, asked for or not."""
_ZSTD = re.compile(r"\bzstd\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:[,\]'\"]|$))", re.IGNORECASE)
BODIES = ("body", "body_file", "body_hex")
"""The fields that say what a request's body is."""
PEER = "{peer}"
"""Stands in a path for the address of the workload's `peer`."""


def _expected(value: Any) -> Any:
    return check_json("value", value, 'write for example contains = "null"')


class JsonValue(Table):
    """The value at a JSON pointer (RFC 6901) in the body."""

    pointer: str = Field(description='where in the document: "/user/0/name"; "" is the whole')
    value: Annotated[Any, BeforeValidator(_expected)] = Field(description="the value it must have")


def _statuses(value: Any) -> Any:
    listed = value if isinstance(value, list) else [value]
    for status in listed:
        if not isinstance(status, int) or isinstance(status, bool) or not 200 <= status <= 599:
            raise BadValue(
                f"{shown(status)} is not a status of a response", "write 200 to 599, for example [200, 204]"
            )
    return listed


class Expect(Table):
    """What a correct response looks like; anything else counts as `wrong_status`, `wrong_body` or, for the
    status of a gRPC call, `grpc_status`."""

    status: Annotated[list[int], BeforeValidator(_statuses)] = Field(
        default=[], description="accepted statuses: one or a list; 200 to 399 when not given"
    )
    body: str | None = Field(default=None, description="the whole body, exactly")
    contains: str | None = Field(default=None, description="text that the body must contain")
    lacks: str | None = Field(
        default=None,
        description="text that the body must not contain, beside whatever else it must be: "
        "'\"errors\"', since GraphQL responses errors with status 200",
    )
    length: Count | None = Field(default=None, description="bytes of the body")
    sha256: str | None = Field(default=None, description="SHA-256 of the body, hexadecimal")
    json_: JsonValue | None = Field(default=None, description="a value in a JSON body")
    grpc_status: GrpcStatus = Field(
        default="OK", description='for a gRPC call: the expected status, such as "NOT_FOUND"'
    )

    @model_validator(mode="after")
    def _one_check(self) -> "Expect":
        given = [key for key in ("body", "contains", "length", "sha256") if getattr(self, key) is not None]
        given += ["json"] if self.json_ is not None else []
        if len(given) > 1:
            raise BadValue(f"{' and '.join(given)} both say what the body is", "give one of them")
        if self.sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", self.sha256):
            raise BadValue(
                f"sha256: {self.sha256!r} is not 64 hexadecimal digits", "as `sha256sum` prints it"
            )
        if self.json_ and self.json_.pointer and not self.json_.pointer.startswith("/"):
            raise BadValue(
                f"json.pointer: {self.json_.pointer!r} does not begin with /", 'write for example "/name"'
            )
        if self.lacks == "":
            raise BadValue("lacks: every body contains the empty text", "write the text that must not come")
        if self.lacks is not None and self.lacks in (self.contains or self.body or ""):
            raise BadValue(
                f"{'contains' if self.contains else 'body'} has in it what lacks rules out",
                "give one of them, or another text",
            )
        given += ["lacks"] if self.lacks is not None else []
        bodiless = [s for s in self.status if s in (204, 304)]
        if given and bodiless and len(bodiless) == len(self.status) and self.body != "" and self.length != 0:
            raise BadValue(
                f"a response with status {bodiless[0]} has no body to check", f"leave out {given[0]}"
            )
        return self

    @property
    def looks_at_body(self) -> bool:
        checks = (self.body, self.contains, self.lacks, self.length, self.sha256, self.json_)
        return any(check is not None for check in checks)


def _expect(value: Any) -> Any:
    if isinstance(value, str):
        return {"body": value}
    return {"status": value} if isinstance(value, int | list) else value


def _path(value: Any) -> Any:
    if isinstance(value, str):
        if has_scheme(value):
            url = read_url(value)
            raise BadValue(f"{url} is a whole URL", f"write the path only: {url.path or '/'!r}")
        if not value.startswith("/") and value != "*" and url_in(value) is None:
            raise BadValue(
                f"{value!r} does not begin with /",
                'write the path only, for example "/fast/44"; a variable that holds a whole path or URL '
                'stands alone: "{next}"',
            )
        if any(c <= " " or c == "\x7f" for c in value):
            raise BadValue(f"{value!r} holds a space or a control character", "write a space as %20")
    return value


def _headers(value: Any) -> Any:
    if isinstance(value, dict):
        for name, content in value.items():
            if not _TOKEN.fullmatch(name):
                raise BadValue(
                    f"{name!r} is not a header's name", 'write for example { Accept = "text/html" }'
                )
            if content == [] and name.lower() == "host":
                raise BadValue("a request of HTTP/1.1 has a Host", "leave it out: jostle adds it")
            for line in content if isinstance(content, list) else [content]:
                if not isinstance(line, str):
                    raise BadValue(f"{name}: {shown(line)} is not a text", 'write it in quotes: "…"')
                if re.search(r"[\r\n\0]", line):
                    raise BadValue(f"{name}: a header is one line", "leave out line ends and NUL")
    return value


Path = Annotated[str, BeforeValidator(_path)]


def _method(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if not _TOKEN.fullmatch(value):
        raise BadValue(f"{value!r} is not a method", 'write for example "PURGE"')
    if value.lower() in METHODS:
        raise BadValue(f"{value} has a key of its own", f'write {{ {value.lower()} = "/path" }}')
    if value.upper() == "CONNECT":
        raise BadValue(f"{value} asks for a tunnel, which is not a load of requests", "use another method")
    return value


def accepts_zstd(codings: str) -> bool:
    """Whether a value of Accept-Encoding has zstd, and not to refuse it (q=0)."""
    return _ZSTD.search(codings) is not None


def asking(method: str, path: str) -> dict[str, str]:
    """The keys of a request that say what is asked for. A method of `METHODS` may be in small letters."""
    key = method.lower()
    return {key: path} if key in METHODS else {"method": method, "path": path}


HANDSHAKE = (
    "connection",
    "upgrade",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-extensions",
)
"""Headers that belong to the WebSocket upgrade itself, in lower case."""


def _message(value: Any) -> Any:
    return check_json("send", value, "write the whole message as a text")


def _match(value: Any) -> Any:
    if not isinstance(value, str) or not re.fullmatch(r"order|echo|(json:/|bytes:|regex:.).*", value, re.S):
        raise BadValue(
            f"{shown(value)} does not say which message is the response",
            'write "order", "echo", or "json:/id" (a JSON pointer); with udp "bytes:0..2" or "regex:id=(.*)"',
        )
    if value.startswith("regex:"):
        check_regex(value.removeprefix("regex:"))
    bytes_matched(value)
    return value


class Call(Table):
    """What every request has: exactly one method with its path, headers, a body, and the expected
    response."""

    get: Path | None = Field(
        default=None,
        description="path and query to GET; `{name}` is filled from `params`, in a step from its variables. "
        'It may also be just one variable, "{path}", that holds a whole path or a URL of this server. In a '
        "step the URL may also be relative, to the URL of the response that it was captured from, and on "
        "another host if `allow-targets` of [cluster] lists that host (also without a cluster)",
    )
    post: Path | None = Field(default=None, description="path to POST to")
    put: Path | None = Field(default=None, description="path to PUT to")
    delete: Path | None = Field(default=None, description="path to DELETE")
    patch: Path | None = Field(default=None, description="path to PATCH")
    head: Path | None = Field(default=None, description="path to HEAD")
    options: Path | None = Field(default=None, description="path to OPTIONS")
    method_: Annotated[str | None, BeforeValidator(_method)] = Field(
        default=None,
        description='another method, such as "PURGE" or "PROPFIND", written as it is sent; goes with `path`',
    )
    path_: Path | None = Field(default=None, description="with `method`: the path")
    grpc: GrpcMethod | None = Field(
        default=None,
        description='a gRPC method to call, "package.Service/Method"; the workload then uses HTTP/2',
    )
    proto: ProtoFiles = Field(
        default=[],
        description="with `grpc`: the .proto file, or files, that describe the method; without it the server "
        "is asked (reflection)",
    )
    import_path: ImportPaths = Field(
        default=[],
        description="folders to search for the imports of `proto`, besides the folder of the file itself",
    )
    message: Message = Field(
        default={},
        description="with `grpc`: the message, written as its JSON form; a list of messages if the method "
        "takes a stream. `{name}` within a JSON string is filled in; a number is written as such a "
        "string, too",
    )
    metadata: Annotated[dict[str, str | list[str]], BeforeValidator(_headers)] = Field(
        default={}, description="with `grpc`: metadata of the call; a list repeats the key"
    )
    deadline: PositiveDuration | None = Field(
        default=None,
        description="with `grpc`: the call must end within this time after it was sent; the "
        "server is told of it (`grpc-timeout`)",
    )
    every: PositiveDuration | None = Field(
        default=None,
        description="with `grpc` and a list of messages: the time from one message to the next; all at once "
        "when not given. With it, if the method answers with a stream, the round trip of each message is "
        "measured",
    )
    ws: Path | None = Field(
        default=None, description="path of a WebSocket: the request is a message over it, and its response"
    )
    send: Annotated[Any, BeforeValidator(_message)] = Field(
        default=None,
        description="what is sent over the WebSocket: text, or a table or list, which is sent as JSON; "
        "`{name}` is filled from `params`, in a step from its variables. With `body-file` the file is sent: "
        "as text if it is UTF-8, else as a binary message. Without either nothing is sent, and "
        '`stream = "messages"` listens',
    )
    match: Annotated[str, BeforeValidator(_match)] = Field(
        default="order",
        description='which message or datagram is the response. "order": the next one; "echo": the next that '
        'equals what was sent; "json:/id" (WebSocket): the next with the same value at this JSON pointer; '
        '"bytes:0..2" (datagrams): the next with the same bytes 0 and 1; "regex:id=(.*)" (datagrams): the '
        "next in which the group matches the same text. A message of a WebSocket that is not the response is "
        'ignored; with "order", one that comes while no response is awaited makes the run suspect. Other '
        "datagrams are counted",
    )
    ping: PositiveDuration | None = Field(
        default=None,
        description='with `ws`: how often each client sends a ping: "20s" is every 20 seconds. Its round '
        "trip is measured; if the pong takes longer than this, the client abandons the socket, and a message "
        "that waits for its response has failed",
    )
    name: str = Field(default="", description="its name in the results; the path when not given")
    headers: Annotated[dict[str, str | list[str]], BeforeValidator(_headers)] = Field(
        default={},
        description="header lines; a list of values sends the header once for each, and an empty list never, "
        "not even where jostle would add it (User-Agent, Content-Length). Whatever looks at a response sees "
        "it decoded (gzip, deflate, br, zstd), whether or not Accept-Encoding asks for that",
    )
    body: str = Field(default="", description="the request's body")
    body_file: File | None = Field(default=None, description="a file that is the request's body")
    body_hex: Hex = Field(
        default="", description="the request's body as hexadecimal bytes, for what is not text"
    )
    expect: Annotated[Expect, BeforeValidator(_expect)] = Field(
        default=Expect(),
        description="a text: the whole body, exactly; a number: the status; or a table",
    )
    stream: Annotated[EventStream | None, BeforeValidator(event_stream)] = Field(
        default=None, description='the response is a stream of events: "sse", "lines", "messages", or a table'
    )

    def _kinds_given(self) -> list[str]:
        """The given keys that name a method or protocol, and with it the path."""
        return [kind for kind in (*METHODS, "method_", "grpc", "ws") if getattr(self, kind) is not None]

    def _check_call(self) -> None:
        """Check that keys for gRPC are given only with `grpc`, and no others with it."""
        if self.grpc is None:
            for key in ("proto", "import_path", "message", "metadata", "deadline", "every"):
                if getattr(self, key):
                    raise BadValue(
                        f"{key.replace('_', '-')} is for gRPC", 'write { grpc = "package.Service/Method", … }'
                    )
            if self.expect.grpc_status != "OK":
                raise BadValue("only a call of gRPC has a grpc-status", "expect a status, or a body")
            return
        for key, instead in (("headers", "metadata"), *((key, "message") for key in BODIES)):
            if getattr(self, key):
                raise BadValue(f"{key.replace('_', '-')} is not for gRPC", f"write {instead}")
        if self.every is not None and not isinstance(self.message, list):
            raise BadValue("every is the time between messages, and message is one", "write a list")
        if self.expect.status:
            raise BadValue("a call has no HTTP status to expect", 'write grpc-status = "NOT_FOUND"')
        check_metadata(self.metadata)

    def _check_message(self) -> None:
        """Check that keys for a WebSocket are given only with `ws`, and that they fit together."""
        if self.ws is None:
            http = self._kinds_given() not in (["tcp"], ["udp"])
            for key, given in (
                ("ping", self.ping is not None),
                ("send", http and self.send is not None),
                ("match", http and self.match != "order"),
            ):
                if given:
                    raise BadValue(f"{key} is for a WebSocket", f'write {{ ws = "/path", {key} = … }}')
            return
        sends = self.send is not None or self.body_file is not None
        if self.body or self.body_hex:
            raise BadValue("a WebSocket has messages and no body", 'write send = "…"')
        if self.send is not None and self.body_file is not None:
            raise BadValue("send and body-file both say what to send", "give one of them")
        if not sends and self.stream is None:
            raise BadValue(
                "nothing is sent, so that nothing answers it",
                'write send = "…", or stream = "messages" to listen',
            )
        if self.expect.status:
            raise BadValue("a message has no status to expect", "expect a body; the upgrade must give 101")
        if self.match != "order" and (not sends or self.stream is not None):
            raise BadValue(
                f'match = "{self.match}" is for one message that is sent, and one that answers it',
                "leave out match, or send a message without stream",
            )
        if self.match.startswith(("bytes:", "regex:")):
            raise BadValue(f'match = "{self.match}" is for datagrams (udp)', 'write "json:/id" or "echo"')
        if self.match == "echo" and self.expect.looks_at_body:
            raise BadValue('match = "echo" says already what the response is', "leave out expect, or match")
        for name in self.headers:
            if name.lower() in HANDSHAKE:
                raise BadValue(f"the header {name} belongs to the handshake of a WebSocket", "leave it out")

    @model_validator(mode="after")
    def _consistent(self) -> "Call":
        given = self._kinds_given()
        if len(given) != 1:
            named = " and ".join(kind.rstrip("_") for kind in given)
            what = "has no method" if not given else f"{named} in one request"
            raise BadValue(what, 'write one, for example { get = "/hello" }; several requests make a list')
        if (self.method_ is None) != (self.path_ is None):
            raise BadValue("method and path go together", 'write { method = "PURGE", path = "/" }')
        self._check_call()
        self._check_message()
        if self.stream is not None and self.every is None:
            for bound in self.stream.slo:
                if bound.of == "round trip":
                    raise BadValue(
                        "slo: only messages that are sent periodically have round trips of their own",
                        'write every = "20ms", beside a list of messages',
                    )
        bodies = [key for key in BODIES if getattr(self, key)]
        if len(bodies) > 1:
            said = " and ".join(key.replace("_", "-") for key in bodies)
            raise BadValue(f"{said} both say what to send", "give one of them")
        if self.head is not None and self.expect.looks_at_body and self.expect.body != "":
            raise BadValue("the response to HEAD has no body to check", "expect a status, or use get")
        if self.stream is not None and any(
            name.lower() == "accept-encoding" and accepts_zstd(str(value))
            for name, value in self.headers.items()
        ):
            raise BadValue(
                "the events of a stream in zstd come late: it is decoded window by window",
                "leave zstd out of Accept-Encoding",
            )
        if self.head is not None and self.stream is not None:
            raise BadValue("the response to HEAD has no body, so it is no stream", "use get")
        if self.stream is not None and (self.stream.format == "messages") != (given[0] in ("ws", "grpc")):
            raise BadValue(
                f"stream: {self.stream.format} do not come this way",
                'a stream of "messages" comes over a WebSocket (ws) or from a gRPC method, one of "sse" or '
                '"lines" over HTTP',
            )
        return self

    @property
    def method(self) -> str:
        """The HTTP method; over a WebSocket, that of the upgrade. For raw bytes it has no meaning."""
        (kind,) = self._kinds_given()
        if kind == "grpc":
            return "POST"
        return self.method_ or ("GET" if kind in ("ws", "tcp", "udp") else kind.upper())

    @property
    def path(self) -> str:
        (kind,) = self._kinds_given()
        if kind == "grpc":
            return f"/{self.grpc}"
        return "/" if kind in ("tcp", "udp") else str(self.path_ or getattr(self, kind))

    @property
    def text(self) -> str:
        """The text that `send` stands for: itself, or its JSON."""
        return self.send if isinstance(self.send, str) else json.dumps(self.send, ensure_ascii=False)

    @property
    def label(self) -> str:
        """Its name in the results."""
        if not self.name and self._kinds_given() in (["tcp"], ["udp"]):
            return self._kinds_given()[0]
        if not self.name and self.grpc is not None:
            return self.grpc
        return self.name or (self.path if self.method == "GET" else f"{self.method} {self.path}")


class Request(Call):
    """One request. Give exactly one method, such as `get = "/fast/44"`, or `ws`, `tcp`, `udp` or `grpc`."""

    tcp: RawSent | None = Field(
        default=None,
        description='bytes that are sent unchanged over TCP: "PING\\r\\n", { hex = "…" } or { file = "…" }',
    )
    until: RawUntil | None = Field(
        default=None,
        description='with `tcp`, where the response ends: "\\r\\n", { hex = "…" }, { length = 7 }, '
        '{ regex = "…" } or { close = true }',
    )
    udp: RawSent | None = Field(
        default=None,
        description="bytes that are sent as one datagram, written as for `tcp`; its response is also one "
        "datagram, and `match` says which",
    )
    urls: File | None = Field(
        default=None,
        description="in place of a method: a file with a path in each line, a request for each; a line may "
        "begin with a method and end with a weight (`POST /orders 3`); one that begins with # says nothing. "
        "All other keys hold for each of them",
    )
    weight: PositiveCount = Field(default=1, description="how often, relative to the others in the list")
    params: dict[str, Param] = Field(
        default={},
        description="values for the path, or for what `ws`, `tcp`, `udp` or `grpc` sends: "
        '{ from = 1, to = 9 }, ["a", "b"] or { csv = "…", column = "…" }',
    )

    def _kinds_given(self) -> list[str]:
        raw = (kind for kind in ("tcp", "udp") if getattr(self, kind) is not None)
        return [*super()._kinds_given(), *raw]

    @model_validator(mode="after")
    def _filled(self) -> "Request":
        if self.tcp is not None:
            self._check_tcp(self.tcp)
            return self
        if self.udp is not None:
            self._check_udp(self.udp)
            return self
        if self.until is not None:
            raise BadValue("until is for raw bytes", 'write { tcp = "…", until = "…" }')
        if self.ws is not None:
            for name in PLACEHOLDER.findall(self.ws.replace(PEER, "")):
                raise BadValue(
                    f"{{{name}}}: the path of a WebSocket has no parameters", "write %7B for a brace"
                )
            # Braces in a message are plain text unless `params` has the name.
            self._check_params(self.text if self.send is not None else "")
            return self
        if self.grpc is not None:
            self._check_params(json.dumps([self.message, self.metadata], ensure_ascii=False))
            return self
        wanted = PLACEHOLDER.findall(self.path.replace(PEER, ""))
        for name in wanted:
            if name not in self.params and without_kind(name) in self.params:
                raise BadValue(
                    f"{{{name}}}: values of params are never escaped", f"write {{{without_kind(name)}}}"
                )
            if name not in self.params:
                raise BadValue(f"{{{name}}} in the path has no value", nearest(name, self.params))
        whole = url_in(self.path)
        if whole is not None and self.params[whole].kind == "range":
            raise BadValue(f"params.{whole}: a number is no path", f'write "/{{{whole}}}"')
        for name in self.params.keys() - set(wanted):
            raise BadValue(f"params.{name} is not used in the path", f"write {{{name}}} where it belongs")
        return self

    def _check_tcp(self, sent: Sent) -> None:
        if self.until is None:
            raise BadValue(
                "until is missing: nothing says where a response ends",
                'write for example until = "\\r\\n", { length = 7 } or { close = true }',
            )
        if self.match != "order":
            raise BadValue(
                "match is for a WebSocket, and for datagrams", "expect = { contains = … } checks a response"
            )
        self._check_raw(sent, "tcp")

    def _check_udp(self, sent: Sent) -> None:
        if self.until is not None:
            raise BadValue(
                "until is for tcp: a response over udp is one datagram", 'write match = "…" to say which'
            )
        if self.match.startswith("json:"):
            raise BadValue(
                f'match = "{self.match}" is for a WebSocket', 'write "bytes:0..2" or "regex:id=(.*)"'
            )
        self._check_raw(sent, "udp")

    def _check_raw(self, sent: Sent, kind: str) -> None:
        for key in ("headers", *BODIES, "stream", "send"):
            if getattr(self, key):
                raise BadValue(
                    f"{key.replace('_', '-')} has no meaning for raw bytes",
                    f'write what is sent as {kind} = "…", or as {kind} = {{ file = "…" }}',
                )
        if self.expect.status:
            raise BadValue("a response of raw bytes has no status to expect", "expect a body")
        for name in sent.gaps if sent.hex is not None else []:
            if name not in self.params and not SERIALS.fullmatch(f"{{{name}}}"):
                raise BadValue(
                    f"{{{name}}} in hex has no value",
                    nearest(name, self.params) if self.params else "write {id:u16} for a number of two bytes",
                )
        self._check_params(sent.text or sent.hex or "")

    def _check_params(self, text: str) -> None:
        for name in self.params:
            if f"{{{name}}}" not in text:
                raise BadValue(
                    f"params.{name} is not used in what is sent", f"write {{{name}}} where it belongs"
                )

"""Journeys: what a user does, step by step, with values carried from one response to later requests."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from jostle import units
from jostle.errors import BadValue, nearest
from jostle.plan.base import Table
from jostle.plan.journeys.feed import Feed
from jostle.plan.journeys.hurl import hurl_journey
from jostle.plan.journeys.when import When
from jostle.plan.requests.request import BODIES, Call
from jostle.plan.requests.variables import (
    BUILT_IN,
    KINDS,
    NAME,
    as_json,
    built_in,
    kind_of,
    names_in,
    unknown_kinds,
    url_in,
    without_kind,
)
from jostle.plan.values import (
    File,
    PositiveCount,
    Think,
    ThinkTime,
    check_json,
    check_regex,
    file_named,
    shown,
)

__all__ = ["Group", "Journey", "Step", "source"]

SOURCES = ("json", "regex", "html", "header", "cookie", "status", "body")
IN_BODY = ("json", "regex", "html", "body")

_SOURCE_EXAMPLES = (
    'write "json:/user/token", "regex:item/(\\\\d+)", "header:Location", "cookie:sid", "status" or "body"'
)
_LIMIT_EXAMPLE = 'write { regex = "…", limit = "200kB" }'
MAX_CAPTURED_BYTES = 1024 * 1024


def source(text: str) -> str | dict[str, str]:
    """The engine's `SourceSpec` for a capture. Raises `BadValue`."""
    kind, colon, rest = text.partition(":")
    if kind not in SOURCES:
        raise BadValue(f"{text!r} does not say what to keep of a response", _SOURCE_EXAMPLES)
    if kind in ("status", "body"):
        if colon:
            raise BadValue(f"{text!r}: {kind} stands alone", _SOURCE_EXAMPLES)
        return kind
    if not colon or (not rest and kind != "json"):
        raise BadValue(f"{text!r} does not say which {kind}", _SOURCE_EXAMPLES)
    if kind == "json" and rest and not rest.startswith("/"):
        raise BadValue(f"{text!r}: a JSON pointer begins with /", 'write for example "json:/items/0/id"')
    if kind in ("regex", "html"):
        check_regex(rest)
    return {kind: rest}


@dataclass(frozen=True)
class Capture:
    """What is kept of a response. `limit`: the most bytes, None for the usual limit."""

    text: str
    limit: int | None = None

    @classmethod
    def read(cls, value: Any) -> "Capture":
        """Read "regex:…" or { regex = "…", limit = "200kB" }. Raises `BadValue`."""
        if isinstance(value, Capture):
            return value
        if isinstance(value, str):
            source(value)
            return cls(value)
        if not isinstance(value, dict) or len(value.keys() - {"limit"}) != 1:
            raise BadValue(f"{shown(value)} does not say what to keep of a response", _SOURCE_EXAMPLES)
        ((kind, rest),) = ((key, inner) for key, inner in value.items() if key != "limit")
        text = kind if kind == "body" and rest is True else f"{kind}:{rest}"
        source(text)
        if "limit" not in value:
            return cls(text)
        if kind not in IN_BODY:
            raise BadValue(
                f"a limit of {kind}: only what is kept of a body has one of its own", _LIMIT_EXAMPLE
            )
        limit = units.size(value["limit"]) if isinstance(value["limit"], str) else value["limit"]
        if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit <= MAX_CAPTURED_BYTES:
            raise BadValue(f"a limit of {shown(value['limit'])}: at most 1 MiB", _LIMIT_EXAMPLE)
        return cls(text, limit)

    @property
    def kind(self) -> str:
        return self.text.partition(":")[0]

    def written(self) -> str | dict[str, Any]:
        """As it is written in a plan."""
        if self.limit is None:
            return self.text
        kind, _, rest = self.text.partition(":")
        return {kind: True if kind == "body" else rest, "limit": self.limit}


def _captures(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    for name in value:
        if not NAME.fullmatch(name) or name in BUILT_IN:
            raise BadValue(
                f"{name!r} is not a name for a value", "letters, digits, _ . - and no built-in name"
            )
    return {name: Capture.read(each) for name, each in value.items()}


_CAPTURE_SCHEMA = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {
                    "json": {"type": "string"},
                    "regex": {"type": "string"},
                    "html": {"type": "string"},
                    "body": {"const": True},
                    "limit": {"type": ["string", "integer"]},
                },
                "additionalProperties": False,
            },
        ]
    },
}

Captures = Annotated[
    dict[str, Capture],
    PlainValidator(_captures),
    PlainSerializer(lambda captures: {name: each.written() for name, each in captures.items()}),
    WithJsonSchema(_CAPTURE_SCHEMA),
]


def _when(value: Any) -> Any:
    if isinstance(value, str):
        When.read(value)
    return value


def _json(value: Any) -> Any:
    return check_json("it", value, "write the body as a text, and its type as a header")


class Step(Call):
    """One request of a journey, and what is kept of its response."""

    json_: Annotated[Any, BeforeValidator(_json)] = Field(
        default=None, description="the request's body as JSON: a table, a list, a text"
    )
    form: dict[str, str] | None = Field(
        default=None, description="the request's body as an HTML form sends it"
    )
    capture: Captures = Field(
        default={},
        description='what is kept, by name: "json:/token", "regex:item/(\\d+)", "html:value=\\"([^\\"]*)" (a '
        'regular expression whose match is HTML, so that `&#43;` means +), "header:Location", "cookie:sid", '
        '"status" or "body"; at most 16 KiB each, or `{ regex = "…", limit = "200kB" }`',
    )
    close: bool = Field(
        default=False, description="with `ws`: after the response the client closes its WebSocket"
    )
    when: Annotated[str | None, BeforeValidator(_when)] = Field(
        default=None, description='the step is skipped unless this holds: "{id} exists", "{stock} > 0"'
    )
    stop_when: Annotated[str | None, BeforeValidator(_when)] = Field(
        default=None,
        description="the journey ends here, as completed, if this holds after a response of this step, even "
        'with repeats left: "{state} == done"',
    )
    repeat: Annotated[PositiveCount, Field(lt=2**32)] = Field(
        default=1, description="how often it is sent, one after another"
    )
    think: ThinkTime = Field(default=Think(), description='pause after its response: "1s ± 20%"')
    once_per_client: bool = Field(
        default=False, description="each client sends it once, in its first journey; recorded separately"
    )
    on_failure: Literal["end", "go-on"] = Field(
        default="end", description="after a request that failed, the journey ends (end) or goes on (go-on)"
    )
    on_capture_failed: Literal["end", "go-on", "ignore"] = Field(
        default="end",
        description="what to do if something was not found in the response: end and go-on count it as "
        "`capture_failed`; ignore accepts the response",
    )

    @model_validator(mode="after")
    def _one_body(self) -> "Step":
        given = {
            **{key.replace("_", "-"): getattr(self, key) for key in BODIES},
            "json": self.json_,
            "form": self.form,
        }
        named = [key for key, value in given.items() if value not in (None, "")]
        if len(named) > 1:
            raise BadValue(f"{' and '.join(named)} all say what to send", "give one of them")
        if self.grpc is not None and named:
            raise BadValue(f"{named[0]} is not for gRPC", "write message")
        if self.ws is not None:
            self._check_socket()
        elif self.close:
            raise BadValue("close is for a WebSocket", 'write { ws = "/path", send = "…", close = true }')
        if self.once_per_client and self.repeat > 1:
            raise BadValue("once-per-client and repeat", "leave one of them out")
        if self.head is not None and any(capture.kind in IN_BODY for capture in self.capture.values()):
            raise BadValue("the response to HEAD has no body to keep something of", "use get")
        return self

    @model_validator(mode="after")
    def _has_a_url(self) -> "Step":
        if self.url is None:
            return self
        if self.ws is not None:
            raise BadValue(f"{self.path} is no path of a WebSocket", 'write for example "/chat/{name}"')
        if built_in(self.url) is not None:
            raise BadValue(f"{self.path} is not a URL", 'a path begins with /, for example "/{uuid}"')
        if kind_of(self.url):
            raise BadValue(
                f"{self.path}: a whole URL is never escaped", f'write "{{{without_kind(self.url)}}}"'
            )
        return self

    def name_in(self, journey: str | None) -> str:
        """Its name in the results. `journey`: its journey's name; None if the workload has no other."""
        return self.label if journey is None else f"{journey}: {self.label}"

    @property
    def url(self) -> str | None:
        """The variable that holds the whole URL to request; None if the step has a path."""
        return url_in(self.path)

    def _check_socket(self) -> None:
        for key in ("json", "form"):
            if getattr(self, "json_" if key == "json" else key) is not None:
                raise BadValue(f"{key} is the body of a request, and a message has none", "write send = …")
        for name, capture in self.capture.items():
            if capture.kind not in IN_BODY:
                raise BadValue(
                    f"capture.{name}: a message has no status, no headers and no cookies",
                    'write for example "json:/id", "regex:id=(\\d+)" or "body"',
                )

    @property
    def condition(self) -> When | None:
        return None if self.when is None else When.read(self.when)

    @property
    def stop_condition(self) -> When | None:
        return None if self.stop_when is None else When.read(self.stop_when)

    @property
    def _filled(self) -> tuple[Any, ...]:
        """What is filled in, of its request."""
        return (self.path, self.headers, self.form, self.metadata, *self._sent)

    @property
    def _sent(self) -> tuple[Any, ...]:
        return (self.json_, self.body, self.send, self.message)

    def filled_from(self) -> Iterator[str]:
        """The names of the variables in its request as written, with `:raw`."""
        for text in self._filled:
            yield from names_in(text)

    def unknown_kinds(self) -> Iterator[tuple[str, str]]:
        """The variables behind whose name something else than a kind stands, with that."""
        for text in self._filled:
            yield from unknown_kinds(text)

    @model_validator(mode="after")
    def _kinds_in_place(self) -> "Step":
        for text in (self.path, self.headers, self.form, self.metadata):
            for name in names_in(text):
                if kind_of(name) in ("number", "json"):
                    raise BadValue(
                        f"{{{name}}} is for JSON, where it takes the place of a value",
                        f"write {{{without_kind(name)}}}",
                    )
        for text in self._sent:
            if not isinstance(text, str):
                as_json(text)
            for name in names_in(text):
                plain = without_kind(name)
                if kind_of(name) == "number" and built_in(plain) == "uuid":
                    raise BadValue("{uuid:number}: a UUID is no number", "write {uuid}")
        return self

    @property
    def always_sent(self) -> bool:
        return self.when is None and not self.once_per_client

    @property
    def always_captures(self) -> bool:
        """Whether, after this step, its captures exist or the journey has ended."""
        return self.when is None and self.on_failure == "end" and self.on_capture_failed == "end"


class Group(Table):
    """Steps that are sent together, as a browser fetches what a page needs."""

    parallel: list[Step] = Field(
        description="the steps; each waits for one of the journey's `connections`, over HTTP/2 for a free "
        "stream, and the journey goes on when all have ended"
    )
    think: ThinkTime = Field(default=Think(), description="pause after the last response")

    @model_validator(mode="after")
    def _consistent(self) -> "Group":
        if len(self.parallel) < 2:
            raise BadValue(
                "parallel: one step, or none, is not sent together with others", "list at least two"
            )
        captured = Counter(name for step in self.parallel for name in step.capture)
        for name, times in captured.items():
            if times > 1:
                raise BadValue(
                    f"parallel: {times} steps capture {name!r}, and the last response would decide",
                    "give each its own name",
                )
        for step in self.parallel:
            given = [
                key
                for key, wrong in (
                    ("repeat", step.repeat > 1),
                    ("stop-when", step.stop_when is not None),
                    ("think", step.think.kind != "none"),
                    ("ws", step.ws is not None),
                )
                if wrong
            ]
            if given:
                hint = "write think beside parallel" if given[0] == "think" else f"leave out {given[0]}"
                raise BadValue(f"{step.label}: {given[0]} is not for a step within parallel", hint)
        return self


def _step_or_group(value: Any) -> str:
    grouped = isinstance(value, Group) or (isinstance(value, dict) and "parallel" in value)
    return "(parallel)" if grouped else "(step)"


Steps = Annotated[
    Annotated[Step, Tag("(step)")] | Annotated[Group, Tag("(parallel)")], Discriminator(_step_or_group)
]


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


class Journey(Table):
    """Steps that a client goes through from the first to the last."""

    steps: list[Steps] = Field(
        default=[],
        description='in their order; `{ parallel = [{ get = "/a.css" }, { get = "/b.js" }] }` sends several '
        "together",
    )
    connections: PositiveCount = Field(
        default=1,
        description="the most that a client has at a time over HTTP/1.1, for steps within `parallel`; a "
        "browser has 6. Over HTTP/2 a client has one connection, and such steps are its streams",
    )
    hurl: File | None = Field(
        default=None,
        description="instead of steps: a Hurl file (https://hurl.dev) whose entries are the steps; clients "
        "then keep their cookies unless cookies = false",
    )
    script: File | None = Field(
        default=None,
        description="instead of steps: a Luau script that makes the requests (docs/how-to/scripts.md)",
    )
    cookies: bool = Field(
        default=False, description="each client keeps the cookies that responses set, as a browser does"
    )
    feed: Annotated[list[Feed], BeforeValidator(_listed)] = Field(
        default=[], description='rows of values: { csv = "users.csv", each = "client" }'
    )

    @model_validator(mode="before")
    @classmethod
    def _from_hurl(cls, data: Any, info: ValidationInfo) -> Any:
        """Replace a Hurl file by its steps, so that a recorded plan needs no other file."""
        if not isinstance(data, dict):
            return data
        given = [key for key in ("steps", "hurl", "script") if data.get(key)]
        if len(given) > 1:
            raise BadValue(f"{' and '.join(given)} both say what is sent", "give one of them")
        if data.get("hurl") is None:
            return data
        if (info.context or {}).get("base") is None:
            raise BadValue("hurl: this plan has no folder in which its file could be", "write steps")
        return hurl_journey(file_named(data["hurl"], info)) | {
            key: value for key, value in data.items() if key != "hurl"
        }

    @model_validator(mode="after")
    def _consistent(self) -> "Journey":
        if self.script is not None:
            if self.connections > 1:
                raise BadValue(
                    "connections: a script sends one request at a time", "leave it out, or write steps"
                )
            feed_columns(self.feed)
            return self
        if not self.steps:
            raise BadValue("a journey without steps", 'write for example steps = [{ get = "/" }]')
        if self.connections > 1 and not self.sends_together:
            raise BadValue(
                "connections: without parallel a client sends one request at a time, over one connection",
                "leave it out, or write { parallel = [ … ] } among the steps",
            )
        self._has_one_socket()
        label, times = Counter(step.label for step in self.requests).most_common(1)[0]
        if times > 1:
            raise BadValue(f"{times} steps have the name {label!r}", "give each its own: name = …")
        if not any(step.always_sent for step in self.requests):
            raise BadValue(
                "no step is sent every time, so that a client could go round without an end",
                "leave out when or once-per-client of one step",
            )
        _Variables(self).check()
        return self

    def _has_one_socket(self) -> None:
        messages = [step for step in self.requests if step.ws is not None]
        sockets = {(step.ws, step.ping, repr(sorted(step.headers.items()))) for step in messages}
        if len(sockets) > 1:
            raise BadValue(
                "a client has one WebSocket, over which all of its messages go",
                "give all steps with ws the same ws, headers and ping",
            )

    @property
    def sends_together(self) -> bool:
        return any(isinstance(step, Group) for step in self.steps)

    @property
    def has_socket(self) -> bool:
        return any(step.ws is not None for step in self.requests)

    @property
    def most_connections(self) -> int:
        """The most connections a client has at a time; a WebSocket adds one."""
        return self.connections + self.has_socket

    @property
    def groups(self) -> list[list[Step]]:
        """The steps in lists: those sent together share one list, every other step has its own."""
        return [step.parallel if isinstance(step, Group) else [step] for step in self.steps]

    @property
    def requests(self) -> list[Step]:
        """All steps, in their order."""
        return [step for group in self.groups for step in group]

    @property
    def pauses(self) -> list[Think]:
        """The pauses between the steps."""
        return [step.think for step in self.steps]


def feed_columns(feeds: Sequence[Feed]) -> set[str]:
    """The columns of all feeds whose files exist. Raises `BadValue` for a name that two of them have."""
    known: set[str] = set()
    for feed in feeds:
        for column in feed.columns() or ():
            if column in known:
                raise BadValue(f"two feeds have a column {column!r}", "rename one of them")
            known.add(column)
    return known


class _Variables:
    """Checks that each step uses only variables that are known there."""

    def __init__(self, journey: Journey) -> None:
        self._steps = journey.requests
        self._groups = journey.groups
        self._sure = feed_columns(journey.feed)
        self._unknown_columns = any(feed.columns() is None for feed in journey.feed)
        self._maybe: dict[str, str] = {}  # variable name to the step that may capture it

    def check(self) -> None:
        number = 1
        for group in self._groups:
            for place, step in enumerate(group):
                self._check_request(number + place, step, group)
            for step in group:
                self._captures(step)
                if (stop := step.stop_condition) is not None:
                    self._known(number, stop.name)
            number += len(group)

    def _check_request(self, number: int, step: Step, group: Sequence[Step]) -> None:
        condition = step.condition
        used = [] if condition is None else [condition.name]
        used += map(without_kind, step.filled_from())
        for name in used:
            self._not_of_a_sibling(number, step, name, group)
            self._known(number, name)
        for name, kind in step.unknown_kinds():
            if self._is_known(name):
                raise BadValue(
                    f"step {number} ({step.label}): {{{name}:{kind}}}: a value is not written as {kind!r}",
                    nearest(kind, dict.fromkeys(KINDS)),
                )
        guarded = {condition.name} if condition is not None and condition.means_it_is_there else set()
        for name in map(without_kind, step.filled_from()):
            if name in self._maybe and name not in guarded:
                raise BadValue(
                    f"step {number} ({step.label}) needs {{{name}}}, which may not be there: "
                    f"the step {self._maybe[name]!r} can be passed over, or go on without it",
                    f'write when = "{{{name}}} exists"',
                )

    def _captures(self, step: Step) -> None:
        for name in step.capture:
            if step.always_captures:
                self._sure.add(name)
                self._maybe.pop(name, None)
            elif name not in self._sure:
                self._maybe[name] = step.label

    def _not_of_a_sibling(self, number: int, step: Step, name: str, group: Sequence[Step]) -> None:
        """Steps that are sent together cannot use one another's captures."""
        for sibling in group:
            if sibling is not step and name in sibling.capture:
                raise BadValue(
                    f"step {number} ({step.label}): {{{name}}} is captured by {sibling.label!r}, which is "
                    "sent at the same time",
                    "move one of them out of parallel, or capture under another name",
                )

    def _is_known(self, name: str) -> bool:
        return built_in(name) is not None or name in self._sure or name in self._maybe

    def _known(self, number: int, name: str) -> None:
        if self._is_known(name) or self._unknown_columns:
            return
        step = self._steps[number - 1]
        for later in self._steps[number - 1 :]:
            if name in later.capture:
                when = "itself" if later is step else f"only by the step {later.label!r}, which comes later"
                raise BadValue(
                    f"step {number} ({step.label}): {{{name}}} is captured {when}", "change the order"
                )
        known: Mapping[str, None] = dict.fromkeys([*self._sure, *self._maybe, *BUILT_IN])
        raise BadValue(f"step {number} ({step.label}): {{{name}}} is not known", nearest(name, known))

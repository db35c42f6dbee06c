"""From a plan's journeys to what the engine runs: names become slots, files become rows."""

import base64
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate, cycle
from typing import Any

from jostle.errors import PlanError
from jostle.generator.spec.scripts import script_spec, steps_of
from jostle.plan.journeys.feed import Feed
from jostle.plan.journeys.journey import Journey, Step, source
from jostle.plan.journeys.when import When
from jostle.plan.requests.request import JSON_TYPE
from jostle.plan.requests.variables import RAW, as_in_forms, as_json, built_in, kind_of, without_kind
from jostle.plan.values import Think
from jostle.url import has_scheme

__all__ = ["engine_journeys"]

HEADERS = {"json": "application/json", "form": "application/x-www-form-urlencoded"}


def connections_of_a_client(workload: Mapping[str, Any]) -> int:
    """The most connections a client has at a time: those of steps sent together, plus a WebSocket."""
    if not workload.get("journeys"):
        return 1
    socket = any(request["websocket"] for request in workload["requests"])
    return int(max(journey["connections"] for journey in workload["journeys"]) + socket)


def engine_journeys(
    weights: Mapping[str, int],
    journeys: Mapping[str, Journey],
    *,
    request: Callable[[Step], dict[str, Any]],
    think: Callable[[Think], Any],
    redirects: Mapping[str, Any],
    http2: bool,
) -> dict[str, Any]:
    """The keys `requests`, `journeys`, `slots` and `redirects` of a `WorkloadSpec`.

    The steps of a script are the requests that it contains. `request` makes the `RequestSpec` of a step, as
    of any request; `think` makes a `ThinkSpec`. `redirects`: a `RedirectSpec`, left out if no redirect is
    followed and no step requests a URL. `http2`: steps sent together share one connection.
    Reads the feeds and scripts. Raises `PlanError`.
    """
    captures_urls = False
    requests: list[dict[str, Any]] = []
    compiled: list[dict[str, Any]] = []
    slots = _Slots()
    for name, weight in weights.items():
        journey, own = journeys[name], _Names(slots)
        script = None if journey.script is None else script_spec(journey.script, _columns(journey, own))
        steps: list[dict[str, Any]] = []
        groups = journey.groups
        url_slots = {step.url for step in journey.requests if step.url is not None}
        own.urls = url_slots & {name for step in journey.requests for name in step.capture}
        captures_urls |= bool(url_slots)
        if script is not None:
            listed, anywhere = steps_of(script)
            groups, captures_urls = [[step] for step in listed], captures_urls or anywhere
        for together, step in ((place > 0, step) for group in groups for place, step in enumerate(group)):
            label = step.name_in(None if len(weights) == 1 else name)
            spec = request(step) | {"name": label, "weight": 1, "cookies": journey.cookies}
            requests.append(spec | _filled(step, spec, own))
            steps.append(_step(step, len(requests) - 1, own, think) | {"together": together})
        ends = accumulate(map(len, groups)) if script is None else ()
        for end, pause in zip(ends, journey.pauses, strict=False):
            steps[end - 1]["think"] = think(pause)
        used = None if script is not None else set(_used(journey))
        behind_slash = {step.path[2:-1] for step in journey.requests if step.path.startswith("/{")}
        drawn = (_feed(feed, used, own, behind_slash) for feed in journey.feed)
        feeds = [feed for feed in drawn if feed is not None]
        compiled.append(
            {
                "name": name,
                "weight": weight,
                "steps": steps,
                "connections": 1 if http2 else journey.connections,
                "feeds": feeds,
                "script": script,
            }
        )
    rule = dict(redirects) if redirects["most"] or captures_urls else None
    return {"requests": requests, "journeys": compiled, "slots": slots.count, "redirects": rule}


class _Slots:
    """Numbers the places for a client's values, over all journeys."""

    def __init__(self) -> None:
        self.count = 0

    def new(self) -> int:
        self.count += 1
        return self.count - 1


class _Names:
    """The slot of each variable of one journey. `captures_urls`: the variables that are captured as whole
    URLs."""

    def __init__(self, slots: _Slots) -> None:
        self.urls: set[str] = set()
        self._slots = slots
        self._known: dict[str, int] = {}
        self._bases: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        if name not in self._known:
            self._known[name] = self._slots.new()
        return self._known[name]

    def base(self, name: str) -> int | None:
        """The slot of the URL to which this one is relative; None if it is not captured as a URL."""
        if name in self.urls and name not in self._bases:
            self._bases[name] = self._slots.new()
        return self._bases.get(name)

    def unnamed(self) -> int:
        return self._slots.new()


def check_no_slash(where: str, name: str, value: str) -> None:
    """Raise `PlanError` if a whole path or URL would follow the slash of the path "/{name}"."""
    if value.startswith("/") or has_scheme(value):
        raise PlanError(
            f"{where}: {value!r} is a whole {'URL' if has_scheme(value) else 'path'}, and another / stands "
            "before it",
            f'write "{{{name}}}" in place of "/{{{name}}}"',
        )


def _filled(step: Step, spec: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    """What a step has in addition to a request: the kind of its body, and where its variables come from."""
    headers, body = list(spec["headers"]), None
    given = [value for name, value in headers if name.lower() == "content-type"]
    kind = "json" if any(JSON_TYPE.match(value) for value in given) else "text"
    if step.grpc is not None:
        kind, body = "json", as_json(step.message)
    elif step.ws is not None:
        kind, body = ("text", None) if isinstance(step.send, str | None) else ("json", as_json(step.send))
    elif step.json_ is not None:
        kind, body = "json", as_json(step.json_, separators=(",", ":"))
    elif step.form is not None:
        pairs = (f"{as_in_forms(key)}={as_in_forms(value)}" for key, value in step.form.items())
        kind, body = "form", "&".join(pairs)
    filled: dict[str, Any] = {
        "fill": kind,
        "params": {name: _param(name, names) for name in dict.fromkeys(step.filled_from())},
    }
    if step.url is not None:
        filled["path"] = "/"  # the URL takes its place
    if body is not None:
        filled["body_base64"] = base64.b64encode(body.encode()).decode()
        if not given and (step.json_ is not None or step.form is not None):
            filled["headers"] = [*headers, ["Content-Type", HEADERS[kind]]]
    return filled


def _param(name: str, names: _Names) -> Any:
    found = built_in(without_kind(name))
    if found is not None:
        return found
    return {"slot": {"slot": names[without_kind(name)], "written": kind_of(name) or "escaped"}}


def _step(step: Step, request: int, names: _Names, think: Callable[[Think], Any]) -> dict[str, Any]:
    return {
        "request": request,
        "capture": [
            {
                "name": name,
                "slot": names[name],
                "from": source(capture.text),
                "base": names.base(name),
                "limit": capture.limit,
            }
            for name, capture in step.capture.items()
        ],
        "url": None if step.url is None else {"slot": names[step.url], "base": names.base(step.url)},
        "when": _condition(step.condition, names),
        "stop_when": _condition(step.stop_condition, names),
        "repeat": step.repeat,
        "think": think(step.think),
        "close": step.close,
        "once": names.unnamed() if step.once_per_client else None,
        "on_failure": step.on_failure,
        "on_capture_failed": step.on_capture_failed,
    }


def _condition(condition: When | None, names: _Names) -> dict[str, Any] | None:
    if condition is None:
        return None
    return {"value": _param(condition.name, names), "test": condition.test}


def _feed(
    feed: Feed, used: Collection[str] | None, names: _Names, behind_slash: Collection[str]
) -> dict[str, Any] | None:
    """The engine's feed; None if no column is used and it does not end the load. `used`: None for all.

    `behind_slash`: what follows the slash in paths of steps that have nothing else. Raises `PlanError`.
    """
    columns = [column for column in feed.columns() or [] if used is None or column in used]
    if not columns:
        if feed.order != "once":
            return None
        columns = (feed.columns() or [])[:1]
    return {
        "each": feed.each,
        "order": feed.order,
        "columns": [names[column] for column in columns],
        "rows": _rows(_checked(feed, columns, behind_slash)),
    }


def _checked(feed: Feed, columns: Sequence[str], behind_slash: Collection[str]) -> Iterator[str]:
    """The values of the columns. Raises `PlanError` for a whole path that would follow a slash."""
    alone = [column if {column, f"{column}{RAW}"} & set(behind_slash) else "" for column in columns]
    if not any(alone):
        yield from feed.values(columns)
        return
    for column, value in zip(cycle(alone), feed.values(columns), strict=False):
        if column:
            check_no_slash(f"{feed.path}, column {column}", column, value)
        yield value


def _columns(journey: Journey, names: _Names) -> list[tuple[str, int]]:
    """The slot of each column of the feeds."""
    return [(column, names[column]) for feed in journey.feed for column in feed.columns() or ()]


_SHORT = [bytes([length]) for length in range(128)]
_PIECE_BYTES = 64 * 1024


def _rows(values: Iterator[str]) -> dict[str, Any]:
    """The engine's `FeedRows`, compressed while the file is read, since it may be large."""
    compressor, compressed = zlib.compressobj(), bytearray()
    piece, count = bytearray(), 0
    for count, text in enumerate(values, 1):  # noqa: B007 (the last one counts)
        value = text.encode("utf-8", "replace")
        length = len(value)
        while length > 127:
            piece.append(length & 127 | 128)
            length >>= 7
        piece += _SHORT[length]
        piece += value
        if len(piece) > _PIECE_BYTES:
            compressed += compressor.compress(piece)
            piece.clear()
    compressed += compressor.compress(piece) + compressor.flush()
    return {"count": count, "zlib_base64": base64.b64encode(compressed).decode()}


def _used(journey: Journey) -> Iterator[str]:
    for step in journey.requests:
        yield from map(without_kind, step.filled_from())
        yield from (when.name for when in (step.condition, step.stop_condition) if when is not None)

"""gRPC calls for the engine, checked against `.proto` files or the server's own description (reflection)."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jostle._engine import compile_protos, grpc_methods, grpc_reflected, grpc_refusal
from jostle.errors import PlanError, nearest
from jostle.plan.requests.event_stream import EventStream
from jostle.plan.requests.grpc import STATUSES
from jostle.plan.requests.request import Call, Request
from jostle.plan.requests.variables import GAP
from jostle.plan.values import Params

__all__ = ["Schemas", "grpc_spec"]


PATIENCE_S = 10.0
"""How long a server may take to answer with its schema."""

NAME_A_FILE = "name the .proto file: proto = …, or --proto FILE"


class Schemas:
    """The schemas of the calls of one specification, as `FileDescriptorSet`s; each is made only once.

    `target`: the `TargetSpec` of the server that is asked where a call names no file; None if none runs.
    """

    def __init__(self, target: Mapping[str, Any] | None) -> None:
        self._target = target
        self._made: dict[tuple[tuple[str, ...], ...], bytes] = {}

    def of(self, call: Call, headers: Sequence[Sequence[str]]) -> bytes:
        """The schema of a call with these header lines; empty if nobody can be asked. Raises `PlanError`."""
        if call.proto:
            key = tuple(map(str, call.proto)), tuple(map(str, call.import_path))
            return self._made.get(key) or self._made.setdefault(key, _compiled(*key))
        if self._target is None:
            return b""
        service = (call.grpc or "").partition("/")[0]
        # All that is the same for every call.
        metadata = tuple((name, value) for name, value in headers if not GAP.search(value))
        types = tuple(dict.fromkeys(_any_types(call.message)))
        question = (service,), types, *metadata
        return self._made.get(question) or self._made.setdefault(
            question, _reflected(self._target, service, types, metadata)
        )


def grpc_spec(
    call: Call, headers: Sequence[Sequence[str]], schemas: Schemas
) -> tuple[dict[str, Any], EventStream | None]:
    """The engine's `GrpcSpec` for a call, and how its response is read if it is a stream.

    `headers`: its header lines, which go with the question for the schema as well. Raises `PlanError`
    for anything that the schema does not have.
    """
    gives_stream = False
    if schema := schemas.of(call, headers):
        gives_stream = _check_method(call, schema)
        _check_message(call, schema)
    spec = {
        "schema_base64": base64.b64encode(schema).decode(),
        "deadline_ns": round(call.deadline * 1e9) if call.deadline is not None else None,
        "every_ns": round(call.every * 1e9) if call.every is not None else None,
        "status": STATUSES.index(call.expect.grpc_status),
    }
    return spec, call.stream or (EventStream(format="messages") if gives_stream else None)


def _compiled(files: tuple[str, ...], imports: tuple[str, ...]) -> bytes:
    """Imports are also searched for in the folders of the files themselves."""
    folders = dict.fromkeys([*imports, *(file.rpartition("/")[0] or "." for file in files)])
    try:
        return compile_protos(list(files), list(folders))
    except ValueError as error:
        edition = " is of edition " in str(error)
        # The compiler names the file of a mistake, except of one in the syntax.
        where = "" if edition or ".proto:" in str(error) else f"{', '.join(files)} or an import: "
        hint = "" if edition else "imports count from import-path and from the file's folder"
        raise PlanError(f"proto: {where}{error}", hint) from None


def _reflected(
    target: Mapping[str, Any],
    service: str,
    types: tuple[str, ...],
    metadata: tuple[tuple[str, str], ...],
) -> bytes:
    """The server's own schema."""
    try:
        schema, known = grpc_reflected(json.dumps(target), service, list(types), list(metadata), PATIENCE_S)
    except PermissionError as error:
        raise PlanError(
            f"grpc: the server refuses to describe its services (reflection): {error}",
            f"metadata (-H) goes with this question too, but for values with {{names}}; else {NAME_A_FILE}",
        ) from None
    except ValueError as error:
        raise PlanError(f"grpc: the server's description cannot be read: {error}", NAME_A_FILE) from None
    except ConnectionError as error:
        running = "" if str(error).startswith(STATUSES) else "is it running, and the address right? else "
        raise PlanError(
            f"grpc: the server does not describe its services (reflection): {error}", running + NAME_A_FILE
        ) from None
    if schema is None:
        raise PlanError(f"grpc: there is no service {service!r}", nearest(service, known))
    return schema


def _any_types(message: Any) -> Iterator[str]:
    """The types of all `google.protobuf.Any` within a message."""
    if isinstance(message, dict):
        url = message.get("@type")
        if isinstance(url, str) and not GAP.search(url):
            yield url.rpartition("/")[2]
    inside = message.values() if isinstance(message, dict) else message if isinstance(message, list) else ()
    for value in inside:
        yield from _any_types(value)


def _check_method(call: Call, schema: bytes) -> bool:
    """Check that the method exists and fits the call. Returns whether it answers with a stream."""
    methods = {name: (takes, gives) for name, takes, gives in grpc_methods(schema)}
    if call.grpc not in methods:
        raise PlanError(f"grpc: there is no method {call.grpc!r}", nearest(call.grpc or "", methods))
    takes, gives = methods[call.grpc]
    if isinstance(call.message, list) and not takes:
        raise PlanError(f"message: {call.grpc} takes one message and no list", "write one table")
    if call.stream is not None and not gives:
        raise PlanError(f"stream: {call.grpc} answers with one message", "leave out stream")
    return gives


def _check_message(call: Call, schema: bytes) -> None:
    """Check the message against the schema. Names in braces, filled in later, get an example value here.

    In journeys they can have any value, so that only an unknown field is a mistake there.
    """
    params = call.params if isinstance(call, Request) else {}
    refusal = grpc_refusal(schema, call.grpc or "", _with_examples(json.dumps(call.message), params))
    if refusal is None:
        return
    place, problem, unknown = refusal
    if unknown is not None:
        name, known = unknown
        raise PlanError(f"{place}: there is no field {name!r}", nearest(name, known))
    if isinstance(call, Request) or not GAP.search(json.dumps(call.message)):
        source = "the .proto file has" if call.proto else "the server describes (reflection)"
        raise PlanError(f"{place}: {problem}", f"as {source} it for {call.grpc}")


def _with_examples(text: str, params: Mapping[str, Params]) -> str:
    def example(found: Any) -> str:
        name = found[1]
        if name not in params:
            return "1" if not params else str(found[0])
        param = params[name]
        value = str(param.low) if param.kind == "range" else [*param.values, *_first(param)][0]
        return json.dumps(value)[1:-1]

    return GAP.sub(example, text)


def _first(param: Params) -> list[str]:
    return param.column()[:1] if param.kind == "csv" else []

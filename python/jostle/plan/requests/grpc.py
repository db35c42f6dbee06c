"""Requests that are gRPC calls: the method, what is sent with it, and the status of a right response."""

import json
import os
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo, WithJsonSchema

from jostle.errors import BadValue, nearest
from jostle.plan.values import File, check_json, shown
from jostle.text import read_text, reason

__all__ = [
    "STATUSES",
    "GrpcMethod",
    "GrpcStatus",
    "ImportPaths",
    "Message",
    "ProtoFiles",
    "check_metadata",
    "read_message",
]

STATUSES = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"),
    *("PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE"),
    *("UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"),
)
"""The names of `grpc-status`; the index is the number. Source: google.rpc.Code."""

OWN = ("content-type", "te", "host", "user-agent", "connection")
"""Names that may not be used for metadata, besides those that begin with "grpc-"."""


def _method(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name = value.removeprefix("/")
    if not re.fullmatch(r"[A-Za-z_][\w.]*/[A-Za-z_]\w*", name):
        raise BadValue(
            f"{shown(value)} is not the name of a method",
            'write "package.Service/Method", as in the .proto file',
        )
    return name


def _status(value: Any) -> Any:
    if value not in STATUSES:
        raise BadValue(f"{shown(value)} is no grpc-status", nearest(str(value).upper(), STATUSES))
    return value


def _message(value: Any) -> Any:
    messages = value if isinstance(value, list) else [value]
    if not all(isinstance(message, dict) for message in messages):
        raise BadValue(
            f"{shown(value)} is not a message",
            'write a table, { name = "x" }, or a list of tables where the method takes a stream',
        )
    return check_json("message", value, "leave the field out, which means the same")


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _folder(value: Any, info: ValidationInfo) -> Path:
    if not isinstance(value, str) or not value:
        raise BadValue(f"{shown(value)} is not a folder's name")
    base = (info.context or {}).get("base")
    path = Path(value) if base is None else Path(base, value).absolute()
    if base is not None and not os.path.isdir(path):  # noqa: PTH112 (a text too long for a path is none)
        raise BadValue(
            f"there is no folder {path}", "relative names count from the plan's folder (hit: this one)"
        )
    return path


def check_metadata(metadata: dict[str, Any]) -> None:
    """Raise `BadValue` for a name that belongs to the call itself."""
    for name in metadata:
        if name.lower() in OWN or name.lower().startswith("grpc-"):
            hint = 'write deadline = "200ms"' if name.lower() == "grpc-timeout" else "leave it out"
            raise BadValue(f"{name} is no metadata: it belongs to the call itself", hint)


def read_message(text: str) -> Any:
    """Read the message or messages of `jostle hit --message`: JSON, or "@" and a file. Raises `BadValue`."""
    if text.startswith("@"):
        try:
            text = read_text(Path(text[1:]))
        except (OSError, UnicodeDecodeError) as error:
            raise BadValue(f"{text[1:]} cannot be read: {reason(error)}") from None
    try:
        return json.loads(text)
    except RecursionError:
        raise BadValue("the message is nested too deeply") from None
    except ValueError as error:
        raise BadValue(
            f"{shown(text)} is not JSON: {error}", """write for example '{"name": "x"}'"""
        ) from None


Folder = Annotated[
    Path,
    BeforeValidator(_folder),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string"}),
]
GrpcMethod = Annotated[str, BeforeValidator(_method)]
GrpcStatus = Annotated[str, BeforeValidator(_status), WithJsonSchema({"enum": list(STATUSES)})]
Message = Annotated[Any, BeforeValidator(_message)]
ProtoFiles = Annotated[list[File], BeforeValidator(_listed)]
ImportPaths = Annotated[list[Folder], BeforeValidator(_listed)]

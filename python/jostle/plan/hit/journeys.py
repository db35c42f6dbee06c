"""The journeys that `jostle hit` sends in place of a request."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jostle.errors import PlanError
from jostle.plan.hit.request import REQUEST_OPTIONS
from jostle.plan.journeys.builder import JourneyBuilder
from jostle.plan.loading import parse_toml
from jostle.text import read_text, reason
from jostle.url import Url

__all__ = ["journeys_of"]


def journeys_of(url: Url, given: dict[str, Any], name_of: Callable[[str], str]) -> dict[str, Any]:
    """The journey tables of the option `journey`; empty if it is not given. Raises `PlanError`."""
    if journeys := _tables(given, name_of):
        _check_server_only(url, name_of)
    return journeys


def _tables(given: dict[str, Any], name_of: Callable[[str], str]) -> dict[str, Any]:
    if (file := given.pop("journey", None)) is None:
        return {}
    named = f"the journey {file.name!r}" if isinstance(file, JourneyBuilder) else file
    for option in REQUEST_OPTIONS:
        if given.get(option):
            raise PlanError(
                f"{name_of('journey')} and {name_of(option)} both say what is sent",
                f"write it into the steps of {named}",
            )
    if isinstance(file, JourneyBuilder):
        return {file.name: file.table()}
    if (kind := _OTHER_JOURNEYS.get(Path(file).suffix)) is not None:
        return {Path(file).stem: {kind: str(file)}}
    try:
        text = read_text(Path(file))
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(
            f"{name_of('journey')}: {file} cannot be read: {reason(error)}", _JOURNEY_EXAMPLE
        ) from None
    tables = parse_toml(text, file).get("journey")
    if not isinstance(tables, dict) or not tables:
        raise PlanError(f"{name_of('journey')}: {file} has no journey", _JOURNEY_EXAMPLE)
    return {name: _anchored(table, Path(file).absolute().parent) for name, table in tables.items()}


_OTHER_JOURNEYS = {".hurl": "hurl", ".luau": "script"}
"""The key of a journey for each kind of file that is not TOML, by suffix."""

_JOURNEY_EXAMPLE = 'write a table [journey.NAME] with steps = [{ get = "/" }]'


def _anchored(value: Any, folder: Path) -> Any:
    """Resolve the files that a journey names against the folder of the file that contains the journey.

    What is sent may have keys of the same names; it stays as it is.
    """
    if isinstance(value, list):
        return [_anchored(item, folder) for item in value]
    if isinstance(value, dict):
        files = ("csv", "jsonl", "body-file", "hurl", "script", "proto", "import-path")
        data = ("json", "form", "headers", "metadata", "message", "send", "capture")
        return {
            key: item if key in data else _placed(item, folder) if key in files else _anchored(item, folder)
            for key, item in value.items()
        }
    return value


def _placed(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_placed(item, folder) for item in value]
    return str(folder / value) if isinstance(value, str) else value


def _check_server_only(url: Url, name_of: Callable[[str], str]) -> None:
    """Refuse a URL that says more than which server the steps of journeys are sent to. Raises `PlanError`."""
    name = name_of("journey")
    if url.scheme in ("tcp", "udp"):
        raise PlanError(f"{name}: a step cannot send raw bytes yet", "write http://")
    if url.scheme in ("grpc", "grpcs"):
        raise PlanError(
            f"{name}: steps say what is called, and so does {url.scheme}://",
            "write http:// or https://; a step may have grpc = …",
        )
    if url.scheme in ("ws", "wss"):
        raise PlanError(
            f"{name}: steps say what is sent over a WebSocket, and so does {url.scheme}://",
            f"write {'https' if url.tls else 'http'}://",
        )
    if url.path not in ("", "/"):
        raise PlanError(
            f"{name}: steps say which path and query they ask for, and so does {url}",
            f"write {url.scheme}://{url.address}, and the whole path into each step",
        )

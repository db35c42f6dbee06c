"""The published JSON schema of results, made from the dataclasses of the analysis."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jostle.analysis.results import FORMAT, CapacityResult, CompareResult, RunResult, Sizing, WhatIf
from jostle.record.schema import without_titles

__all__ = ["close", "files", "result_schema"]

KINDS: dict[str, type] = {
    "jostle result": RunResult,
    "jostle comparison": CompareResult,
    "jostle capacity": CapacityResult,
    "jostle what-if": WhatIf,
    "jostle sizing": Sizing,
}


def result_schema() -> dict[str, Any]:
    """JSON schema (2020-12) of what `--json` and `--format json` give."""
    from pydantic import TypeAdapter

    definitions: dict[str, Any] = {}
    for kind, made in KINDS.items():
        whole = TypeAdapter(made).json_schema(mode="serialization")
        definitions |= whole.pop("$defs")
        whole["properties"] |= {"kind": {"const": kind}, "format": {"const": FORMAT}}
        definitions[made.__name__] = whole
    close(definitions.values())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A result of jostle",
        "description": (
            "Units are in the names: _s seconds, _per_s per second, _bytes bytes; shares are 0 to 1. "
            "Within one format fields are only added."
        ),
        "anyOf": [{"$ref": f"#/$defs/{made.__name__}"} for made in KINDS.values()],
        "$defs": without_titles(dict(sorted(definitions.items()))),
    }


def close(definitions: Iterable[dict[str, Any]]) -> None:
    """What is written has all of its keys and no others."""
    for about in definitions:
        if "properties" in about:  # no enumeration
            about["additionalProperties"] = False
            about["required"] = sorted(about["properties"])


def files(docs: Path) -> dict[Path, str]:
    """What the file in `docs` should hold."""
    return {docs / "result.schema.json": json.dumps(result_schema(), indent=2, ensure_ascii=False) + "\n"}

"""The published JSON schema of results, generated from the dataclasses of the analysis."""

import json
from pathlib import Path
from typing import Any

from docs.schemas import close, definitions_of, without_titles
from jostle.analysis.results import FORMAT, CapacityResult, CompareResult, RunResult, Sizing, WhatIf

__all__ = ["files", "result_schema"]

KINDS: dict[str, type] = {
    "jostle result": RunResult,
    "jostle comparison": CompareResult,
    "jostle capacity": CapacityResult,
    "jostle what-if": WhatIf,
    "jostle sizing": Sizing,
}


def result_schema() -> dict[str, Any]:
    """JSON schema (2020-12) of the output of `--json` and `--format json`."""
    definitions = definitions_of(KINDS.values(), mode="serialization")
    for kind, made in KINDS.items():
        definitions[made.__name__]["properties"] |= {"kind": {"const": kind}, "format": {"const": FORMAT}}
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


def files(docs: Path) -> dict[Path, str]:
    """The schema file in `docs`, with the content that it should have."""
    return {docs / "result.schema.json": json.dumps(result_schema(), indent=2, ensure_ascii=False) + "\n"}

"""The published JSON schema of run folders, generated from the types of `jostle.record.layout`."""

import json
from pathlib import Path
from typing import Any

from docs.schemas import definitions_of, without_titles
from jostle.record.layout import FILES, FORMAT

__all__ = ["files", "record_schema"]


def record_schema() -> dict[str, Any]:
    """JSON schema (2020-12) with a definition for each JSON file, or for a line of it if it ends in .ndjson.

    What jostle writes has no other keys. Readers ignore keys that they do not know.
    """
    definitions = definitions_of(FILES.values())
    for about in definitions.values():
        if about.get("type") == "object":
            about["additionalProperties"] = False
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"The files of a run folder of jostle, format {FORMAT}",
        "description": "Units are in the names: _ns nanoseconds, _s seconds, _us microseconds.",
        "type": "object",
        "properties": {name: {"$ref": f"#/$defs/{made.__name__}"} for name, made in FILES.items()},
        "$defs": without_titles(dict(sorted(definitions.items()))),
    }


def files(docs: Path) -> dict[Path, str]:
    """What the file in `docs` should hold."""
    return {docs / "record.schema.json": json.dumps(record_schema(), indent=2, ensure_ascii=False) + "\n"}

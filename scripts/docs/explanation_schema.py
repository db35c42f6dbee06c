"""The published JSON schema of explanations, generated from their dataclasses."""

import json
from pathlib import Path
from typing import Any

from docs.schemas import close, definitions_of, without_titles
from jostle.explain.results import FORMAT, Explanation

__all__ = ["explanation_schema", "files"]


def explanation_schema() -> dict[str, Any]:
    """JSON schema (2020-12) of the output of `jostle explain --json`."""
    definitions = definitions_of([Explanation], mode="serialization")
    whole: dict[str, Any] = definitions.pop(Explanation.__name__)
    whole["properties"] |= {"kind": {"const": "jostle explanation"}, "format": {"const": FORMAT}}
    close((*definitions.values(), whole))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An explanation of jostle",
        "description": (
            "Units are in the names: _s seconds, _ns nanoseconds. Within one format fields are only added."
        ),
        **without_titles(whole),
        "$defs": without_titles(dict(sorted(definitions.items()))),
    }


def files(docs: Path) -> dict[Path, str]:
    """The schema file in `docs`, with the content that it should have."""
    text = json.dumps(explanation_schema(), indent=2, ensure_ascii=False) + "\n"
    return {docs / "explanation.schema.json": text}

"""The published JSON schema of explanations, made from their dataclasses.

python -m jostle.explain.schema --check      fails when docs/explanation.schema.json is out of date
python -m jostle.explain.schema --write      writes it
"""

import json
import sys
from pathlib import Path
from typing import Any

from jostle.explain.results import FORMAT, Explanation
from jostle.record.schema import without_titles

__all__ = ["explanation_schema"]


def explanation_schema() -> dict[str, Any]:
    """JSON schema (2020-12) of what `jostle explain --json` gives."""
    from pydantic import TypeAdapter

    whole = TypeAdapter(Explanation).json_schema(mode="serialization")
    definitions: dict[str, Any] = whole.pop("$defs")
    whole["properties"] |= {"kind": {"const": "jostle explanation"}, "format": {"const": FORMAT}}
    for about in (*definitions.values(), whole):
        if "properties" in about:
            about["additionalProperties"] = False
            about["required"] = sorted(about["properties"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An explanation of jostle",
        "description": (
            "Units are in the names: _s seconds, _ns nanoseconds. Within one format fields are only added."
        ),
        **without_titles(whole),
        "$defs": without_titles(dict(sorted(definitions.items()))),
    }


def main(arguments: list[str]) -> int:
    """0; 1 where `--check` finds the file out of date; 2 for other arguments."""
    if arguments not in (["--check"], ["--write"]):
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(__file__).parents[3] / "docs" / "explanation.schema.json"
    text = json.dumps(explanation_schema(), indent=2, ensure_ascii=False) + "\n"
    if arguments == ["--write"]:
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        print(f"{path} is out of date: run `python -m jostle.explain.schema --write`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The published JSON schema of run folders, generated from the types of `jostle.record.layout`.

python -m jostle.record.schema RUN…    fails if a file of these folders does not match the schema
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jostle.errors import NotARun
from jostle.record.jsonl import read_bytes, read_lines
from jostle.record.layout import FILES, FORMAT
from jostle.record.run import RunRecord

__all__ = ["files", "record_schema", "violations", "without_titles"]


def record_schema() -> dict[str, Any]:
    """JSON schema (2020-12) with a definition for each JSON file, or for a line of it if it ends in .ndjson.

    What jostle writes has no other keys. Readers ignore keys that they do not know.
    """
    from pydantic import TypeAdapter

    definitions: dict[str, Any] = {}
    for made in FILES.values():
        whole = TypeAdapter(made).json_schema()
        definitions |= whole.pop("$defs", {})
        definitions.setdefault(made.__name__, whole)
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


def without_titles(data: Any) -> Any:
    """A schema without the titles that only repeat its names."""
    if isinstance(data, list):
        return [without_titles(item) for item in data]
    if not isinstance(data, dict):
        return data
    return {
        key: without_titles(value)
        for key, value in data.items()
        if not (key == "title" and isinstance(value, str))
    }


def violations(run: Path) -> Iterator[str]:
    """Where the JSON files of a run folder do not match the schema, in a sentence each. Raises `NotARun`."""
    from jsonschema import Draft202012Validator

    RunRecord.open(run)  # refuses any other folder, which would have no files to check
    schema = record_schema()
    for name, made in FILES.items():
        validator = Draft202012Validator({"$ref": f"#/$defs/{made.__name__}", "$defs": schema["$defs"]})
        for path in [*run.glob(name), *run.glob(f"trials/**/{name}")]:
            for number, text in enumerate(_texts(path), 1):
                try:
                    data = json.loads(text)
                except ValueError as error:
                    yield f"{path}, {number}: not JSON: {error}"
                    continue
                for wrong in validator.iter_errors(data):
                    yield f"{path}, {number}: {wrong.json_path}: {wrong.message[:200]}"


def _texts(path: Path) -> Iterator[bytes]:
    """The JSON texts in a file: each complete line, or all of it."""
    if path.suffix == ".ndjson":
        yield from read_lines(path)
    elif (whole := read_bytes(path)) is not None:
        yield whole


def files(docs: Path) -> dict[Path, str]:
    """What the file in `docs` should hold."""
    return {docs / "record.schema.json": json.dumps(record_schema(), indent=2, ensure_ascii=False) + "\n"}


def main(runs: list[str]) -> int:
    """Returns 0; 1 if a file of a run does not match the schema, 2 if a folder cannot be read as a run."""
    try:
        found = [line for run in runs for line in violations(Path(run))]
    except NotARun as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

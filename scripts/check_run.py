"""Do the files of these run folders match the published schema? Fails if one does not.

python scripts/check_run.py RUN…
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from jsonschema import Draft202012Validator

from docs.record_schema import record_schema
from jostle.errors import NotARun
from jostle.record.jsonl import read_bytes, read_lines
from jostle.record.layout import FILES
from jostle.record.run import RunRecord


def violations(run: Path) -> Iterator[str]:
    """Where the JSON files of a run folder do not match the schema, in a sentence each. Raises `NotARun`."""
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

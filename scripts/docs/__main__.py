"""The files in docs/ that are made from the code: schemas, keys of plans, commands, checks, claims.

python scripts/docs --check      fails when one is out of date
python scripts/docs --write      writes them
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

DOCS = Path(__file__).resolve().parents[2] / "docs"
COLUMNS = "80"


def made() -> dict[Path, str]:
    """What each of the files should hold."""
    os.environ["COLUMNS"] = COLUMNS
    from docs import articles, explanation_schema, record_schema, reference, result_schema
    from jostle.plan import schema as plan_schema

    modules = (plan_schema, record_schema, result_schema, explanation_schema, reference, articles)
    return {path: text for module in modules for path, text in module.files(DOCS).items()}


def main(arguments: list[str]) -> int:
    """0; 1 where `--check` finds a file out of date; 2 for other arguments."""
    if arguments not in (["--check"], ["--write"]):
        print(__doc__, file=sys.stderr)
        return 2
    files = made()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        if arguments == ["--write"]:
            path.write_text(files[path], encoding="utf-8")
        else:
            print(f"{path} is out of date: run `python scripts/docs --write`", file=sys.stderr)
    return 1 if stale and arguments == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The files in docs/ that are made from the code: schemas, keys of plans, commands, checks, claims.

python scripts/docs.py --check      fails when one is out of date
python scripts/docs.py --write      writes them
"""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
COLUMNS = "80"


def made() -> dict[Path, str]:
    """What each of the files should hold."""
    os.environ["COLUMNS"] = COLUMNS
    from jostle.cli import reference
    from jostle.explain import schema as explanations
    from jostle.plan import schema as plans
    from jostle.record import schema as records
    from jostle.report import article_pages
    from jostle.report import schema as results

    modules = (plans, records, results, explanations, reference, article_pages)
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
            print(f"{path} is out of date: run `python scripts/docs.py --write`", file=sys.stderr)
    return 1 if stale and arguments == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Functions, methods, classes and constants that nothing uses, or only a test, found by vulture.

python scripts/unused.py      fails if there is one beside those of `ALLOWED`, or if one of these is used
"""

import re
import sys
from pathlib import Path

from vulture import Vulture

ROOT = Path(__file__).resolve().parents[1]

LOOKED_AT = ("python/jostle", "scripts", "bench")
"""Tests are left out: what only a test runs is dead."""

ELSEWHERE = ("python/jostle/roster/*", "python/jostle/experiments/*")
"""Programs of their own."""

EXPORTED = re.compile(r"^__all__(?:: list\[str\])? = \[.*?\]\n", re.MULTILINE | re.DOTALL)
"""A name that a module exports is not used by that."""

REGISTERED = ("@field_validator", "@model_validator", "@model_serializer", "@validator", "@*.command")
"""Decorators by which others call a function."""

KINDS = ("function", "method", "class", "property", "unreachable_code")

ALLOWED = {
    "__getattr__": "Python, for names of the package",
    "_repr_html_": "notebooks",
    "_repr_mimebundle_": "notebooks",
    "load_experiment": "users, in Python",
    "open_run": "users, in Python",
    "patch": "users, in Python: the builder of journeys",
    "delete": "users, in Python: the builder of journeys",
    "completion": "jostle.cli.command, by the name of the command",
    "doctor": "jostle.cli.command, by the name of the command",
    "race": "jostle.cli.command, by the name of the command",
    "collect_usage_pieces": "click",
    "format_options": "click",
    "on_broken_pipe": "rich",
    "on_files": "mkdocs",
    "on_page_markdown": "mkdocs",
    "handle_starttag": "html.parser",
    "handle_endtag": "html.parser",
    "handle_data": "html.parser",
    "firsts": "the template of a page's tables",
    "spans": "the template of a page's tables",
}
"""What others call, and who they are."""


class _Used(Vulture):
    def scan(self, code: str, filename: Path | str = "") -> None:
        super().scan(EXPORTED.sub(lambda found: "\n" * found[0].count("\n"), code), filename=filename)


def unused() -> list[str]:
    """A line for each name, with its place."""
    look = _Used(ignore_decorators=list(REGISTERED))
    look.scavenge([str(ROOT / path) for path in LOOKED_AT], exclude=[str(ROOT / path) for path in ELSEWHERE])
    found = [
        item
        for item in look.get_unused_code()
        if item.typ in KINDS or (item.typ == "variable" and _of_a_module(item.filename, item.first_lineno))
    ]
    new = [f"{i.filename}:{i.first_lineno}: unused {i.typ} {i.name}" for i in found if i.name not in ALLOWED]
    stale = ALLOWED.keys() - {item.name for item in found}
    return new + [f"{__file__}: {name} is used: take it out of ALLOWED" for name in sorted(stale)]


def _of_a_module(path: Path, line: int) -> bool:
    """Whether a variable is a constant of its module; fields are data, which is written and shown."""
    return not Path(path).read_text(encoding="utf-8").splitlines()[line - 1].startswith(" ")


if __name__ == "__main__":
    lines = unused()
    print("\n".join(lines), end="\n" if lines else "")
    sys.exit(bool(lines))

"""What the site shows beside `docs`: every page of the repository that a page links, however far away.

A page of the site is named by its path in the repository; those outside of `docs` stand in `repository`.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

__all__ = ["ROOT", "linked", "path_of", "place", "relinked", "sample"]

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs/"
OUTSIDE = "repository/"

FENCED = re.compile(r"^( *)(```+|~~~+).*?^\1\2\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s#][^)\s#]*)(?P<anchor>#[^)\s]*)?(?=\))")
ELSEWHERE = re.compile(r"[a-z]+:", re.IGNORECASE)


def place(path: str) -> str:
    """Where a file of the repository is in the site: "docs/CI.md" → "CI.md"."""
    return path.removeprefix(DOCS) if path.startswith(DOCS) else OUTSIDE + path


def path_of(place: str) -> str:
    """The path in the repository of what is there in the site."""
    return place.removeprefix(OUTSIDE) if place.startswith(OUTSIDE) else DOCS + place


def linked(first: list[str]) -> dict[str, list[str]]:
    """Which pages link which files, for these pages and all that they lead to; links are to what exists."""
    found: dict[str, list[str]] = {}
    left = list(first)
    while left:
        page = left.pop()
        if page in found:
            continue
        text = FENCED.sub("", (ROOT / page).read_text(encoding="utf-8"))
        found[page] = [path for target in _targets(text) if (path := _path(page, target))]
        left += [path for path in found[page] if path.endswith(".md")]
    return found


def relinked(page: str, text: str) -> str:
    """The text of a page with links as the site needs them."""

    def link(target: re.Match[str]) -> str:
        path = _path(page, target["target"])
        if path is None:
            return target[0]
        here = PurePosixPath(place(page)).parent
        return os.path.relpath(place(path), here) + (target["anchor"] or "")

    return _outside_of_code(text, lambda part: LINK.sub(link, part))


def sample() -> str:
    """What a run prints: the first code of README.md."""
    code = FENCED.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert code is not None
    return "\n".join(code[0].splitlines()[1:-1])


def _targets(text: str) -> list[str]:
    return [found["target"] for found in LINK.finditer(text)]


def _path(page: str, target: str) -> str | None:
    """The path in the repository; None for what is elsewhere or does not exist: mkdocs tells the latter."""
    if ELSEWHERE.match(target):
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(page), target))  # noqa: PTH118, PTH120
    if (ROOT / path).is_dir():
        path = f"{path}/README.md"
    return path if (ROOT / path).is_file() else None


def _outside_of_code(text: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for code in FENCED.finditer(text):
        parts += [change(text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, change(text[end:])])

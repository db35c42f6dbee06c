"""The gallery: every picture of docs/results with what it shows, and where it stands."""

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["gallery"]

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results" / "results.md"
HEADING = re.compile(r"^(#+) (.*)$")
PICTURE = re.compile(r"^!\[(?P<shows>.*)\]\((?P<file>\S+)\)$")
SOURCE, EXPERIMENT = 2, 3
"""The levels of the headings that name an article, and an experiment of it."""

INTRODUCTION = """# Gallery

Pictures of one run of all published experiments on two cores, as every report draws them. A picture leads to
its place in [the report](results/results.md), which has its tables and intervals.
"""


def gallery(anchor: Callable[[str], str]) -> str:
    """The page. `anchor`: of a heading."""
    parts = [INTRODUCTION]
    headings: dict[int, str] = {}
    shown: tuple[str, str] = ("", "")
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        if heading := HEADING.match(line):
            level = len(heading[1])
            headings = {other: headings[other] for other in headings if other < level} | {level: heading[2]}
        elif picture := PICTURE.match(line):
            about = headings.get(SOURCE, ""), headings.get(EXPERIMENT, "")
            if about != shown:
                parts += [_close(shown), *_headings(about, shown), '<div class="gallery">']
                shown = about
            parts.append(_card(picture["file"], picture["shows"], anchor(headings[EXPERIMENT])))
    return "\n".join([*parts, _close(shown), ""])


def _headings(about: tuple[str, str], before: tuple[str, str]) -> Iterator[str]:
    if about[0] != before[0]:
        yield f"\n## {about[0]}\n"
    yield f"\n### {about[1]}\n"


def _close(shown: tuple[str, str]) -> str:
    return "</div>\n" if any(shown) else ""


def _card(file: str, shows: str, anchor: str) -> str:
    text = html.escape(re.sub(r"\\(.)", r"\1", shows))
    picture = f'<img src="results/{file}" alt="" loading="lazy">'
    return f'<a class="card" href="results/results.html#{anchor}">{picture}<span>{text}</span></a>'

"""Documents lead where they say: to files that exist, and to headings that they have."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "bench" / "README.md"])
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchor(heading: str) -> str:
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def broken(path: Path, text: str) -> list[str]:
    """The links of a document that lead nowhere."""
    found = []
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue  # the network is not asked
        target, _, place = link.partition("#")
        file = path.parent / target if target else path
        if not file.exists():
            found.append(link)
        elif place:
            headings = HEADING.findall(file.read_text(encoding="utf-8") if target else text)
            found += [link] if place not in map(anchor, headings) else []
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    assert broken(path, path.read_text(encoding="utf-8")) == []


def test_a_link_that_leads_nowhere_would_be_noticed() -> None:
    text = "# A heading: `code`\n[1](#a-heading-code) [2](#another) [3](absent.md) [4](https://example.org/)"
    assert broken(ROOT / "README.md", text) == ["#another", "absent.md"]

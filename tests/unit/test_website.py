"""The site of the documents, as far as it is ours: pages from all of the repository, in GitHub's Markdown."""

import re
from pathlib import Path

import pytest

from website.dialect import translated
from website.gallery import gallery
from website.pages import linked, path_of, place, relinked, sample

ROOT = Path(__file__).parents[2]
PAGES = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/**/*.md"))]
GALLERY = "gallery.md"


def test_the_menu_names_every_page_of_docs_once_and_nothing_else() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r": (\S+\.md)$", text.partition("\nnav:\n")[2], re.MULTILINE)
    assert len(named) == len(set(named))
    inside = {path_of(name) for name in named} - {path_of(GALLERY)}
    assert inside >= set(PAGES)
    assert [path for path in sorted(inside) if not (ROOT / path).is_file()] == []


def test_pages_bring_along_what_they_link_wherever_that_is() -> None:
    found = linked(PAGES)
    assert {"CONTRIBUTING.md", "python/jostle/experiments/starvation/README.md"} <= found.keys()
    assert "docs/plan.schema.json" in found["docs/PLAN.md"]


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("docs/README.md", "../CONTRIBUTING.md", "repository/CONTRIBUTING.md"),
        ("docs/how-to/capacity.md", "../CI.md#a-b", "../CI.md#a-b"),
        ("docs/explanation/statistics.md", "../../bench/README.md", "../repository/bench/README.md"),
        ("CONTRIBUTING.md", "docs/GLOSSARY.md", "../GLOSSARY.md"),
        ("docs/README.md", "https://example.org/a.md", "https://example.org/a.md"),
        ("docs/README.md", "#here", "#here"),
        ("docs/README.md", "gone.md", "gone.md"),
    ],
)
def test_links_lead_to_the_page_in_the_site(page: str, link: str, expected: str) -> None:
    assert relinked(page, f"see [it]({link}), and") == f"see [it]({expected}), and"
    code = f"```\n[it]({link})\n```"
    assert relinked(page, code) == code


def test_a_place_and_a_path_are_the_same_file() -> None:
    for path in ("docs/CI.md", "CONTRIBUTING.md", "bench/results/table.md"):
        assert path_of(place(path)) == path


@pytest.mark.parametrize(
    ("github", "python"),
    [
        ("text\n- one\n- two", "text\n\n- one\n- two"),
        ("- one\n  goes on\n- two", "- one\n    goes on\n- two"),
        ("- one\n  - inner\n- two", "- one\n    - inner\n- two"),
        (
            "1. one\n\n   ```sh\n   a\n     b\n   ```\n2. two",
            "1. one\n\n    ```sh\n    a\n      b\n    ```\n2. two",
        ),
        ("- one\n\nafter\n\n    code", "- one\n\nafter\n\n    code"),
        ("```\n- no list\n  x\n```", "```\n- no list\n  x\n```"),
        ("a - b\nc", "a - b\nc"),
    ],
)
def test_lists_are_written_as_python_markdown_reads_them(github: str, python: str) -> None:
    assert translated(github) == python


def test_the_gallery_shows_every_picture_of_the_results_with_what_it_shows() -> None:
    page = gallery(lambda heading: heading.partition(" ")[0].lower())
    shown = set(re.findall(r'<img src="results/(pictures/[^"]+)"', page))
    assert shown == {f"pictures/{path.name}" for path in (ROOT / "docs/results/pictures").iterdir()}
    assert len(re.findall(r"<span>[^<]{9,}</span></a>", page)) == len(shown)
    assert page.count('<div class="gallery">') == page.count("</div>")


def test_the_first_page_shows_what_a_run_prints() -> None:
    assert sample().startswith("$ jostle hit ")

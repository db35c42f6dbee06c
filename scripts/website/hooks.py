"""What mkdocs asks while it builds the site of docs/: mkdocs.yml names this file."""

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from website import dialect, gallery, pages

anchor = slugify(case="lower")
"""As GitHub makes it of a heading."""

GALLERY = "gallery.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Pages and files outside of docs that a page links, and the gallery."""
    first = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    for path in sorted({path for links in pages.linked(first).values() for path in links} | set(first)):
        if files.get_file_from_path(pages.place(path)) is None:
            made = File.generated(config, pages.place(path), abs_src_path=str(pages.ROOT / path))
            files.append(made)
    files.append(File.generated(config, GALLERY, content=gallery.gallery(lambda text: anchor(text, "-"))))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """The text as Python-Markdown and the site need it."""
    if page.file.src_uri == GALLERY:
        page.meta["hide"] = ["toc"]
        return markdown
    if page.file.src_uri == "README.md":
        page.meta |= {"template": "home.html", "hide": ["navigation", "toc"], "sample": pages.sample()}
    path = pages.path_of(page.file.src_uri)
    return dialect.translated(pages.relinked(path, markdown))
